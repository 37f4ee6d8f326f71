#include "dtypes/base/check.h"
#include "ir/ops/families.h"
#include "ir/ops/registry.h"

namespace lathe {
namespace {

OpRegistry MakeBuiltin() {
  std::vector<OpRow> rows;
  for (auto family :
       {PointwiseRows, ReduceRows, ViewRows, IndexRows, CreateRows, MatmulRows, ConvolveRows,
        NormalizeRows, PoolRows, SortRows, ScanRows, ControlRows, RandomRows, RecurrentRows,
        AssertRows, LinalgRows, LossRows, ResampleRows, PadRows}) {
    for (OpRow& row : family()) rows.push_back(std::move(row));
  }
  absl::StatusOr<OpRegistry> registry = OpRegistry::Of(std::move(rows));
  LATHE_CHECK(registry.ok()) << registry.status().ToString();
  return *std::move(registry);
}

}  // namespace

const OpRegistry& OpRegistry::Builtin() {
  static const OpRegistry* registry = new OpRegistry(MakeBuiltin());
  return *registry;
}

}  // namespace lathe
