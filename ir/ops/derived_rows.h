#ifndef LATHE_IR_OPS_DERIVED_ROWS_H_
#define LATHE_IR_OPS_DERIVED_ROWS_H_

// What the registry adds to the rows that families state: `infer` and `evaluate` of rows that only
// have a decomposition, and the forms of functional rows that work in place or write into `out`.

#include <functional>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"
#include "ir/ops/op_row.h"
#include "ir/ops/registry.h"

namespace lathe {

using RegistryFunction = std::function<OpRegistry()>;

// Fills `infer` and `evaluate` where they are empty and the row decomposes: the decomposition is
// written into a graph of its own and inferred, or evaluated node by node.
void DeriveFromDecomposition(OpRow& row, const RegistryFunction& registry);

// "aten.relu_" of "aten.relu": the functional result, cast to self's dtype, written into self.
// nullopt where the op has no such form (no leading tensor, several results, a view, random).
std::optional<OpRow> InPlaceRow(const std::shared_ptr<const OpRow>& functional);

// "aten.add.out" of "aten.add.Tensor": the functional result, cast to out's dtype, written into
// out. nullopt where `find`, which gives the stated rows by name, has no row that `name` is a form
// of.
std::optional<OpRow> OutRow(
    absl::string_view name,
    const std::function<std::shared_ptr<const OpRow>(const std::string&)>& find);

// The arguments of the functional form in a call of a form with `out`: without the outs. A dtype
// that is left open is out's, as eager has it.
std::vector<Argument> FunctionalArguments(const Schema& functional, const Schema& schema,
                                          const OpArgs& args);

// Eager's rule for writing a result into a tensor that exists: sizes and dtypes.
absl::Status CheckWritable(const std::string& op, const TensorType& result, const TensorType& out,
                           ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_IR_OPS_DERIVED_ROWS_H_
