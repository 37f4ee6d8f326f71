#include "codegen/testing/spec_cases.h"

#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "symbolic/parser.h"

namespace lathe {
namespace {

using Replacements = std::vector<std::pair<std::string, std::string>>;

absl::Status ParseSizes(absl::string_view text, SpecCase& test) {
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    std::vector<std::string> sides = absl::StrSplit(absl::StripAsciiWhitespace(part), '=');
    if (sides.size() != 2) return InvalidArgument("sizes: ", part);
    LATHE_ASSIGN_OR_RETURN(Expr size, symbolic::ParseExpr(sides[1], *test.context));
    test.sizes.push_back(size);
  }
  return absl::OkStatus();
}

absl::Status ParseFills(absl::string_view text, SpecCase& test) {
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    std::vector<std::string> sides = absl::StrSplit(absl::StripAsciiWhitespace(part), '=');
    size_t buffer;
    if (sides.size() != 2 || !absl::SimpleAtoi(sides[0].substr(1), &buffer)) {
      return InvalidArgument("fill: ", part);
    }
    if (test.fills.size() <= buffer) test.fills.resize(buffer + 1);
    test.fills[buffer] = sides[1];
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> ParseValues(absl::string_view text) {
  std::vector<int64_t> values;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    std::vector<std::string> ends = absl::StrSplit(part, "..");
    int64_t first, last;
    if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last)) {
      return InvalidArgument("run: ", part);
    }
    for (int64_t v = first; v <= last; ++v) values.push_back(v);
  }
  return values;
}

absl::Status ParseRuns(absl::string_view text, SpecCase& test) {
  for (absl::string_view group : absl::StrSplit(text, ';')) {
    std::vector<std::vector<int64_t>> runs = {{}};
    for (absl::string_view part : absl::StrSplit(group, ' ', absl::SkipEmpty())) {
      std::vector<std::string> sides = absl::StrSplit(part, '=');
      if (sides.size() != 2) return InvalidArgument("run: ", part);
      LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> values, ParseValues(sides[1]));
      std::vector<std::vector<int64_t>> longer;
      for (const std::vector<int64_t>& run : runs) {
        for (int64_t value : values) {
          longer.push_back(run);
          longer.back().push_back(value);
        }
      }
      runs = std::move(longer);
    }
    test.runs.insert(test.runs.end(), runs.begin(), runs.end());
  }
  return absl::OkStatus();
}

absl::Status ParseDirective(absl::string_view line, SpecCase& test) {
  if (absl::ConsumePrefix(&line, "// case: ")) {
    test.title = std::string(line);
  } else if (absl::ConsumePrefix(&line, "// sizes: ")) {
    return ParseSizes(line, test);
  } else if (absl::ConsumePrefix(&line, "// fill: ")) {
    return ParseFills(line, test);
  } else if (absl::ConsumePrefix(&line, "// run: ")) {
    return ParseRuns(line, test);
  } else if (absl::ConsumePrefix(&line, "// expect: ")) {
    test.expected = line == "index"      ? absl::StatusCode::kOutOfRange
                    : line == "division" ? absl::StatusCode::kInvalidArgument
                                         : absl::StatusCode::kFailedPrecondition;
  }
  return absl::OkStatus();
}

bool UsesVectorMath(const KernelSpec& spec) {
  for (const SpecStage& stage : spec.stages) {
    for (const LoopOp& op : stage.body.ops) {
      const bool is_exact =
          op.kind == OpKind::kSqrt || op.kind == OpKind::kRsqrt || op.kind == OpKind::kReciprocal;
      if (op.kind >= OpKind::kExp && op.kind <= OpKind::kErfc && !is_exact) return true;
      if (op.kind == OpKind::kPow && IsFloat(op.dtype)) return true;
      if (op.kind == OpKind::kAtan2 || op.kind == OpKind::kHypot) return true;
    }
  }
  return false;
}

absl::StatusOr<SpecCase> ParseCase(const std::string& text, const Replacements& replacements) {
  SpecCase test;
  test.context = std::make_shared<ExprContext>();
  const std::string replaced = absl::StrReplaceAll(text, replacements);
  for (absl::string_view line : absl::StrSplit(replaced, '\n')) {
    LATHE_RETURN_IF_ERROR(ParseDirective(line, test));
  }
  absl::StatusOr<KernelSpec> spec = ParseKernelSpec(replaced, *test.context);
  if (!spec.ok()) return Annotate(spec.status(), test.title);
  test.spec = *std::move(spec);
  test.fills.resize(test.spec.buffers.size());
  test.approximate = UsesVectorMath(test.spec);
  if (!replacements.empty()) {
    absl::StrAppend(&test.title, " [", absl::StrJoin(replacements, " ", absl::PairFormatter("=")),
                    "]");
  }
  if (test.sizes.size() != test.spec.buffers.size()) {
    return InvalidArgument(test.title, ": sizes of ", test.spec.buffers.size(), " buffers wanted");
  }
  return test;
}

std::vector<Replacements> Combinations(absl::string_view text) {
  std::vector<Replacements> all = {{}};
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, "// for: ")) continue;
    for (absl::string_view group : absl::StrSplit(line, ';')) {
      std::vector<std::string> sides = absl::StrSplit(absl::StripAsciiWhitespace(group), '=');
      std::vector<Replacements> longer;
      for (const Replacements& before : all) {
        for (absl::string_view value : absl::StrSplit(sides.at(1), ',')) {
          longer.push_back(before);
          longer.back().emplace_back(absl::StrCat("$", sides[0]), std::string(value));
        }
      }
      all = std::move(longer);
    }
  }
  return all;
}

}  // namespace

absl::StatusOr<std::vector<SpecCase>> LoadSpecCases(const std::string& path) {
  std::ifstream file(path);
  if (!file) return NotFound("no file ", path);
  std::stringstream text;
  text << file.rdbuf();
  std::vector<SpecCase> cases;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text.str(), "-----\n"))) {
    for (const Replacements& replacements : Combinations(part)) {
      LATHE_ASSIGN_OR_RETURN(SpecCase test, ParseCase(part, replacements));
      cases.push_back(std::move(test));
    }
  }
  return cases;
}

}  // namespace lathe
