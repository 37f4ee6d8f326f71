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

constexpr char kUsage[] = "CLAIMS.txt [--why] [--json]";

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

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(Arguments arguments, Arguments::Parse(words, {{"why"}, {"json"}}));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(1, 1, absl::StrCat("lathe prove ", kUsage)));
  const std::string& path = arguments.positional()[0];
  LATHE_ASSIGN_OR_RETURN(std::shared_ptr<MappedFile> file, MappedFile::Open(path));
  std::vector<std::string> json;
  bool mismatched = false;
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(file->bytes(), '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    absl::StatusOr<ClaimResult> result = DecideClaim(line, arguments.Has("why"));
    if (!result.ok()) return Annotate(result.status(), absl::StrCat(path, ":", number));
    mismatched |= result->mismatched();
    if (arguments.Has("json")) {
      json.push_back(LineJson(*result));
      continue;
    }
    printf("%s\t%s\n", result->answer.c_str(), result->simplified.c_str());
    for (const std::string& reason : result->reasons) printf("  %s\n", reason.c_str());
    if (result->mismatched()) {
      fprintf(stderr, "lathe: %s:%ld: expected %s\n", path.c_str(), static_cast<long>(number),
              result->expected.c_str());
    }
  }
  if (arguments.Has("json")) {
    printf("%s\n", JsonObject().AddRaw("claims", JsonArray(json)).Text().c_str());
  }
  return mismatched ? 1 : 0;
}

}  // namespace

const Command kProveCommand = {
    "prove", kUsage, "Decides lines `assumptions |- claim`, optionally ` => ANSWER`.", Run};

}  // namespace lathe::driver
