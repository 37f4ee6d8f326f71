#include "scheduler/fusion/domain.h"

#include <algorithm>

#include "dtypes/base/check.h"

namespace lathe {
namespace {

std::vector<Expr> WithoutOnes(const std::vector<Expr>& sizes) {
  std::vector<Expr> result;
  for (const Expr& size : sizes) {
    if (size != Expr(1)) result.push_back(size);
  }
  return result;
}

// A size as a product: a constant and factors that are not products.
struct Factors {
  int64_t constant = 1;
  std::vector<Expr> others;
};

Factors FactorsOf(const Expr& e) {
  Factors factors;
  const auto add = [&](const Expr& factor) {
    if (auto constant = factor.AsInt()) {
      factors.constant *= *constant;
    } else {
      factors.others.push_back(factor);
    }
  };
  if (e.kind() == symbolic::ExprKind::kMul) {
    for (const Expr& factor : e.operands()) add(factor);
  } else {
    add(e);
  }
  return factors;
}

// b divides a factor by factor. (a // b) * b == a would not do: s0*s1 // s0 is s1 only when s0 is
// not 0, but two loops over the same factors enumerate alike even then.
bool DividesExactly(const Expr& a, const Expr& b) {
  Factors whole = FactorsOf(a);
  const Factors part = FactorsOf(b);
  if (part.constant == 0 || whole.constant % part.constant != 0) return false;
  for (const Expr& factor : part.others) {
    auto it = std::find(whole.others.begin(), whole.others.end(), factor);
    if (it == whole.others.end()) return false;
    whole.others.erase(it);
  }
  return true;
}

}  // namespace

std::optional<std::vector<Expr>> CommonRefinement(const std::vector<Expr>& a_sizes,
                                                  const std::vector<Expr>& b_sizes) {
  const std::vector<Expr> a = WithoutOnes(a_sizes), b = WithoutOnes(b_sizes);
  std::vector<Expr> result;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const size_t i0 = i, j0 = j;
    Expr pa = a[i++], pb = b[j++];
    while (pa != pb) {
      if (j < b.size() && DividesExactly(pa, pb)) {
        pb = pb * b[j++];
      } else if (i < a.size() && DividesExactly(pb, pa)) {
        pa = pa * a[i++];
      } else {
        return std::nullopt;
      }
    }
    // One side must be a single size: {2, 6} against {4, 3} has no finer list in whole sizes.
    if (i - i0 == 1) {
      result.insert(result.end(), b.begin() + j0, b.begin() + j);
    } else if (j - j0 == 1) {
      result.insert(result.end(), a.begin() + i0, a.begin() + i);
    } else {
      return std::nullopt;
    }
  }
  if (i != a.size() || j != b.size()) return std::nullopt;
  return result;
}

std::optional<int> PrefixWithProduct(const std::vector<Expr>& sizes, const Expr& product) {
  if (product == Expr(0)) return std::nullopt;  // every prefix from the first 0 on has it
  Expr so_far = 1;
  for (size_t k = 0; k <= sizes.size(); ++k) {
    if (so_far == product) return static_cast<int>(k);
    if (k < sizes.size()) so_far = so_far * sizes[k];
  }
  return std::nullopt;
}

std::vector<Expr> CoarseIndex(const std::vector<Expr>& coarse, const std::vector<Expr>& refined,
                              Index refined_index) {
  std::vector<Expr> result;
  size_t r = 0;
  for (const Expr& size : coarse) {
    if (size == Expr(1)) {
      result.push_back(0);
      continue;
    }
    Expr covered = 1, index = 0;
    while (covered != size) {
      LATHE_CHECK(r < refined.size()) << "the domain does not refine the coarse one";
      index = index * refined[r] + refined_index[r];
      covered = covered * refined[r];
      ++r;
    }
    result.push_back(index);
  }
  return result;
}

Expr LinearIndex(const std::vector<Expr>& sizes, Index index) {
  Expr linear = 0;
  for (size_t k = 0; k < sizes.size(); ++k) linear = linear * sizes[k] + index[k];
  return linear;
}

}  // namespace lathe
