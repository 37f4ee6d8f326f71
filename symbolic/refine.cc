// Knowledge::Simplify: the rows of refine/ applied from the leaves up.

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/knowledge.h"
#include "symbolic/refine/fact_rule.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

constexpr int kRefinements = 4;  // of one node
constexpr int kPasses = 3;       // over an expression

// The tables of an operation, one after the other.
using Tables = std::pair<absl::Span<const FactRule>, absl::Span<const FactRule>>;

Tables RulesOf(const Expr& e) {
  switch (e.kind()) {
    case ExprKind::kMul:
      return {TermRules(), PowerProductRules()};
    case ExprKind::kFloorDiv:
      if (e.operands()[1].is_const()) return {QuotientByNumberRules(), {}};
      return {PowerQuotientRules(), QuotientRules()};
    case ExprKind::kMod:
      if (e.operands()[1].is_const()) return {RemainderByNumberRules(), {}};
      return {PowerRemainderRules(), RemainderRules()};
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod:
      return {TruncationRules(), {}};
    case ExprKind::kPow:
      return {PowerRules(), {}};
    case ExprKind::kBitAnd:
      return {BitFactRules(), {}};
    case ExprKind::kAbs:
    case ExprKind::kMin:
    case ExprKind::kMax:
      return {ChoiceRules(), {}};
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
      if (e.operands()[0].type() == ExprType::kFloat ||
          e.operands()[1].type() == ExprType::kFloat) {
        return {ComparisonRules(), FloatComparisonRules()};
      }
      return {ComparisonRules(), PowerComparisonRules()};
    case ExprKind::kFloor:
    case ExprKind::kCeil:
    case ExprKind::kTrunc:
      return {RoundingRules(), {}};
    default:
      if (e.type() == ExprType::kBool) return {ConditionRules(), {}};
      return {};
  }
}

std::optional<Expr> Apply(const Tables& tables, const FactRuleInput& in) {
  if (std::optional<Expr> result = ApplyFactRules(tables.first, in)) return result;
  return ApplyFactRules(tables.second, in);
}

// One term of a sum at a time.
Expr RefineSum(Knowledge& k, const Expr& e) {
  if (e.node()->plain) return e;
  for (const Expr& operand : e.operands()) {
    if (operand.operands().empty()) continue;
    const std::optional<Expr> refined =
        Apply({TermRules(), PowerProductRules()}, {k, k.context(), operand, operand.operands()});
    if (!refined) continue;
    Polynomial rest = ToPolynomial(e);
    rest = AddScaled(rest, ToPolynomial(operand), -1);
    return FromPolynomial(k.context(), AddScaled(rest, ToPolynomial(*refined), 1));
  }
  return e;
}

// What became of the operations of one expression: a list while there are few.
class Results {
 public:
  const Expr* Find(const Expr& e) const {
    for (const auto& [of, result] : few_) {
      if (of == e) return &result;
    }
    const auto it = many_.find(e);
    return it == many_.end() ? nullptr : &it->second;
  }
  void Keep(const Expr& e, const Expr& result) {
    if (few_.size() < kFew) {
      few_.push_back({e, result});
    } else {
      many_.emplace(e, result);
    }
  }

 private:
  static constexpr size_t kFew = 8;
  absl::InlinedVector<std::pair<Expr, Expr>, kFew> few_;
  absl::flat_hash_map<Expr, Expr> many_;
};

// With `open` its bounds are known not to leave one value.
Expr Refine(Knowledge& k, const Expr& e, bool open) {
  if (e.type() == ExprType::kFloat) return e;
  if (k.AllVaries() && IsSmallPolynomial(e, 2)) return e;
  const FactRuleInput in = {k, k.context(), e, e.operands()};
  if (!open) {
    if (const auto value = ApplyFactRules(ValueRules(), in)) return *value;
  }
  if (e.kind() == ExprKind::kAdd) return RefineSum(k, e);
  return Apply(RulesOf(e), in).value_or(e);
}

}  // namespace

// The common case of a question, without a rewritten expression.
std::optional<bool> Knowledge::ByBounds(const Expr& condition) {
  if (!replacements_.empty() || condition.type() != ExprType::kBool) return std::nullopt;
  if (condition.AsBool()) return condition.AsBool();
  const std::optional<int64_t> truth = OnlyValue(RangeOf(condition));
  return truth ? std::optional<bool>(*truth != 0) : std::nullopt;
}

Expr Knowledge::Simplify(const Expr& original) {
  if (original.node() == nullptr || original.node()->context == nullptr) return original;
  if (const Expr* known = simplify_memo_.Find(original, version_)) return *known;
  if (const std::optional<bool> truth = ByBounds(original)) return Expr::Bool(*truth);
  const Question question(*this);
  const auto leaf = [&](const Expr& e) -> Expr {
    if (!e.is_symbol()) return e;
    if (!replacements_.empty()) {
      const auto replaced = replacements_.find(e);
      if (replaced != replacements_.end()) return replaced->second;
    }
    const std::optional<int64_t> value = OnlyValue(BoundOfSymbol(e));
    return value ? Expr(*value) : e;
  };
  const auto stands = [this](const Expr& e) {
    return AllVaries() && (e.node()->plain || ComparesSmallPolynomials(e));
  };
  const auto pass = [&](const Expr& root) -> Expr {
    Results done;
    const auto is_done = [&](const Expr& e) {
      return e.operands().empty() || done.Find(e) != nullptr;
    };
    const auto visit = [&](const Expr& e) {
      if (const Expr* known = simplify_memo_.Find(e, version_)) {
        done.Keep(e, *known);
        return;
      }
      Expr result = e;
      if (!stands(e)) {
        absl::InlinedVector<Expr, 8> operands;
        for (const Expr& o : e.operands()) {
          operands.push_back(o.operands().empty() ? leaf(o) : *done.Find(o));
        }
        if (absl::MakeSpan(operands) != e.operands()) result = context_->Make(e.kind(), operands);
      }
      for (int i = 0; i < kRefinements && !result.operands().empty(); ++i) {
        const bool open = result == original && original.type() == ExprType::kBool;
        const Expr refined = Refine(*this, result, open && replacements_.empty());
        if (refined == result) break;
        result = refined;
      }
      if (result.IsOverflow()) result = e;  // undefined for all values: nothing to gain
      done.Keep(e, result);
      if (result == e && e != original) simplify_memo_.Store(e, version_, e);
    };
    VisitOperandsFirst(root, is_done, visit, stands);
    return root.operands().empty() ? leaf(root) : *done.Find(root);
  };
  Expr e = original;
  for (int i = 0; i < kPasses; ++i) {
    const Expr next = pass(e);
    if (next == e) break;
    e = next;
  }
  simplify_memo_.Store(original, version_, e);
  return e;
}

}  // namespace lathe::symbolic
