#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/view/view_rows.h"

namespace lathe {

OpRow ViewRow(ViewRule rule) {
  OpRow row;
  row.schema = std::move(rule.schema);
  row.doc = std::move(rule.doc);
  row.infer = std::move(rule.infer);
  row.lower =
      [map = std::move(rule.map)](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    ViewLoops view;
    view.input = c.args.Tensor(0);
    LATHE_ASSIGN_OR_RETURN(view.map, map(c));
    return std::vector<Lowered>{std::move(view)};
  };
  row.evaluate = EvaluateView;
  row.view_inverse = std::move(rule.inverse);
  row.samples = std::move(rule.samples);
  return row;
}

}  // namespace lathe
