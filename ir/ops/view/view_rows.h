#ifndef LATHE_IR_OPS_VIEW_VIEW_ROWS_H_
#define LATHE_IR_OPS_VIEW_VIEW_ROWS_H_

// The groups of rows of this family; rows.cc joins them.

#include <string>
#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> ReshapeRows();       // view, reshape, flatten...
std::vector<OpRow> PermuteRows();       // permute, transpose, t, movedim...
std::vector<OpRow> ExpandRows();        // expand, unsqueeze, squeeze...
std::vector<OpRow> SliceRows();         // slice, select, narrow
std::vector<OpRow> SplitRows();         // split, chunk, unbind... : lists of slices
std::vector<OpRow> StridedRows();       // as_strided, diagonal, unfold, alias, detach...
std::vector<OpRow> ResizeRows();        // resize_
std::vector<OpRow> ComposedViewRows();  // broadcast_to, atleast_2d, hsplit...
std::vector<OpRow> ViewScatterRows();   // slice_scatter and its kind
// "X_copy" for the view ops above: a contiguous clone of the view.
std::vector<OpRow> ViewCopyRows();

// A row of a view of argument 0. `infer` gives sizes, strides and offset, `map` the index of the
// element in argument 0, `inverse` the base after its view was written.
using ViewMap = std::function<absl::StatusOr<std::function<std::vector<Expr>(Index)>>(
    const LowerContext& context)>;
struct ViewRule {
  std::string schema = {};
  std::string doc = {};
  InferFunction infer = {};
  ViewMap map = {};
  ViewInverseFunction inverse = {};
  std::vector<std::string> samples = {};
};
OpRow ViewRow(ViewRule rule);

}  // namespace lathe

#endif  // LATHE_IR_OPS_VIEW_VIEW_ROWS_H_
