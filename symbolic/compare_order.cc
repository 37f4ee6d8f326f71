#include <algorithm>

#include "symbolic/expr_node.h"

namespace lathe::symbolic {
namespace {

// Deeper differences are told by the structural hash: the cost of a comparison stays bounded.
constexpr int kDepth = 4;
constexpr size_t kWidth = 16;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "s2" before "s10": runs of digits compare by length first.
int CompareNames(absl::string_view a, absl::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      size_t m = i, n = j;
      while (m < a.size() && IsDigit(a[m])) ++m;
      while (n < b.size() && IsDigit(b[n])) ++n;
      if (m - i != n - j) return m - i < n - j ? -1 : 1;
      const int c = a.substr(i, m - i).compare(b.substr(j, n - j));
      if (c != 0) return c;
      i = m;
      j = n;
    } else if (a[i] != b[j]) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]) ? -1 : 1;
    } else {
      ++i;
      ++j;
    }
  }
  return (i < a.size()) - (j < b.size());
}

int ThreeWay(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

int Rank(const ExprNode* node) {
  return node->kind == ExprKind::kSymbol ? 0 : 1 + static_cast<int>(node->kind);
}

int CompareAt(const Expr& a, const Expr& b, int depth) {
  if (a == b) return 0;
  const ExprNode* x = a.node();
  const ExprNode* y = b.node();
  if (x == nullptr || y == nullptr) {
    if (x != y) return x == nullptr ? 1 : -1;
    return ContextAccess::RawValue(a) < ContextAccess::RawValue(b) ? -1 : 1;
  }
  if (x->degree != y->degree) return x->degree > y->degree ? -1 : 1;
  if (Rank(x) != Rank(y)) return Rank(x) < Rank(y) ? -1 : 1;
  if (x == y) {  // two float or boolean constants
    return ContextAccess::RawValue(a) < ContextAccess::RawValue(b) ? -1 : 1;
  }
  if (x->kind == ExprKind::kSymbol) {
    if (x->name_order != 0 && y->name_order != 0) return x->name_order < y->name_order ? -1 : 1;
    return CompareNames(static_cast<const SymbolNode*>(x)->name,
                        static_cast<const SymbolNode*>(y)->name);
  }
  if (depth > 0) {
    const size_t n = std::min<size_t>({x->operand_count, y->operand_count, kWidth});
    for (size_t i = 0; i < n; ++i) {
      const int c = CompareAt(x->operand_span()[i], y->operand_span()[i], depth - 1);
      if (c != 0) return c;
    }
  }
  if (x->operand_count != y->operand_count) return ThreeWay(x->operand_count, y->operand_count);
  if (x->hash != y->hash) return ThreeWay(x->hash, y->hash);
  return x < y ? -1 : 1;  // a collision of 64 bits
}

}  // namespace

int Compare(const Expr& a, const Expr& b) { return CompareAt(a, b, kDepth); }

}  // namespace lathe::symbolic
