// Knowledge::Decide: conditions taken apart into comparisons, comparisons into proofs.

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/all_values.h"
#include "symbolic/cases.h"
#include "symbolic/expr_node.h"
#include "symbolic/knowledge.h"
#include "symbolic/residues.h"
#include "symbolic/sampler.h"
#include "symbolic/signs.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

Polynomial MinusOne(Polynomial p) {
  p.overflow |= __builtin_sub_overflow(p.constant, 1, &p.constant);
  return p;
}

// The comparison of 0 with `p`.
std::optional<bool> BySigns(Knowledge& k, ExprKind kind, const Polynomial& p) {
  const std::optional<Signs> s = SignsOf(k, p);
  if (!s) return std::nullopt;
  const bool holds_at_zero = kind == ExprKind::kLe || kind == ExprKind::kEq;
  const bool holds_above = kind != ExprKind::kEq, holds_below = kind == ExprKind::kNe;
  const bool can_hold =
      (s->zero && holds_at_zero) || (s->positive && holds_above) || (s->negative && holds_below);
  const bool can_fail =
      (s->zero && !holds_at_zero) || (s->positive && !holds_above) || (s->negative && !holds_below);
  if (can_hold == can_fail) return std::nullopt;
  return can_hold;
}

std::optional<bool> DecideComparison(Knowledge& k, const Expr& e) {
  const Expr& a = e.operands()[0];
  const Expr& b = e.operands()[1];
  if (a.type() != ExprType::kInt || b.type() != ExprType::kInt) return std::nullopt;
  const Polynomial p = Difference(b, a);
  const Polynomial negated = Scaled(p, -1);
  if (p.overflow || negated.overflow) return std::nullopt;
  const Sampler::Outcomes seen = Sampler(k).Try(e);
  const bool maybe_true = !seen.can_be_false, maybe_false = !seen.can_be_true;
  if (!maybe_true && !maybe_false) return std::nullopt;
  if (const std::optional<bool> by_signs = BySigns(k, e.kind(), p)) return by_signs;
  switch (e.kind()) {
    case ExprKind::kLe:
      if (maybe_true && k.IsNonNegative(p)) return true;
      if (maybe_false && k.IsNonNegative(MinusOne(negated))) return false;
      return std::nullopt;
    case ExprKind::kLt:
      if (maybe_true && k.IsNonNegative(MinusOne(p))) return true;
      if (maybe_false && k.IsNonNegative(negated)) return false;
      return std::nullopt;
    default: {
      const bool equal = e.kind() == ExprKind::kEq;
      if ((equal ? maybe_false : maybe_true) &&
          (k.IsNonNegative(MinusOne(p)) || k.IsNonNegative(MinusOne(negated)))) {
        return !equal;
      }
      if ((equal ? maybe_true : maybe_false) && k.IsNonNegative(p) && k.IsNonNegative(negated)) {
        return equal;
      }
      if ((equal ? maybe_false : maybe_true) && (IsNeverZeroByResidues(k, p) || k.IsNeverZero(p))) {
        return !equal;
      }
      return std::nullopt;
    }
  }
}

// With "x << y" as x*2**y and "x >> y" as x//2**y, which more is known of; y >= 0.
Expr WithoutShifts(Knowledge& k, const Expr& root) {
  absl::flat_hash_map<Expr, Expr> done;
  const auto now = [&](const Expr& e) {
    const auto it = done.find(e);
    return it == done.end() ? e : it->second;
  };
  const auto is_done = [&](const Expr& e) { return e.operands().empty() || done.contains(e); };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    std::vector<Expr> x;
    for (const Expr& o : e.operands()) x.push_back(now(o));
    const bool shifts = e.kind() == ExprKind::kShiftLeft || e.kind() == ExprKind::kShiftRight;
    if (shifts && k.RangeOf(x[1]).lower >= 0) {
      done[e] =
          e.kind() == ExprKind::kShiftLeft ? x[0] * Pow(2, x[1]) : FloorDiv(x[0], Pow(2, x[1]));
    } else {
      done[e] = absl::MakeConstSpan(x) == e.operands() ? e : k.context()->Make(e.kind(), x);
    }
  });
  return now(root);
}

}  // namespace

bool Knowledge::IsRemembered(const Expr& condition, std::optional<bool>& answer) const {
  answer = std::nullopt;
  const auto it = decided_memo_.find(condition);
  if (it != decided_memo_.end()) answer = it->second;
  return answer.has_value() || undecided_memo_.Find(condition, version_) != nullptr;
}

void Knowledge::Remember(const Expr& condition, std::optional<bool> answer) {
  if (answer) {
    decided_memo_.emplace(condition, *answer);
  } else {
    undecided_memo_.Store(condition, version_, true);
  }
}

std::optional<bool> Knowledge::Decide(const Expr& condition, int most_proofs) {
  if (const std::optional<bool> known = condition.AsBool()) return known;
  std::optional<bool> remembered;
  if (IsRemembered(condition, remembered)) return remembered;
  if (MayBeNoInteger(condition)) return std::nullopt;
  if (const std::optional<bool> by_bounds = ByBounds(condition)) return by_bounds;
  Question question(*this, most_proofs);
  const Expr simple = Simplify(condition);
  question.AtLeast(std::max(most_proofs / 4, 1));
  // Parts are decided after their own parts: a nested formula costs no stack.
  absl::flat_hash_map<Expr, std::optional<bool>> done;
  const auto is_done = [&](const Expr& e) {
    return e.type() != ExprType::kBool || e.AsBool().has_value() || done.contains(e);
  };
  const auto answer = [&](const Expr& e) -> std::optional<bool> {
    if (const std::optional<bool> known = e.AsBool()) return known;
    const auto it = done.find(e);
    return it == done.end() ? std::nullopt : it->second;
  };
  VisitOperandsFirst(simple, is_done, [&](const Expr& e) {
    std::optional<bool> result;
    if (const std::optional<bool> learnt = AsLearnt(e)) {
      result = learnt;
    } else if (e.kind() == ExprKind::kNot) {
      if (const auto v = answer(e.operands()[0])) result = !*v;
    } else if (e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr) {
      const bool neutral = e.kind() == ExprKind::kAnd;
      result = neutral;
      for (const Expr& o : e.operands()) {
        const std::optional<bool> v = answer(o);
        if (v && *v != neutral) {
          result = !neutral;
          break;
        }
        if (!v) result = std::nullopt;
      }
    } else if (e.kind() >= ExprKind::kEq && e.kind() <= ExprKind::kLe) {
      if (!IsRemembered(e, result)) {
        result = DecideComparison(*this, e);
        Remember(e, result);
      }
    }
    done[e] = result;
  });
  std::optional<bool> result = answer(simple);
  const bool in_full = most_proofs == kProofsOfOneQuestion;
  if (!result && in_full) result = DecideByAllValues(*this, simple);
  if (!result && in_full) result = CaseAnalysis(*this).Decide(simple);
  if (!result && in_full && !HasMoreNodesThan(CaseAnalysis::kMostSplitNodes, simple)) {
    const Expr plain = WithoutShifts(*this, simple);
    if (plain != simple && !plain.IsOverflow()) result = Decide(plain);
  }
  if (result || in_full) Remember(condition, result);
  return result;
}

}  // namespace lathe::symbolic
