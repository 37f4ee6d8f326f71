#include "codegen/tile/affine.h"

#include "symbolic/evaluate.h"

namespace lathe::tile {

using symbolic::ExprKind;

AffineSplitter::AffineSplitter(const std::vector<Expr>& sizes,
                               const absl::flat_hash_map<Expr, int>& axes)
    : axes_(axes) {
  for (const Expr& symbol : sizes) sizes_[symbol] = true;
}

bool AffineSplitter::IsSize(const Expr& e) const {
  if (e.is_const()) return true;
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    if (!sizes_.contains(symbol)) return false;
  }
  return true;
}

AffineForm AffineSplitter::Split(const Expr& e) const {
  AffineForm form;
  Add(e, 1, form);
  for (auto it = form.coefficients.begin(); it != form.coefficients.end();) {
    it = it->second == Expr(0) ? form.coefficients.erase(it) : std::next(it);
  }
  return form;
}

// form += scale * e.
void AffineSplitter::Add(const Expr& e, const Expr& scale, AffineForm& form) const {
  if (IsSize(e)) {
    form.constant = form.constant + scale * e;
    return;
  }
  if (e.is_symbol()) {
    if (auto it = axes_.find(e); it != axes_.end()) {
      auto [place, is_new] = form.coefficients.try_emplace(it->second, scale);
      if (!is_new) place->second = place->second + scale;
      return;
    }
  }
  if (e.kind() == ExprKind::kAdd) {
    for (const Expr& term : e.operands()) Add(term, scale, form);
    return;
  }
  if (e.kind() == ExprKind::kMul) {
    Expr factor = scale;
    std::vector<Expr> varying;
    for (const Expr& operand : e.operands()) {
      if (IsSize(operand)) {
        factor = factor * operand;
      } else {
        varying.push_back(operand);
      }
    }
    if (varying.size() == 1) {
      const ExprKind kind = varying[0].kind();
      if (kind == ExprKind::kAdd || kind == ExprKind::kMul || varying[0].is_symbol()) {
        if (!varying[0].is_symbol() || axes_.contains(varying[0])) {
          return Add(varying[0], factor, form);
        }
      }
    }
  }
  form.rest.push_back(scale * e);
}

}  // namespace lathe::tile
