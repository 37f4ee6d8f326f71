#include "ir/ops/view/size_math.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/status.h"
#include "symbolic/assumed.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

bool IsConstant(absl::Span<const Expr> values, int64_t wanted) {
  return std::any_of(values.begin(), values.end(), [&](const Expr& e) { return e == wanted; });
}

// Strides of a reshape of nothing: row-major with empty sizes counted as 1.
std::vector<Expr> StridesOfEmpty(absl::Span<const Expr> sizes) {
  std::vector<Expr> strides(sizes.size(), 1);
  for (int d = static_cast<int>(sizes.size()) - 2; d >= 0; --d) {
    strides[d] = symbolic::Max(sizes[d + 1], 1) * strides[d + 1];
  }
  return strides;
}

}  // namespace

std::string ToString(absl::Span<const Expr> sizes) {
  return absl::StrCat("[",
                      absl::StrJoin(sizes, ", ",
                                    [](std::string* out, const Expr& e) {
                                      absl::StrAppend(out, symbolic::ToString(e));
                                    }),
                      "]");
}

namespace {

// The two products without the factors that they share.
struct Quotient {
  Expr product, divisor;
};
Quotient Cancel(absl::Span<const Expr> a, absl::Span<const Expr> b) {
  std::vector<Expr> left(a.begin(), a.end());
  std::vector<Expr> right;
  for (const Expr& factor : b) {
    auto same = std::find(left.begin(), left.end(), factor);
    if (same != left.end()) {
      left.erase(same);
    } else {
      right.push_back(factor);
    }
  }
  return {symbolic::Product(left), symbolic::Product(right)};
}

Expr ValueOf(const Quotient& q) {
  return q.divisor == 1 ? q.product : symbolic::FloorDiv(q.product, q.divisor);
}

}  // namespace

absl::StatusOr<std::vector<Expr>> CompleteSizes(absl::Span<const Expr> sizes,
                                                std::vector<Expr> wanted, const InferContext& c) {
  auto invalid = [&] {
    return InvalidArgument(c.args.schema().name, ": shape '", ToString(wanted),
                           "' is invalid for input of size ",
                           symbolic::ToString(symbolic::Product(sizes)));
  };
  int unknown = -1;
  std::vector<Expr> known;
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] == -1) {
      if (unknown >= 0) return InvalidArgument("only one dimension can be inferred");
      unknown = static_cast<int>(d);
      continue;
    }
    if (symbolic::IsRefused(c.shapes, symbolic::Lt(wanted[d], 0))) {
      return InvalidArgument("invalid shape dimension ", symbolic::ToString(wanted[d]));
    }
    known.push_back(wanted[d]);
  }
  Expr total = symbolic::Product(sizes);
  if (unknown >= 0) {
    const Expr rest = symbolic::Product(known);
    if (IsConstant(known, 0) || symbolic::IsRefused(c.shapes, symbolic::Eq(rest, 0))) {
      return InvalidArgument("cannot reshape tensor of 0 elements into shape ", ToString(wanted),
                             " because the unspecified dimension size -1 can be any value and is "
                             "ambiguous");
    }
    if (total.is_const() && rest.is_const() && *total.AsInt() % *rest.AsInt() != 0) {
      return invalid();
    }
    const Quotient quotient = Cancel(sizes, known);
    if (quotient.divisor != 1) {
      const Expr left_over = symbolic::Mod(quotient.product, quotient.divisor);
      if (symbolic::IsRefused(c.shapes, symbolic::Ne(left_over, 0))) return invalid();
    }
    wanted[unknown] = c.shapes.Simplify(ValueOf(quotient));
    return wanted;
  }
  Expr product = symbolic::Product(wanted);
  if (total == product || c.shapes.IsKnownEqual(total, product)) return wanted;
  // What a recorded program states without our being able to prove it is taken as it stands.
  if (!symbolic::IsAccepted(c.shapes, symbolic::Eq(total, product), c.asker)) return invalid();
  return wanted;
}

std::optional<std::vector<Expr>> ViewStrides(const TensorType& type, absl::Span<const Expr> sizes,
                                             const ShapeEnv& shapes) {
  const int rank = type.rank();
  if (rank == 0) return std::vector<Expr>(sizes.size(), 1);
  if (IsConstant(type.sizes, 0)) {
    if (std::equal(sizes.begin(), sizes.end(), type.sizes.begin(), type.sizes.end())) {
      return type.strides;
    }
    return StridesOfEmpty(sizes);
  }
  std::vector<Expr> strides(sizes.size(), 1);
  int v = static_cast<int>(sizes.size()) - 1;
  Expr base = type.strides.back();
  Expr chunk = 1;  // elements of the input's dimensions that are dense over `base`
  Expr filled = 1;
  for (int d = rank - 1; d >= 0; --d) {
    chunk = chunk * type.sizes[d];
    const bool ends = d == 0 || (!(type.sizes[d - 1] == 1) &&
                                 !shapes.IsKnownEqual(type.strides[d - 1], chunk * base));
    if (!ends) continue;
    while (v >= 0 && (!shapes.IsKnownEqual(filled, chunk) || sizes[v] == 1)) {
      strides[v] = filled * base;
      filled = filled * sizes[v];
      --v;
    }
    if (!shapes.IsKnownEqual(filled, chunk)) {
      // All dimensions at once need no proof that products are equal: the sizes were checked.
      if (d == 0 && IsContiguous(type)) return ContiguousStrides({sizes.begin(), sizes.end()});
      return std::nullopt;
    }
    if (d > 0) {
      base = type.strides[d - 1];
      chunk = 1;
      filled = 1;
    }
  }
  if (v >= 0) return std::nullopt;
  return strides;
}

Expr WrapIndex(const Expr& index, const Expr& size, const ShapeEnv& shapes) {
  if (shapes.IsKnownTrue(symbolic::Lt(index, 0))) return index + size;
  if (shapes.IsKnownTrue(symbolic::Ge(index, 0))) return index;
  return symbolic::Where(symbolic::Lt(index, 0), index + size, index);
}

static bool IsOneByExample(const Expr& e, const ShapeEnv& shapes) {
  const absl::StatusOr<int64_t> value =
      symbolic::Evaluate(e, [&](const Expr& symbol) { return shapes.hint(symbol); });
  return value.ok() && *value == 1;
}

SliceBounds BoundsOfSlice(const Expr& size, const std::optional<Expr>& start,
                          const std::optional<Expr>& end, const Expr& step,
                          const ShapeEnv& shapes) {
  auto clamp = [&](const Expr& bound) {
    if (bound == size) return size;
    if (auto n = bound.AsInt(); n && *n >= INT64_MAX / 2) return size;
    if (bound == 0) return bound;
    Expr wrapped = WrapIndex(bound, size, shapes);
    if (!shapes.IsKnownTrue(symbolic::Ge(wrapped, 0))) wrapped = symbolic::Max(wrapped, 0);
    if (!shapes.IsKnownTrue(symbolic::Le(wrapped, size))) wrapped = symbolic::Min(wrapped, size);
    return wrapped;
  };
  SliceBounds bounds;
  bounds.start = clamp(start.value_or(0));
  Expr limit = clamp(end.value_or(size));
  Expr span = limit - bounds.start;
  if (!shapes.IsKnownTrue(symbolic::Ge(span, 0))) span = symbolic::Max(span, 0);
  bounds.start = shapes.Simplify(bounds.start);
  bounds.length = shapes.Simplify(step == 1 ? span : symbolic::CeilDiv(span, step));
  // Of one element, a slice is that or nothing; what meets it in a broadcast needs to know which.
  if (size == 1 && !bounds.length.is_const() && IsOneByExample(bounds.length, shapes)) {
    symbolic::Assume(shapes, symbolic::Eq(bounds.length, 1));
    return {0, 1};
  }
  return bounds;
}

bool IsOne(const Expr& size, const InferContext& c) {
  if (size.is_const()) return size == 1;
  return c.shapes.TrueOrDefault(symbolic::Eq(size, 1), false, c.asker);
}

TensorType WithSizes(const TensorType& type, std::vector<Expr> sizes, std::vector<Expr> strides) {
  TensorType result = type;
  result.sizes = std::move(sizes);
  result.strides = std::move(strides);
  return result;
}

}  // namespace lathe
