// Comparisons with floats that are comparisons of integers.

#include <algorithm>
#include <cmath>
#include <vector>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/float_values.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostSteps = 8;

bool IsInteger(const Expr& e) { return e.type() == ExprType::kInt && !IsInfinite(e); }

// An integer, and what conversions, sums, products and quotients with numbers make of it: each of
// these rises or falls with its operand, rounding included, and so does the whole.
class Chain {
 public:
  static std::optional<Chain> Of(const Expr& root) {
    Chain chain;
    Expr e = root;
    while (chain.steps_.size() < kMostSteps) {
      if (IsInteger(e)) {
        if (e.is_const() || chain.steps_.empty()) return std::nullopt;
        chain.inner_ = e;
        return chain;
      }
      const std::optional<Step> step = StepOf(e);
      if (!step) return std::nullopt;
      chain.steps_.push_back(*step);
      e = step->operand;
    }
    return std::nullopt;
  }

  const Expr& inner() const { return inner_; }

  double ValueAt(int64_t n) const {
    std::optional<double> value;
    for (size_t i = steps_.size(); i-- > 0;) value = Apply(steps_[i], value, n);
    return *value;
  }

 private:
  struct Step {
    ExprKind kind;
    Expr operand, number;
  };

  static std::optional<Step> StepOf(const Expr& e) {
    const absl::Span<const Expr> x = e.operands();
    const auto is_number = [](const Expr& c) {
      return c.AsFloat() && std::isfinite(*c.AsFloat()) && *c.AsFloat() != 0;
    };
    switch (e.kind()) {
      case ExprKind::kToFloat:
        return Step{e.kind(), x[0], 0};
      case ExprKind::kTrueDiv:
        if (!is_number(x[1])) return std::nullopt;
        return Step{e.kind(), x[0], x[1]};
      case ExprKind::kFloatAdd:
      case ExprKind::kFloatMul:
        for (size_t i = 0; i < 2; ++i) {
          if (is_number(x[i])) return Step{e.kind(), x[1 - i], x[i]};
        }
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  // `value` is that of the operand, nothing where it is the integer itself.
  static double Apply(const Step& step, std::optional<double> value, int64_t n) {
    const double x = value.value_or(static_cast<double>(n));
    switch (step.kind) {
      case ExprKind::kTrueDiv:
        if (!value && step.number.is_const()) return DivideIntegers(n, *step.number.AsInt());
        return x / *step.number.AsFloat();
      case ExprKind::kFloatAdd:
        return x + *step.number.AsFloat();
      case ExprKind::kFloatMul:
        return x * *step.number.AsFloat();
      default:
        return x;
    }
  }

  Expr inner_ = 0;
  std::vector<Step> steps_;
};

// The largest n for which `holds` is what it is for the least integer, if it is not so for all.
template <typename Holds>
std::optional<int64_t> LastAlike(Holds holds) {
  const bool first = holds(INT64_MIN);
  if (holds(INT64_MAX) == first) return std::nullopt;
  int64_t low = INT64_MIN, high = INT64_MAX;  // alike, different
  while (static_cast<uint64_t>(high) - static_cast<uint64_t>(low) > 1) {
    const int64_t middle =
        low + static_cast<int64_t>((static_cast<uint64_t>(high) - static_cast<uint64_t>(low)) / 2);
    (holds(middle) == first ? low : high) = middle;
  }
  return low;
}

// `order_at(n)`: of the left side and the right one, which rises or falls.
template <typename OrderAt>
std::optional<Expr> OfOneInteger(ExprKind kind, const Expr& n, OrderAt order_at) {
  const auto holds = [&](ExprKind k) {
    return [&order_at, k](int64_t v) { return HoldsInOrder(k, order_at(v)); };
  };
  if (kind == ExprKind::kLt || kind == ExprKind::kLe) {
    const std::optional<int64_t> last = LastAlike(holds(kind));
    if (!last) return std::nullopt;
    return holds(kind)(INT64_MIN) ? Le(n, *last) : Lt(*last, n);
  }
  const std::optional<int64_t> x = LastAlike(holds(ExprKind::kLt));
  const std::optional<int64_t> y = LastAlike(holds(ExprKind::kLe));
  if (!x || !y) return std::nullopt;
  const int64_t before = std::min(*x, *y), last = std::max(*x, *y);  // equal in between
  const Expr equal = before == last       ? Expr::Bool(false)
                     : before + 1 == last ? Eq(n, last)
                                          : And(Lt(before, n), Le(n, last));
  return kind == ExprKind::kEq ? equal : Not(equal);
}

std::optional<Expr> IntegerWithNumber(const RuleInput& in) {
  const bool first = IsInteger(in.x[0]);
  const Expr &n = in.x[first ? 0 : 1], &c = in.x[first ? 1 : 0];
  if (!IsInteger(n) || n.is_const() || c.kind() != ExprKind::kFloatConst) return std::nullopt;
  if (!std::isfinite(*c.AsFloat())) return std::nullopt;
  const double v = *c.AsFloat();
  return OfOneInteger(in.kind, n, [&](int64_t a) {
    return first ? CompareExactly(a, v) : Opposite(CompareExactly(a, v));
  });
}

std::optional<Expr> RisingWithNumber(const RuleInput& in) {
  const bool first = in.x[1].AsFloat().has_value();
  const Expr &f = in.x[first ? 0 : 1], &c = in.x[first ? 1 : 0];
  const std::optional<double> number = c.AsFloat();
  if (!number || !std::isfinite(*number) || f.type() != ExprType::kFloat) return std::nullopt;
  const std::optional<Chain> chain = Chain::Of(f);
  if (!chain) return std::nullopt;
  const std::optional<int64_t> exact = c.AsInt();
  return OfOneInteger(in.kind, chain->inner(), [&](int64_t n) {
    const double v = chain->ValueAt(n);
    const std::optional<int> order = exact         ? Opposite(CompareExactly(*exact, v))
                                     : v < *number ? std::optional<int>(-1)
                                                   : std::optional<int>(v > *number);
    return first ? order : Opposite(order);
  });
}

// Rounding rises too.
std::optional<Expr> RoundedWithNumber(const RuleInput& in) {
  const bool first = in.x[1].is_const();
  const Expr &r = in.x[first ? 0 : 1], &c = in.x[first ? 1 : 0];
  if (!c.is_const() || r.kind() < ExprKind::kFloor || r.kind() > ExprKind::kRound) {
    return std::nullopt;
  }
  const std::optional<Chain> chain = Chain::Of(r.operands()[0]);
  if (!chain) return std::nullopt;
  const int64_t number = *c.AsInt();
  return OfOneInteger(in.kind, chain->inner(), [&](int64_t n) {
    const double v = chain->ValueAt(n);
    const std::optional<int64_t> rounded = RoundToInteger(r.kind(), v);
    const int order = !rounded            ? (v < 0 ? -1 : 1)
                      : *rounded < number ? -1
                                          : static_cast<int>(*rounded > number);
    return std::optional<int>(first ? order : -order);
  });
}

constexpr Rule kRules[] = {
    {"compare.integer_with_number", "n < 1.5 = n <= 1", "n is an integer", IntegerWithNumber},
    {"compare.rising_with_number", "n / 2 <= 1.5 = n <= 3", "of one integer n, with numbers",
     RisingWithNumber},
    {"compare.rounded_with_number", "floor(n / 2.5) <= 3 = n <= 9",
     "of one integer n, with numbers", RoundedWithNumber},
};

}  // namespace

absl::Span<const Rule> FloatOrderRules() { return kRules; }

}  // namespace lathe::symbolic
