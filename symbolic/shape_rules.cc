#include "symbolic/shape_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/status.h"

namespace lathe::symbolic {
namespace {

std::string SizesText(absl::Span<const Expr> sizes) {
  return absl::StrCat(
      "[",
      absl::StrJoin(sizes, ", ",
                    [](std::string* out, const Expr& e) { absl::StrAppend(out, ToString(e)); }),
      "]");
}

bool IsOne(ShapeEnv& env, const Expr& size, const Asker& asker) {
  if (size.is_const()) return size == 1;
  return env.TrueOrDefault(Eq(size, 1), false, asker);
}

// What the strides outside a dimension are multiplied by: an empty one counts as 1.
Expr AtLeastOne(const ShapeEnv& env, const Expr& size) {
  return env.IsKnownTrue(Le(1, size)) ? size : env.Simplify(Max(size, 1));
}

}  // namespace

absl::StatusOr<Expr> BroadcastSize(ShapeEnv& env, const Expr& a, const Expr& b,
                                   const Asker& asker) {
  if (a == b || env.IsKnownEqual(a, b)) return a.is_const() ? a : b.is_const() ? b : a;
  // A constant 1 first: it asks nothing of the other.
  if (b == 1) return a;
  if (a == 1) return b;
  if (IsOne(env, a, asker)) return b;
  if (IsOne(env, b, asker)) return a;
  if (Eq(a, b).AsBool() == false) {
    return OutOfRange(ToString(a), " and ", ToString(b), " differ, and neither is 1",
                      asker.ToString());
  }
  LATHE_RETURN_IF_ERROR(env.Check(Eq(a, b), asker));
  return b.is_const() ? b : a;
}

absl::StatusOr<std::vector<Expr>> BroadcastSizes(ShapeEnv& env, absl::Span<const Expr> a,
                                                 absl::Span<const Expr> b, const Asker& asker) {
  const absl::Span<const Expr> longer = a.size() >= b.size() ? a : b;
  const absl::Span<const Expr> shorter = a.size() >= b.size() ? b : a;
  std::vector<Expr> result(longer.begin(), longer.end());
  const size_t ahead = longer.size() - shorter.size();
  for (size_t d = 0; d < shorter.size(); ++d) {
    const absl::StatusOr<Expr> size = BroadcastSize(env, longer[ahead + d], shorter[d], asker);
    if (!size.ok()) {
      return InvalidArgument("sizes ", SizesText(a), " and ", SizesText(b),
                             " do not broadcast at dimension ", ahead + d, ": ",
                             size.status().message());
    }
    result[ahead + d] = *size;
  }
  return result;
}

Expr Numel(absl::Span<const Expr> sizes) { return Product(sizes); }

absl::StatusOr<std::vector<Expr>> ReshapeSizes(ShapeEnv& env, absl::Span<const Expr> sizes,
                                               std::vector<Expr> wanted, const Asker& asker) {
  const Expr total = Numel(sizes);
  const std::string asked = SizesText(wanted);  // with its -1
  const auto wrong = [&](absl::string_view why) {
    return InvalidArgument("sizes ", SizesText(sizes), " do not reshape to ", asked, ": ", why);
  };
  const auto unknown = std::find(wanted.begin(), wanted.end(), Expr(-1));
  if (unknown == wanted.end()) {
    const Expr elements = Numel(wanted);
    if (Eq(total, elements).AsBool() == false) {
      return wrong(absl::StrCat("they have ", ToString(total), " and ", ToString(elements),
                                " elements", asker.ToString()));
    }
    const absl::Status same = env.Check(Eq(total, elements), asker);
    if (!same.ok()) return wrong(same.message());
    return wanted;
  }
  if (std::count(wanted.begin(), wanted.end(), Expr(-1)) > 1) {
    return InvalidArgument("only one dimension of ", SizesText(wanted), " may be -1");
  }
  *unknown = 1;
  const Expr others = Numel(wanted);
  if (env.IsKnownEqual(others, 0)) {
    return wrong("the size of -1 could be anything");
  }
  if (total.is_const() && others.is_const() && *total.AsInt() % *others.AsInt() != 0) {
    return wrong(absl::StrCat(ToString(total), " elements are no multiple of ", ToString(others),
                              asker.ToString()));
  }
  absl::Status divides = env.Check(Ne(others, 0), asker);
  if (divides.ok()) divides = env.Check(Eq(Mod(total, others), 0), asker);
  if (!divides.ok()) return wrong(divides.message());
  *unknown = env.Simplify(FloorDiv(total, others));
  return wanted;
}

std::vector<Expr> ContiguousStrides(const ShapeEnv& env, absl::Span<const Expr> sizes) {
  std::vector<Expr> strides(sizes.size());
  Expr stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = stride * AtLeastOne(env, sizes[d]);
  }
  return strides;
}

bool IsContiguous(ShapeEnv& env, absl::Span<const Expr> sizes, absl::Span<const Expr> strides,
                  const Asker& asker) {
  for (const Expr& size : sizes) {
    if (env.IsKnownEqual(size, 0)) return true;
  }
  // An empty tensor is contiguous whatever its strides are: so those that eager gives it
  // (ContiguousStrides) are as good as the product of the sizes inside.
  Expr expected = 1, eager = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (IsOne(env, sizes[d], asker)) continue;
    const bool as_expected =
        strides[d] == expected || strides[d] == eager || env.IsKnownEqual(strides[d], expected) ||
        env.IsKnownEqual(strides[d], eager) || env.IsKnownEqual(strides[d], Max(expected, 1)) ||
        env.TrueOrDefault(Eq(strides[d], expected), false, asker);
    if (!as_expected) return false;
    expected = strides[d] * sizes[d];
    eager = strides[d] * AtLeastOne(env, sizes[d]);
  }
  return true;
}

bool IsKnownDense(const ShapeEnv& env, absl::Span<const Expr> sizes,
                  absl::Span<const Expr> strides) {
  std::vector<size_t> left;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!env.IsKnownEqual(sizes[d], 1)) left.push_back(d);
  }
  Expr expected = 1;
  while (!left.empty()) {
    const auto next = std::find_if(
        left.begin(), left.end(), [&](size_t d) { return env.IsKnownEqual(strides[d], expected); });
    if (next == left.end()) return false;
    expected = expected * sizes[*next];
    left.erase(next);
  }
  return true;
}

// Runs of dimensions that lie one after another in storage are one long dimension each; every
// run must be cut by the wanted sizes on its own.
std::optional<std::vector<Expr>> ViewStrides(ShapeEnv& env, absl::Span<const Expr> sizes,
                                             absl::Span<const Expr> strides,
                                             absl::Span<const Expr> wanted, const Asker& asker) {
  if (IsContiguous(env, sizes, strides, asker)) return ContiguousStrides(env, wanted);
  std::vector<Expr> result(wanted.size());
  int64_t at = static_cast<int64_t>(wanted.size()) - 1;
  Expr run = 1, base = sizes.empty() ? Expr(1) : strides.back();
  for (size_t d = sizes.size(); d-- > 0;) {
    run = run * sizes[d];
    // Does the next dimension outside continue this run?
    const bool last = d == 0;
    const bool ends =
        last || !(IsOne(env, sizes[d - 1], asker) || env.IsKnownEqual(strides[d - 1], run * base));
    if (!ends) continue;
    Expr taken = 1;
    while (at >= 0 && (!env.IsKnownEqual(taken, run) ||
                       env.IsKnownEqual(wanted[static_cast<size_t>(at)], 1))) {
      const size_t w = static_cast<size_t>(at--);
      result[w] = env.Simplify(taken * base);
      taken = taken * wanted[w];
    }
    if (!env.IsKnownEqual(taken, run)) return std::nullopt;
    if (!last) base = strides[d - 1];
    run = 1;
  }
  if (at >= 0) return std::nullopt;
  return result;
}

Expr SliceLength(const ShapeEnv& env, const Expr& size, const Expr& start, const Expr& stop,
                 int64_t step) {
  const auto clamped = [&](const Expr& bound) {
    const Expr from_end = env.IsKnownTrue(Le(0, bound)) ? bound
                          : env.IsKnownTrue(Lt(bound, 0))
                              ? bound + size
                              : Where(Lt(bound, 0), bound + size, bound);
    return env.Simplify(Min(Max(from_end, 0), size));
  };
  const Expr length = Max(clamped(stop) - clamped(start), 0);
  return env.Simplify(CeilDiv(length, step));
}

}  // namespace lathe::symbolic
