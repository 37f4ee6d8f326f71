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
    out.push_back({NameOf(s), s.kind == Kind::kDynamic ? "dynamic" : SizeRangeText(s.asked),
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
    out.push_back({NameOf(s), SizeRangeText(s.asked), SizeRangeText(r), std::move(reasons)});
  }
  const Congruence c = CongruenceOf(env, s.expr);
  if (c.modulus > 1) {
    const Expr holds = Eq(Mod(s.expr, c.modulus), c.remainder);
    out.push_back({NameOf(s), SizeRangeText(s.asked),
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
      asked.push_back(absl::StrCat(s->asked_name, " in ", SizeRangeText(s->asked)));
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
