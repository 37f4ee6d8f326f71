#include "ir/loops/affine_index.h"

#include <algorithm>
#include <vector>

#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using symbolic::Expr;
using symbolic::ExprKind;

// Real indices are a few levels deep; deeper ones count as not affine.
constexpr int kDeepest = 64;

std::optional<Expr> Coefficient(const Expr& e, const Expr& symbol, int depth) {
  if (e == symbol) return Expr(1);
  if (e.is_const() || e.is_symbol()) return Expr(0);
  if (depth == kDeepest) return std::nullopt;
  if (e.kind() == ExprKind::kAdd) {
    Expr sum = 0;
    for (const Expr& term : e.operands()) {
      const std::optional<Expr> step = Coefficient(term, symbol, depth + 1);
      if (!step.has_value()) return std::nullopt;
      if (*step != Expr(0)) sum = sum + *step;
    }
    return sum;
  }
  if (e.kind() != ExprKind::kMul) {
    return UsesSymbol(e, symbol) ? std::nullopt : std::make_optional(Expr(0));
  }
  Expr product = 1;
  bool is_found = false;
  for (const Expr& factor : e.operands()) {
    const std::optional<Expr> step = Coefficient(factor, symbol, depth + 1);
    if (!step.has_value()) return std::nullopt;
    const bool holds = *step != Expr(0) || UsesSymbol(factor, symbol);
    if (holds && is_found) return std::nullopt;
    is_found |= holds;
    product = product * (holds ? *step : factor);
  }
  return is_found ? product : Expr(0);
}

}  // namespace

bool UsesSymbol(const Expr& e, const Expr& symbol) {
  if (e.is_const() || e.is_symbol()) return e == symbol;
  const std::vector<Expr> used = symbolic::FreeSymbols(e);
  return std::find(used.begin(), used.end(), symbol) != used.end();
}

std::optional<Expr> AffineCoefficient(const Expr& e, const Expr& symbol) {
  return Coefficient(e, symbol, 0);
}

}  // namespace lathe
