#include "ir/passes/infer_types.h"

namespace lathe {
namespace {

absl::StatusOr<bool> Run(Program& program, const OpRegistry&) {
  return InferTypes(*program.main, *program.shapes);
}

}  // namespace

Pass InferTypesPass() { return {"infer_types", "infers the result types of every node anew", Run}; }

}  // namespace lathe
