#include "ir/passes/infer_types.h"

#include <vector>

#include "dtypes/base/status.h"

namespace lathe {
namespace {

std::vector<ValueType> ResultTypes(const Graph& graph) {
  std::vector<ValueType> types;
  for (const Node* node = graph.first(); node != nullptr; node = node->next) {
    for (const Value* result : node->results) types.push_back(result->type);
  }
  return types;
}

absl::StatusOr<bool> Run(Program& program, const OpRegistry&) {
  const std::vector<ValueType> before = ResultTypes(*program.main);
  LATHE_RETURN_IF_ERROR(InferTypes(*program.main, *program.shapes));
  return before != ResultTypes(*program.main);
}

}  // namespace

Pass InferTypesPass() { return {"infer_types", "infers the result types of every node anew", Run}; }

}  // namespace lathe
