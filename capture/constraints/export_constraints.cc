#include "capture/constraints/export_constraints.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"
#include "symbolic/explain.h"

namespace lathe {
namespace {

using symbolic::Expr;
using symbolic::Guard;
using symbolic::Range;
using symbolic::ShapeEnv;
using symbolic::Source;
using Kind = DimSpec::Kind;

std::string RangeText(const Range& r) {
  return absl::StrCat(r.lower == Range::kMin ? "0" : absl::StrCat(r.lower), "..",
                      r.upper == Range::kMax ? "" : absl::StrCat(r.upper));
}

std::vector<std::string> Reasons(const symbolic::Proof& proof) {
  std::vector<std::string> lines;
  for (const symbolic::KnownFact& fact : proof.reasons) {
    // What was asked is no reason for what is needed.
    if (fact.origin != symbolic::Origin::kRange) lines.push_back(fact.text);
  }
  return lines;
}

// s = remainder modulo modulus, as a guard says it.
struct Congruence {
  int64_t modulus = 1, remainder = 0;
};
Congruence CongruenceOf(const ShapeEnv& env, const Expr& s) {
  Congruence c;
  c.modulus = env.KnownDivisor(s);
  if (c.modulus > 1) return c;
  c.modulus = 1;
  for (const Guard& g : env.guards()) {
    const absl::Span<const Expr> x = g.condition.operands();
    if (g.condition.kind() != symbolic::ExprKind::kEq || x.size() != 2) continue;
    for (int side = 0; side < 2; ++side) {
      const Expr& mod = x[side];
      const std::optional<int64_t> remainder = x[1 - side].AsInt();
      if (!remainder || mod.kind() != symbolic::ExprKind::kMod || mod.operands()[0] != s) continue;
      const std::optional<int64_t> d = mod.operands()[1].AsInt();
      if (d && *d > c.modulus) c = {*d, *remainder};
    }
  }
  return c;
}

// scale * name + offset with name = a * other + b.
void Rewrite(DimSpec& dim, const std::string& other, int64_t a, int64_t b) {
  dim.offset += dim.scale * b;
  dim.scale *= a;
  dim.name = other;
}

void ToValue(DimSpec& dim, int64_t value) {
  dim.value = dim.kind == Kind::kNamed ? dim.scale * value + dim.offset : value;
  dim.kind = Kind::kValue;
}

bool OnlyAbout(const std::vector<Expr>& symbols, const Expr& s) {
  return symbols.size() == 1 && symbols[0] == s;
}

}  // namespace

absl::StatusOr<ExportConstraints> ExportConstraints::Declare(
    Specification specification, absl::Span<const std::vector<int64_t>> examples, ShapeEnv& env) {
  ExportConstraints c;
  c.specification_ = std::move(specification);
  const size_t n = c.specification_.inputs.size();
  if (examples.size() != n) {
    return InvalidArgument("the specification has ", n, " inputs, there are ", examples.size(),
                           " examples");
  }
  c.sizes_.resize(n);
  for (size_t i = 0; i < n; ++i) LATHE_RETURN_IF_ERROR(c.DeclareInput(i, examples[i], env));
  return c;
}

absl::Status ExportConstraints::DeclareInput(size_t i, absl::Span<const int64_t> example,
                                             ShapeEnv& env) {
  const InputSpec& input = specification_.inputs[i];
  if (example.size() != input.dims.size()) {
    return InvalidArgument("input ", input.name, ": the specification has ", input.dims.size(),
                           " dimensions, the example ", example.size());
  }
  // Plain names first, so that derived ones find their root.
  sizes_[i].resize(example.size());
  for (const bool plain : {true, false}) {
    for (size_t d = 0; d < example.size(); ++d) {
      const DimSpec& dim = input.dims[d];
      const bool derived = dim.kind == Kind::kNamed && (dim.scale != 1 || dim.offset != 0);
      if (derived == plain) continue;
      LATHE_ASSIGN_OR_RETURN(sizes_[i][d], DeclareDim(i, d, example[d], env));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Expr> ExportConstraints::DeclareDim(size_t i, size_t d, int64_t example,
                                                   ShapeEnv& env) {
  const InputSpec& input = specification_.inputs[i];
  const DimSpec& dim = input.dims[d];
  const Source source = input.is_scalar
                            ? Source::InputScalar(static_cast<int>(i))
                            : Source::InputSize(static_cast<int>(i), static_cast<int>(d));
  Symbol s;
  s.kind = dim.kind;
  s.asked = dim.range;
  s.place = input.is_scalar ? absl::StrCat("input ", input.name)
                            : absl::StrCat("size ", d, " of ", input.name);
  s.input = i;
  s.dim = d;
  switch (dim.kind) {
    case Kind::kStatic:
      env.Bind(source, example);
      return Expr(example);
    case Kind::kValue:
      if (example != dim.value) {
        return InvalidArgument(s.place, " is ", example, " in the example, asked for ", dim.value);
      }
      env.Bind(source, example);
      return Expr(example);
    case Kind::kNamed:
      return DeclareNamed(dim, s, source, example, env);
    default:
      break;
  }
  symbolic::DimChoice choice;
  choice.policy = symbolic::DimPolicy::kDynamic;
  choice.specialize_zero_one = dim.range.lower == Range::kMin;
  choice.range = dim.range;
  choice.range.lower = std::max<int64_t>(choice.range.lower, 0);
  absl::StatusOr<Expr> e = env.BindInput(source, example, choice);
  if (!e.ok()) return InvalidArgument(s.place, ": ", e.status().message());
  if (e->is_const()) {
    if (dim.kind == Kind::kDynamic) {
      return InvalidArgument(s.place, " is ", example,
                             " in the example: a dynamic size needs an example of 2 or more, or "
                             "a range that begins at 0 or 1");
    }
    return e;
  }
  s.expr = *e;
  symbols_.push_back(s);
  return e;
}

absl::StatusOr<Expr> ExportConstraints::DeclareNamed(const DimSpec& dim, const Symbol& like,
                                                     Source source, int64_t example,
                                                     ShapeEnv& env) {
  const NamedDim& named = *specification_.Find(dim.name);
  const bool plain = dim.scale == 1 && dim.offset == 0;
  const auto known = std::find_if(symbols_.begin(), symbols_.end(),
                                  [&](const Symbol& s) { return s.asked_name == dim.name; });
  const int64_t steps = example - dim.offset;
  if (steps % dim.scale != 0) {
    return InvalidArgument(like.place, " is ", example, " in the example, which is no ",
                           ToString(dim));
  }
  const int64_t root_value = steps / dim.scale;
  if (known != symbols_.end()) {
    const int64_t expected = *env.hint(known->expr);
    if (expected != root_value) {
      return InvalidArgument(like.place, " is ", example, " in the example, asked for ",
                             ToString(dim), ", and ", dim.name, " is ", expected, " (",
                             known->place, ")");
    }
    const Expr value = known->expr * dim.scale + dim.offset;
    env.Bind(source, value);
    return value;
  }
  const bool allowed =
      named.allowed.empty() ||
      std::find(named.allowed.begin(), named.allowed.end(), root_value) != named.allowed.end();
  if (!allowed || !named.range.Contains(root_value)) {
    return InvalidArgument(
        like.place, " gives ", dim.name, " = ", root_value, " in the example, asked for ",
        named.allowed.empty() ? RangeText(named.range)
                              : absl::StrCat("one of ", absl::StrJoin(named.allowed, ", ")));
  }
  Range range = named.range;
  if (range.lower == Range::kMin) range.lower = root_value >= 2 ? 2 : 0;
  Symbol s = like;
  s.asked_name = dim.name;
  s.asked = range;
  s.allowed = named.allowed;
  s.expr = env.AddBacked(dim.name, plain ? source : Source(), root_value, range);
  symbols_.push_back(s);
  const Expr value = s.expr * dim.scale + dim.offset;
  env.Bind(source, value);
  return value;
}

const ExportConstraints::Symbol* ExportConstraints::Find(const Expr& e) const {
  const auto it =
      std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.expr == e; });
  return it == symbols_.end() ? nullptr : &*it;
}

std::string ExportConstraints::NameOf(const Symbol& s) const {
  return s.asked_name.empty() ? s.place : absl::StrCat(s.asked_name, " (", s.place, ")");
}

// Constant, a tighter range, a multiple.
void ExportConstraints::CheckSymbol(const ShapeEnv& env, const Symbol& s,
                                    std::vector<ConstraintViolation>& out) const {
  const Expr simple = env.Simplify(s.expr);
  if (const std::optional<int64_t> v = simple.AsInt()) {
    if (s.kind == Kind::kAuto) return;
    out.push_back({NameOf(s), s.kind == Kind::kDynamic ? "dynamic" : RangeText(s.asked),
                   absl::StrCat("the constant ", *v),
                   Reasons(symbolic::Explain(env, Eq(s.expr, *v)))});
    return;
  }
  if (s.kind != Kind::kNamed) return;
  const Range r = env.RangeOf(s.expr);
  if (r != s.asked) {
    std::vector<std::string> reasons;
    if (r.lower > s.asked.lower) reasons = Reasons(symbolic::Explain(env, Le(r.lower, s.expr)));
    if (r.upper < s.asked.upper) {
      for (std::string& line : Reasons(symbolic::Explain(env, Le(s.expr, r.upper)))) {
        reasons.push_back(std::move(line));
      }
    }
    out.push_back({NameOf(s), RangeText(s.asked), RangeText(r), std::move(reasons)});
  }
  const Congruence c = CongruenceOf(env, s.expr);
  if (c.modulus > 1) {
    const Expr holds = Eq(Mod(s.expr, c.modulus), c.remainder);
    out.push_back({NameOf(s), RangeText(s.asked),
                   c.remainder == 0
                       ? absl::StrCat("a multiple of ", c.modulus)
                       : absl::StrCat(c.remainder, " more than a multiple of ", c.modulus),
                   Reasons(symbolic::Explain(env, holds))});
  }
}

std::vector<int64_t> ExportConstraints::AllowedThatHold(const ShapeEnv& env,
                                                        const Symbol& s) const {
  std::vector<int64_t> good;
  for (const int64_t v : s.allowed) {
    bool all = true;
    for (const Guard& g : env.guards()) {
      if (!OnlyAbout(symbolic::FreeSymbols(g.condition), s.expr)) continue;
      const absl::StatusOr<int64_t> value =
          symbolic::Evaluate(g.condition, [&](const Expr&) { return std::optional<int64_t>(v); });
      all = all && value.ok() && *value != 0;
    }
    if (all) good.push_back(v);
  }
  return good;
}

void ExportConstraints::CheckAllowed(const ShapeEnv& env, const Symbol& s,
                                     std::vector<ConstraintViolation>& out) const {
  const std::vector<int64_t> good = AllowedThatHold(env, s);
  if (good == s.allowed) return;
  ConstraintViolation v{NameOf(s),
                        absl::StrCat("one of ", absl::StrJoin(s.allowed, ", ")),
                        absl::StrCat("one of ", absl::StrJoin(good, ", ")),
                        {}};
  for (const Guard& g : env.guards()) {
    if (OnlyAbout(symbolic::FreeSymbols(g.condition), s.expr)) {
      v.reasons.push_back(
          absl::StrCat(symbolic::ToString(g.condition), ": guard", g.asker.ToString()));
    }
  }
  out.push_back(std::move(v));
}

// Guards between dims, and those on one dim that are neither bounds nor multiples. A guard that
// mentions an automatic dim is that dim's own matter, unless it binds the named ones: then their
// ranges have shown it.
void ExportConstraints::CheckRelations(const ShapeEnv& env,
                                       std::vector<ConstraintViolation>& out) const {
  ShapeEnv known(env.shared_context());
  for (const Symbol& s : symbols_) {
    const Source none;
    known.AddBacked(s.expr.symbol_name(), none, std::nullopt, env.RangeOf(s.expr));
    const Congruence c = CongruenceOf(env, s.expr);
    if (c.modulus > 1) {
      known.AddFact(Eq(Mod(s.expr, c.modulus), c.remainder)).IgnoreError();
    }
    if (const auto v = env.Simplify(s.expr).AsInt()) known.AddFact(Eq(s.expr, *v)).IgnoreError();
  }
  for (const Guard& g : env.guards()) {
    if (known.IsKnownTrue(g.condition)) continue;
    std::vector<std::string> names, asked;
    bool own_matter = false;
    for (const Expr& e : symbolic::FreeSymbols(g.condition)) {
      const Symbol* s = Find(e);
      own_matter |= s == nullptr || s->kind != Kind::kNamed;
      if (s == nullptr) continue;
      // Sets were checked value by value.
      own_matter |= !s->allowed.empty() && OnlyAbout(symbolic::FreeSymbols(g.condition), e);
      names.push_back(NameOf(*s));
      asked.push_back(absl::StrCat(s->asked_name, " in ", RangeText(s->asked)));
    }
    if (own_matter) continue;
    out.push_back({absl::StrJoin(names, " and "),
                   absl::StrJoin(asked, ", "),
                   symbolic::ToString(g.condition),
                   {absl::StrCat(symbolic::ToString(g.condition), ": guard", g.asker.ToString())}});
    known.AddFact(g.condition, g.asker).IgnoreError();
  }
}

std::vector<ConstraintViolation> ExportConstraints::Violations(const ShapeEnv& env) const {
  std::vector<ConstraintViolation> violations;
  for (const Symbol& s : symbols_) {
    if (s.allowed.empty()) {
      CheckSymbol(env, s, violations);
    } else {
      CheckAllowed(env, s, violations);
    }
  }
  CheckRelations(env, violations);
  return violations;
}

absl::Status ExportConstraints::Verify(const ShapeEnv& env) const {
  const std::vector<ConstraintViolation> violations = Violations(env);
  if (violations.empty()) return absl::OkStatus();
  std::string text = "the program does not hold for all sizes that were asked for:\n";
  for (const ConstraintViolation& v : violations) {
    absl::StrAppend(&text, "  ", v.dim, ": asked for ", v.asked, ", the program needs ", v.needed,
                    "\n");
    for (const std::string& reason : v.reasons) absl::StrAppend(&text, "    ", reason, "\n");
  }
  absl::StrAppend(&text, "it holds for:\n");
  const std::string corrected = ToString(Corrected(env));
  for (size_t at = 0; at < corrected.size();) {
    const size_t end = corrected.find('\n', at);
    absl::StrAppend(&text, "  ", corrected.substr(at, end - at), "\n");
    at = end + 1;
  }
  return FailedPrecondition(text);
}

Specification ExportConstraints::Corrected(const ShapeEnv& env) const {
  Specification fixed = specification_;
  const auto rewrite = [&](const std::string& name, const auto& change) {
    for (InputSpec& input : fixed.inputs) {
      for (DimSpec& dim : input.dims) {
        if (dim.kind == Kind::kNamed && dim.name == name) change(dim);
      }
    }
  };
  const auto remove = [&](const std::string& name) {
    fixed.dims.erase(std::remove_if(fixed.dims.begin(), fixed.dims.end(),
                                    [&](const NamedDim& d) { return d.name == name; }),
                     fixed.dims.end());
  };
  for (const Symbol& s : symbols_) {
    const Expr simple = env.Simplify(s.expr);
    const std::optional<int64_t> value = simple.AsInt();
    if (s.kind != Kind::kNamed) {
      if (value) ToValue(fixed.inputs[s.input].dims[s.dim], *value);
      continue;
    }
    const auto dim = std::find_if(fixed.dims.begin(), fixed.dims.end(),
                                  [&](const NamedDim& d) { return d.name == s.asked_name; });
    if (dim == fixed.dims.end()) continue;
    if (value) {
      rewrite(s.asked_name, [&](DimSpec& d) { ToValue(d, *value); });
      remove(s.asked_name);
      continue;
    }
    if (!s.allowed.empty()) {
      dim->allowed = AllowedThatHold(env, s);
      if (dim->allowed.size() == 1) {
        const int64_t only = dim->allowed[0];
        rewrite(s.asked_name, [&](DimSpec& d) { ToValue(d, only); });
        remove(s.asked_name);
      }
      continue;
    }
    // A dim that is another one: a*other + b.
    const std::vector<Expr> of = symbolic::FreeSymbols(simple);
    const Symbol* other = of.size() == 1 && of[0] != s.expr ? Find(of[0]) : nullptr;
    if (other != nullptr && !other->asked_name.empty()) {
      const Expr b = symbolic::Substitute(simple, {{of[0], Expr(0)}}, env.context());
      const Expr a =
          env.Simplify(symbolic::Substitute(simple, {{of[0], Expr(1)}}, env.context()) - b);
      if (a.is_const() && b.is_const() && *a.AsInt() > 0 &&
          of[0] * *a.AsInt() + *b.AsInt() == simple) {
        rewrite(s.asked_name,
                [&](DimSpec& d) { Rewrite(d, other->asked_name, *a.AsInt(), *b.AsInt()); });
        remove(s.asked_name);
        continue;
      }
    }
    Range r = env.RangeOf(s.expr);
    const Congruence c = CongruenceOf(env, s.expr);
    if (c.modulus > 1) {
      const std::string root = absl::StrCat("_", s.asked_name);
      rewrite(s.asked_name, [&](DimSpec& d) { Rewrite(d, root, c.modulus, c.remainder); });
      dim->name = root;
      if (r.lower != Range::kMin) r.lower = (r.lower - c.remainder + c.modulus - 1) / c.modulus;
      if (r.upper != Range::kMax) r.upper = (r.upper - c.remainder) / c.modulus;
    }
    if (r != s.asked || c.modulus > 1) dim->range = r;
  }
  return fixed;
}

std::vector<std::pair<Expr, Range>> ExportConstraints::Ranges(const ShapeEnv& env) const {
  std::vector<std::pair<Expr, Range>> ranges;
  for (const Symbol& s : symbols_) {
    if (env.Simplify(s.expr) == s.expr) ranges.push_back({s.expr, env.RangeOf(s.expr)});
  }
  return ranges;
}

}  // namespace lathe
