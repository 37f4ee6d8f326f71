#include "ir/passes/pipeline.h"

#include <cstdlib>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "dtypes/base/trace.h"
#include "ir/passes/check_items.h"
#include "ir/passes/cse.h"
#include "ir/passes/dce.h"
#include "ir/passes/decompose.h"
#include "ir/passes/fold_constants.h"
#include "ir/passes/functionalize.h"
#include "ir/passes/infer_types.h"
#include "ir/passes/inline_wrappers.h"
#include "ir/passes/remove_noops.h"
#include "ir/passes/unpack_in_products.h"
#include "ir/text/printer.h"

namespace lathe {
namespace {

absl::flat_hash_set<std::string> SkippedPasses() {
  const char* skip = std::getenv("LATHE_SKIP");
  if (skip == nullptr) return {};
  return absl::StrSplit(skip, ',', absl::SkipEmpty());
}

int64_t PassLimit() {
  const char* text = std::getenv("LATHE_PASS_LIMIT");
  int64_t limit;
  return text != nullptr && absl::SimpleAtoi(text, &limit) ? limit : INT64_MAX;
}

absl::Status RunPass(Program& program, const OpRegistry& registry, const Pass& pass) {
  TraceSink* trace = ActiveTrace();
  if (trace != nullptr) {
    trace->Artifact(absl::StrCat("before_", pass.name), "string", PrintProgram(program));
  }
  {
    TracePhase phase(pass.name);
    absl::StatusOr<bool> changed = pass.run(program, registry);
    if (!changed.ok()) return changed.status();
  }
  if (trace != nullptr) {
    trace->Artifact(absl::StrCat("after_", pass.name), "string", PrintProgram(program));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Pass> FunctionalizingPasses() {
  return {
      InlineWrappersPass(),       // bodies join the graph that the others see
      CheckItemsPass(),           // before types are inferred anew and dead reads are erased
      DecomposeCompositesPass(),  // before functionalize, which must see the views inside
      InferTypesPass(),           // one way to write each type: all below compare them; composites,
                                  // which are slow to infer, are gone
      FunctionalizePass(),        // all below read and merge values: none may change in place
      RemoveNoopsPass(),
      DcePass(),
  };
}

std::vector<Pass> InferencePasses() {
  std::vector<Pass> passes = FunctionalizingPasses();
  const std::vector<Pass> rest = {
      DecomposePass(),
      FoldConstantsPass(),  // after decompose, which writes most of the constants
      RemoveNoopsPass(),   UnpackInProductsPass(),
      CsePass(),  // last, when equal things look equal
      DcePass(),
  };
  passes.insert(passes.end(), rest.begin(), rest.end());
  return passes;
}

std::vector<Pass> AllPasses() {
  return {InlineWrappersPass(),
          CheckItemsPass(),
          DecomposeCompositesPass(),
          InferTypesPass(),
          FunctionalizePass(),
          RemoveNoopsPass(),
          DecomposePass(),
          FoldConstantsPass(),
          CsePass(),
          UnpackInProductsPass(),
          DcePass()};
}

absl::StatusOr<Pass> FindPass(absl::string_view name) {
  std::vector<std::string> known;
  for (Pass& pass : AllPasses()) {
    if (pass.name == name) return std::move(pass);
    known.push_back(pass.name);
  }
  return NotFound("no pass is named '", name, "'; there are ", absl::StrJoin(known, ", "));
}

absl::Status RunPasses(Program& program, const OpRegistry& registry,
                       const std::vector<Pass>& passes) {
  const absl::flat_hash_set<std::string> skipped = SkippedPasses();
  const int64_t limit = PassLimit();
  int64_t count = 0;
  for (const Pass& pass : passes) {
    if (count++ >= limit) return absl::OkStatus();
    if (skipped.contains(pass.name)) continue;
    LATHE_RETURN_IF_ERROR(RunPass(program, registry, pass));
  }
  return absl::OkStatus();
}

}  // namespace lathe
