#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/base/trace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

TEST(Check, PassesWithoutEvaluatingItsMessage) {
  int messages = 0;
  const auto message = [&] { return ++messages; };
  LATHE_CHECK(1 + 1 == 2) << message();
  EXPECT_EQ(messages, 0);
  // A statement of its own: an else belongs to the outer if.
  bool reached_else = false;
  if (messages != 0)
    LATHE_CHECK(false) << "not reached";
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

TEST(CheckDeathTest, AbortsWithPlaceConditionAndMessage) {
  EXPECT_DEATH(LATHE_CHECK(2 < 1) << "two is " << 2,
               "base_test.cc:[0-9]+: check failed: 2 < 1 two is 2");
  EXPECT_DEATH(LATHE_UNREACHABLE(), "base_test.cc:[0-9]+: check failed: unreachable");
}

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument("odd: ", value);
  return value / 2;
}
absl::Status NeedsHalf(int value) { return Half(value).status(); }
absl::StatusOr<int> Quarter(int value) {
  LATHE_RETURN_IF_ERROR(NeedsHalf(value));
  LATHE_ASSIGN_OR_RETURN(const int half, Half(value));
  LATHE_ASSIGN_OR_RETURN(int quarter, Half(half));
  return quarter;
}

TEST(Status, MacrosPassValuesAndErrorsOn) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(5).status().message(), "odd: 5");
  EXPECT_EQ(Quarter(6).status().message(), "odd: 3");
}

TEST(Status, TheInnermostPlaceStays) {
  absl::Status status = AtNode(OutOfRange("index 7"), "%gather", "model.py:41");
  EXPECT_EQ(NodeOf(status), "%gather");
  EXPECT_EQ(SourceOf(status), "model.py:41");
  status = AtNode(Annotate(status, "while folding"), "%outer", "other.py:1");
  EXPECT_EQ(NodeOf(status), "%gather");
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Describe(status), "while folding: index 7 (at %gather, model.py:41)");
}

TEST(Status, PlacesAreOptional) {
  EXPECT_EQ(Describe(NotFound("no file")), "no file");
  EXPECT_EQ(Describe(AtNode(NotFound("no file"), "%n", "")), "no file (at %n)");
  EXPECT_EQ(NodeOf(NotFound("x")), "");
  EXPECT_TRUE(AtNode(absl::OkStatus(), "%n", "a.py:1").ok());
  EXPECT_TRUE(Annotate(absl::OkStatus(), "prefix").ok());
}

TEST(Status, ExitCodes) {
  EXPECT_EQ(ExitCode(absl::OkStatus()), 0);
  for (const absl::Status& status : {InvalidArgument(""), OutOfRange(""), FailedPrecondition(""),
                                     NotFound(""), DataLoss(""), ResourceExhausted("")}) {
    EXPECT_EQ(ExitCode(status), 2) << status;
  }
  EXPECT_EQ(ExitCode(Unimplemented("aten.fft")), 3);
  EXPECT_EQ(ExitCode(Internal("")), 4);
  EXPECT_EQ(ExitCode(absl::UnknownError("")), 4);
}

class RecordingSink : public TraceSink {
 public:
  void Record(absl::string_view event, absl::string_view metadata_json,
              absl::string_view payload) override {
    lines.push_back(absl::StrCat(event, " ", metadata_json, " ", payload));
  }
  void Span(absl::string_view name, int64_t begin_us, int64_t end_us) override {
    EXPECT_GT(begin_us, 1'600'000'000'000'000);  // microseconds since the epoch
    EXPECT_LE(begin_us, end_us);
    lines.push_back(absl::StrCat("span ", name));
  }
  std::vector<std::string> lines;
};

TEST(Trace, WritesToTheInstalledSinkOnly) {
  EXPECT_EQ(ActiveTrace(), nullptr);
  { TracePhase phase("unseen"); }
  RecordingSink outer, inner;
  {
    ScopedTrace install(&outer);
    TracePhase phase("compile");
    {
      ScopedTrace nested(&inner);
      ActiveTrace()->Artifact("after_cse", "string", "graph");
    }
    EXPECT_EQ(ActiveTrace(), &outer);
  }
  EXPECT_EQ(ActiveTrace(), nullptr);
  EXPECT_THAT(outer.lines, ElementsAre("span compile"));
  EXPECT_THAT(inner.lines, ElementsAre("artifact {\"name\": \"after_cse\", \"encoding\": "
                                       "\"string\"} graph"));
}

TEST(Trace, BelongsToItsThread) {
  RecordingSink sink;
  ScopedTrace install(&sink);
  const TraceSink* seen = &sink;
  std::thread([&] { seen = ActiveTrace(); }).join();
  EXPECT_EQ(seen, nullptr);
}

}  // namespace
}  // namespace lathe
