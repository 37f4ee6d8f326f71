#include "ir/loops/affine_index.h"

#include <algorithm>
#include <vector>

#include "symbolic/evaluate.h"

namespace lathe {

using symbolic::Expr;

bool UsesSymbol(const Expr& e, const Expr& symbol) {
  const std::vector<Expr> used = symbolic::FreeSymbols(e);
  return std::find(used.begin(), used.end(), symbol) != used.end();
}

std::optional<Expr> AffineCoefficient(const Expr& e, const Expr& symbol,
                                      symbolic::ExprContext& context) {
  const Expr at0 = symbolic::Substitute(e, {{symbol, 0}}, context);
  const Expr coefficient = symbolic::Substitute(e, {{symbol, 1}}, context) - at0;
  if (UsesSymbol(coefficient, symbol)) return std::nullopt;
  if (at0 + coefficient * symbol != e) return std::nullopt;
  return coefficient;
}

}  // namespace lathe
