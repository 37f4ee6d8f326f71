// Distinct elements. How many there are depends on the data: evaluated.

#include <algorithm>
#include <numeric>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/sort/selection_rows.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

// What is compared: all elements, or the slices of one dimension.
struct Items {
  std::vector<std::vector<Scalar>> rows;
};

Items ItemsOf(const Tensor& self, std::optional<int> dim) {
  Items items;
  if (!dim) {
    for (int64_t k = 0; k < self.numel(); ++k) items.rows.push_back({self.AtLinear(k)});
    return items;
  }
  items.rows.resize(self.sizes()[*dim]);
  int64_t k = 0;
  ForEachIndex(self.sizes(),
               [&](const Position& p) { items.rows[p[*dim]].push_back(self.AtLinear(k++)); });
  return items;
}

// The groups of equal items in the order of the result.
struct Groups {
  std::vector<int64_t> representative;  // an item of each group
  std::vector<int64_t> group_of;        // of each item
  std::vector<int64_t> counts;
};

bool IsEqualItem(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// NaN orders last and equals nothing.
bool IsLessItem(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  auto is_nan = [](const Scalar& s) { return !(s == s); };
  for (size_t k = 0; k < a.size(); ++k) {
    if (is_nan(a[k]) || is_nan(b[k])) {
      if (is_nan(a[k]) != is_nan(b[k])) return is_nan(b[k]);
      continue;
    }
    if (a[k] < b[k]) return true;
    if (b[k] < a[k]) return false;
  }
  return false;
}

Groups GroupsOf(const Items& items, bool sorts) {
  const size_t count = items.rows.size();
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (sorts) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return IsLessItem(items.rows[a], items.rows[b]);
    });
  }
  Groups groups;
  groups.group_of.resize(count);
  for (size_t k = 0; k < count; ++k) {
    const int64_t item = order[k];
    if (k == 0 || !IsEqualItem(items.rows[item], items.rows[order[k - 1]])) {
      groups.representative.push_back(item);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.group_of[item] = static_cast<int64_t>(groups.counts.size()) - 1;
  }
  return groups;
}

Tensor Numbers(const std::vector<int64_t>& values, const Dims& sizes) {
  return Tensor::FromSpan<int64_t>(sizes, absl::MakeConstSpan(values));
}

// Where the arguments stand; -1: absent.
struct Form {
  int dim = -1, inverse = 0, counts = 0;
  bool sorts = true;
};

absl::StatusOr<std::optional<int>> DimOf(const Form& form, std::optional<int64_t> dim, int rank) {
  if (form.dim < 0 || !dim) return std::optional<int>();
  LATHE_ASSIGN_OR_RETURN(int wrapped, WrapDim(*dim, rank));
  return std::optional<int>(wrapped);
}

OpRow UniqueRow(std::string schema, std::string doc, Form form) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = [form](const InferContext& c) -> Types {
    const TensorType& self = c.args.Type(0);
    std::optional<int64_t> wanted;
    if (form.dim >= 0 && !c.args.IsNone(form.dim)) {
      LATHE_ASSIGN_OR_RETURN(wanted, c.args.ConstantInt(form.dim));
    }
    LATHE_ASSIGN_OR_RETURN(std::optional<int> dim, DimOf(form, wanted, self.rank()));
    const Expr items = dim ? self.sizes[*dim] : NumElements(self);
    const int64_t upper = std::max<int64_t>(c.shapes.RangeOf(items).upper, 0);
    Expr found =
        c.shapes.FreshUnbacked(symbolic::Source::Item(c.asker.node), symbolic::Range{0, upper});
    std::vector<Expr> sizes = {found};
    std::vector<Expr> inverse = {0}, counts = {0};
    if (dim) {
      sizes = self.sizes;
      sizes[*dim] = found;
    }
    const bool wants_inverse = c.args.Bool(form.inverse);
    if (wants_inverse) inverse = dim ? std::vector<Expr>{self.sizes[*dim]} : self.sizes;
    if (c.args.Bool(form.counts)) counts = {found};
    return std::vector<ValueType>{ContiguousType(self.dtype, sizes, self.device),
                                  ContiguousType(DType::kI64, inverse, self.device),
                                  ContiguousType(DType::kI64, counts, self.device)};
  };
  row.evaluate = [form](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& self = c.args.Tensor(0);
    std::optional<int64_t> wanted;
    if (form.dim >= 0) wanted = c.args.OptionalInt(form.dim);
    LATHE_ASSIGN_OR_RETURN(std::optional<int> dim, DimOf(form, wanted, self.rank()));
    const Items items = ItemsOf(self, dim);
    const Groups groups = GroupsOf(items, form.sorts);
    const int64_t found = static_cast<int64_t>(groups.counts.size());
    std::vector<int64_t> sizes = {found};
    if (dim) {
      sizes = self.sizes().ToVector();
      sizes[*dim] = found;
    }
    Tensor out = Tensor::Empty(self.dtype(), sizes);
    std::vector<int64_t> next(found, 0);
    int64_t k = 0;
    ForEachIndex(out.sizes(), [&](const Position& p) {
      const int64_t group = p[dim ? *dim : 0];
      out.SetLinear(k++, items.rows[groups.representative[group]][next[group]++]);
    });
    Dims inverse = dim ? Dims{self.sizes()[*dim]} : self.sizes();
    Tensor none = Tensor::Empty(DType::kI64, {0});
    return std::vector<HostValue>{
        out, c.args.Bool(form.inverse) ? Numbers(groups.group_of, inverse) : none,
        c.args.Bool(form.counts) ? Numbers(groups.counts, {found}) : none};
  };
  return row;
}

}  // namespace

std::vector<OpRow> UniqueRows() {
  std::vector<OpRow> rows;
  rows.push_back(UniqueRow(
      "aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool "
      "return_counts=False) -> (Tensor, Tensor, Tensor)",
      "The distinct elements in ascending order, where each element went, and how many there were.",
      {.dim = -1, .inverse = 2, .counts = 3, .sorts = true}));
  rows.push_back(UniqueRow(
      "aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
      "int? dim=None) -> (Tensor, Tensor, Tensor)",
      "Runs of equal elements (or slices) made one.",
      {.dim = 3, .inverse = 1, .counts = 2, .sorts = false}));
  rows.push_back(UniqueRow(
      "aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
      "return_counts=False) -> (Tensor, Tensor, Tensor)",
      "The distinct slices of a dimension in ascending order.",
      {.dim = 1, .inverse = 3, .counts = 4, .sorts = true}));
  return rows;
}

}  // namespace lathe
