#ifndef LATHE_IR_OPS_DERIVED_ROWS_H_
#define LATHE_IR_OPS_DERIVED_ROWS_H_

// What the registry adds to the rows that families state: `infer` and `evaluate` of rows that only
// have a decomposition, and the in-place forms of functional rows.

#include <functional>
#include <memory>
#include <optional>

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

}  // namespace lathe

#endif  // LATHE_IR_OPS_DERIVED_ROWS_H_
