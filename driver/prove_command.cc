// lathe prove: claims about sizes.

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "driver/arguments.h"
#include "driver/claims.h"
#include "driver/command.h"
#include "driver/json_object.h"
#include "dtypes/base/status.h"
#include "runtime/files/mapped_file.h"

namespace lathe::driver {
namespace {

constexpr char kUsage[] = "CLAIMS.txt|- [--why] [--json]";

std::string LineJson(const ClaimResult& result) {
  JsonObject o;
  o.Add("answer", result.answer).Add("simplified", result.simplified);
  if (!result.expected.empty()) o.Add("expected", result.expected);
  if (!result.reasons.empty()) {
    std::vector<std::string> reasons;
    for (const std::string& reason : result.reasons) reasons.push_back(JsonString(reason));
    o.AddRaw("reasons", JsonArray(reasons));
  }
  return o.Text();
}

absl::StatusOr<std::string> ReadClaims(const std::string& path) {
  if (path != "-") {
    LATHE_ASSIGN_OR_RETURN(std::shared_ptr<MappedFile> file, MappedFile::Open(path));
    return std::string(file->bytes());
  }
  std::string text;
  char buffer[1 << 16];
  while (const size_t n = fread(buffer, 1, sizeof(buffer), stdin)) text.append(buffer, n);
  if (ferror(stdin)) return InvalidArgument("standard input cannot be read");
  return text;
}

void PrintResult(const ClaimResult& result, const std::string& place) {
  printf("%s\t%s\n", result.answer.c_str(), result.simplified.c_str());
  for (const std::string& reason : result.reasons) printf("  %s\n", reason.c_str());
  if (result.mismatched()) {
    fprintf(stderr, "lathe: %s: expected %s\n", place.c_str(), result.expected.c_str());
  }
}

// A line that cannot be read, or whose assumptions contradict each other, does not keep the others
// from being answered.
absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(Arguments arguments, Arguments::Parse(words, {{"why"}, {"json"}}));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(1, 1, absl::StrCat("lathe prove ", kUsage)));
  const std::string& path = arguments.positional()[0];
  LATHE_ASSIGN_OR_RETURN(const std::string text, ReadClaims(path));
  std::vector<std::string> json;
  bool mismatched = false, bad = false;
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripTrailingAsciiWhitespace(line);  // columns count from the first character
    const absl::string_view content = absl::StripLeadingAsciiWhitespace(line);
    if (content.empty() || content[0] == '#') continue;
    const std::string place = absl::StrCat(path, ":", number);
    const absl::StatusOr<ClaimResult> result = DecideClaim(line, arguments.Has("why"));
    if (!result.ok()) {
      bad = true;
      const std::string message(result.status().message());
      fprintf(stderr, "lathe: %s: %s\n", place.c_str(), message.c_str());
      json.push_back(JsonObject().Add("line", number).Add("error", message).Text());
      continue;
    }
    mismatched |= result->mismatched();
    if (arguments.Has("json")) {
      json.push_back(LineJson(*result));
    } else {
      PrintResult(*result, place);
    }
  }
  if (arguments.Has("json")) {
    printf("%s\n", JsonObject().AddRaw("claims", JsonArray(json)).Text().c_str());
  }
  return bad ? 2 : mismatched ? 1 : 0;
}

}  // namespace

const Command kProveCommand = {
    "prove", kUsage, "Decides lines `assumptions |- claim`, optionally ` => ANSWER`.", Run};

}  // namespace lathe::driver
