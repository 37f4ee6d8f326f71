// lathe info: what this binary and this machine have.

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "driver/arguments.h"
#include "driver/command.h"
#include "driver/json_object.h"
#include "dtypes/base/status.h"
#include "ir/loops/target.h"
#include "ir/ops/registry.h"

namespace lathe::driver {
namespace {

constexpr char kUsage[] = "[--json]";

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(Arguments arguments, Arguments::Parse(words, {{"json"}}));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(0, 0, absl::StrCat("lathe info ", kUsage)));
  Target target = HostTarget();
  int64_t operators = static_cast<int64_t>(OpRegistry::Builtin().rows().size());
  if (arguments.Has("json")) {
    std::vector<std::string> features;
    for (const std::string& feature : target.features) features.push_back(JsonString(feature));
    JsonObject o;
    o.Add("device", ToString(target.device))
        .Add("threads", int64_t{target.threads})
        .Add("vector_bytes", int64_t{target.vector_bytes})
        .Add("l1_bytes", target.l1_bytes)
        .Add("l2_bytes", target.l2_bytes)
        .Add("l3_bytes", target.l3_bytes)
        .AddRaw("features", JsonArray(features))
        .Add("operators", operators);
    printf("%s\n", o.Text().c_str());
    return 0;
  }
  printf("target: %s\noperators: %ld\n", ToString(target).c_str(), static_cast<long>(operators));
  return 0;
}

}  // namespace

const Command kInfoCommand = {"info", kUsage, "Prints what this binary and machine have.", Run};

}  // namespace lathe::driver
