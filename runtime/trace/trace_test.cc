#include "dtypes/base/trace.h"

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rapidjson/document.h"
#include "runtime/trace/json_text.h"
#include "runtime/trace/md5_hex.h"
#include "runtime/trace/trace_file.h"

namespace lathe {
namespace {

// What a reader of the format makes of a file; it refuses what tlparse --strict refuses.
struct Record {
  rapidjson::Document json;
  std::string payload;
  bool has_payload() const { return json.HasMember("has_payload"); }
};

std::vector<Record> ReadTrace(const std::string& path) {
  static const std::regex kPrefix(R"(V\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ [^:]+:\d+\] )");
  std::vector<Record> records;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, "\t")) {
      if (records.empty() || !records.back().has_payload()) {
        ADD_FAILURE() << "a payload of nothing: " << line;
        continue;
      }
      std::string& payload = records.back().payload;
      absl::StrAppend(&payload, payload.empty() ? "" : "\n", line.substr(1));
      continue;
    }
    std::smatch match;
    EXPECT_TRUE(std::regex_search(line, match, kPrefix, std::regex_constants::match_continuous))
        << line;
    Record record;
    record.json.Parse(line.substr(static_cast<size_t>(match.length())).c_str());
    EXPECT_FALSE(record.json.HasParseError()) << line;
    records.push_back(std::move(record));
  }
  for (const Record& record : records) {
    if (!record.has_payload()) continue;
    EXPECT_EQ(record.json["has_payload"].GetString(), Md5Hex(record.payload));
  }
  return records;
}

std::string Directory(const char* name) {
  return absl::StrCat(std::getenv("TEST_TMPDIR"), "/", name, "/deeper");
}

TEST(Md5, KnownAnswers) {
  EXPECT_EQ(Md5Hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Md5Hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(JsonText, EscapesAndRepairs) {
  EXPECT_EQ(JsonText("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
  EXPECT_EQ(JsonText("\xc3\xa9 \xe2\x82\xac"), "\"\xc3\xa9 \xe2\x82\xac\"");
  EXPECT_EQ(JsonText("\xff\xc3"), "\"\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonText("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate
}

TEST(TraceFile, WritesWhatReadersRead) {
  auto opened = TraceFile::Open(Directory("plain"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  TraceFile& file = **opened;
  EXPECT_NE(file.path().find("/dedicated_log_torch_trace_"), std::string::npos);
  EXPECT_TRUE(absl::EndsWith(file.path(), ".log"));
  {
    const auto sink = file.StartCompile("dir/model.pt2", "ma\"in");
    const ScopedTrace scope(sink.get());
    ActiveTrace()->Record("inductor_post_grad_graph", "{}", "graph {\n\n  line\n}\n");
    ActiveTrace()->Artifact("before_cse", "string", "text");
    ActiveTrace()->Record("compilation_metrics", "{\n\"co_name\": \"main\"\n}", "");
    ActiveTrace()->Span("phase", 1000, 2500);
  }
  const auto again = file.StartCompile("dir/model.pt2", "ma\"in");
  const auto other = file.StartCompile("dir/model.pt2", "other");
  const std::vector<Record> records = ReadTrace(file.path());
  ASSERT_EQ(records.size(), 9u);
  const auto id = [&](size_t k) {
    return absl::StrCat(records[k].json["frame_id"].GetInt(), "/",
                        records[k].json["frame_compile_id"].GetInt(), "_",
                        records[k].json["attempt"].GetInt());
  };
  EXPECT_STREQ(records[0].json["str"][0].GetString(), "dir/model.pt2");
  EXPECT_EQ(records[0].json["str"][1].GetInt(), 0);
  EXPECT_EQ(records[0].json.MemberCount(), 1u);
  const auto& frame = records[1].json["dynamo_start"]["stack"][0];
  EXPECT_STREQ(frame["name"].GetString(), "ma\"in");
  EXPECT_EQ(frame["filename"].GetInt(), 0);
  EXPECT_EQ(frame["line"].GetInt(), 1);
  EXPECT_EQ(id(1), "0/0_0");
  EXPECT_EQ(records[2].payload, "graph {\n\n  line\n}\n");
  EXPECT_EQ(id(2), "0/0_0");
  EXPECT_STREQ(records[3].json["artifact"]["name"].GetString(), "before_cse");
  EXPECT_STREQ(records[4].json["compilation_metrics"]["co_name"].GetString(), "main");
  EXPECT_FALSE(records[4].has_payload());
  rapidjson::Document event;
  event.Parse(records[6].payload.c_str());
  EXPECT_STREQ(event["ph"].GetString(), "E");
  EXPECT_EQ(event["ts"].GetInt(), 2500);
  EXPECT_EQ(id(7), "0/1_0");
  EXPECT_EQ(id(8), "1/0_0");
}

TEST(TraceFile, RanksAndThreads) {
  auto opened = TraceFile::Open(Directory("ranks"), 3);
  ASSERT_TRUE(opened.ok());
  EXPECT_NE((*opened)->path().find("torch_trace_rank_3_"), std::string::npos);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto sink = (*opened)->StartCompile(absl::StrCat("model", t), "main");
      for (int k = 0; k < 50; ++k) sink->Artifact("a", "string", std::string(1000, 'x') + "\ny");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<Record> records = ReadTrace((*opened)->path());
  EXPECT_EQ(records.size(), 4u * (2 + 50));
  EXPECT_EQ(records.back().json["rank"].GetInt(), 3);
}

TEST(TraceFile, SaysWhereItCannotWrite) {
  const std::string place = absl::StrCat(std::getenv("TEST_TMPDIR"), "/file");
  std::ofstream(place) << "in the way";
  EXPECT_EQ(TraceFile::Open(place).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace lathe
