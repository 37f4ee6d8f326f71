#ifndef LATHE_IR_TEXT_PARSER_H_
#define LATHE_IR_TEXT_PARSER_H_

// Reads the text form (grammar.md).
//
//   absl::StatusOr<Program> program = ParseProgram(
//       "graph @f(%x: f32[s0]) { %y = aten.relu(%x)  return %y }", OpRegistry::Builtin());

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/graph/program.h"
#include "ir/ops/registry.h"

namespace lathe {

// The first graph is the main one; weights are not loaded (Program::archive says from where). Nodes
// of known operators are resolved, types that are left out are inferred, types that are written
// must agree with the inferred ones, which are kept. An operator that `registry` lacks keeps its
// written types and no row.
// Errors begin with LINE:COLUMN and never overflow the stack: InvalidArgument for the text,
// and whatever the operator's own rules refuse.
absl::StatusOr<Program> ParseProgram(absl::string_view text, const OpRegistry& registry);

// One type, "f32[s0, 4]{4, 1}".
absl::StatusOr<ValueType> ParseType(absl::string_view text, ExprContext& context);

}  // namespace lathe

#endif  // LATHE_IR_TEXT_PARSER_H_
