#include "ir/ops/unused_draw.h"

#include <algorithm>

#include "ir/ops/op_row.h"

namespace lathe {

bool IsUnusedDraw(const Node& node) {
  if (node.row == nullptr || node.row->effect != Effect::kRandom) return false;
  const std::vector<SchemaArgument>& arguments = node.row->parsed.arguments;
  return std::none_of(arguments.begin(), arguments.end(),
                      [](const SchemaArgument& argument) { return argument.is_written; }) &&
         std::none_of(node.results.begin(), node.results.end(),
                      [](const Value* result) { return result->is_used(); });
}

}  // namespace lathe
