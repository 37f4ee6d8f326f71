#include "symbolic/apply_run.h"

#include <vector>

namespace lathe::symbolic {
namespace {

Fraction SumRun(const Run& run, absl::Span<Fraction> x) {
  for (size_t i = 0; i < run.texts.size(); ++i) {
    if (run.texts[i][0] == '-') x[i + 1].numerator = -x[i + 1].numerator;
  }
  return FindFunction("Add", true)->build(x);
}

Expr Logic(ExprContext& context, ExprKind kind, absl::Span<const Fraction> x) {
  std::vector<Expr> operands;
  for (const Fraction& f : x) operands.push_back(Resolve(f));
  return context.Make(kind, operands);
}

// a < b <= c is a < b and b <= c
Expr CompareRun(ExprContext& context, const Run& run, absl::Span<const Fraction> x) {
  std::vector<Expr> parts;
  for (size_t i = 0; i < run.texts.size(); ++i) {
    parts.push_back(CompareOf(run.texts[i], Resolve(x[i]), Resolve(x[i + 1])));
  }
  return parts.size() == 1 ? parts[0] : context.Make(ExprKind::kAnd, parts);
}

}  // namespace

Fraction ApplyPrefix(absl::string_view op, const Fraction& x) {
  if (op == "not") return {Not(Resolve(x))};
  if (op == "-") return {-x.numerator, x.denominator};
  return x;
}

Fraction ApplyRun(ExprContext& context, const Run& run, absl::Span<Fraction> x) {
  const absl::string_view op = run.texts[0];
  switch (run.level) {
    case kAdd:
      return SumRun(run, x);
    case kAnd:
      return {Logic(context, ExprKind::kAnd, x)};
    case kOr:
      return {Logic(context, ExprKind::kOr, x)};
    case kCompare:
      return {CompareRun(context, run, x)};
    case kPow:
      return PowFraction(x[0], x[1]);
    case kMul:
      if (op == "*") return FindFunction("Mul", true)->build(x);
      if (op == "/" && run.divides_exactly) return FindFunction("Rational", true)->build(x);
      [[fallthrough]];
    default:
      return {BinaryOf(op, Resolve(x[0]), Resolve(x[1]))};
  }
}

}  // namespace lathe::symbolic
