// The specification under which a program holds.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "capture/constraints/export_constraints.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using symbolic::Expr;
using symbolic::ExprContext;
using symbolic::Guard;
using symbolic::Range;
using symbolic::ShapeEnv;
using symbolic::Source;
using Kind = DimSpec::Kind;

// Each correction is asked again; a second one finds what the first made visible.
constexpr int kMostRounds = 5;
// So many values without a rule are written as a set, more as a condition.
constexpr size_t kMostOfASet = 16;

int64_t FloorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t FloorRemainder(int64_t a, int64_t b) { return a - FloorQuotient(a, b) * b; }

class Corrector {
 public:
  Corrector(const Specification& asked, absl::Span<const AskedSymbol> symbols, const Needs& needs,
            const ShapeEnv& env)
      : asked_(asked), fixed_(asked), symbols_(symbols), needs_(needs), env_(env) {}

  Specification Correct(absl::Span<const Expr> conditions) {
    for (size_t i = 0; i < symbols_.size(); ++i) UseValueOrOther(symbols_[i], needs_.dims[i]);
    for (size_t i = 0; i < symbols_.size(); ++i) CorrectDim(symbols_[i], needs_.dims[i]);
    fixed_.conditions.clear();
    std::vector<Expr> all(conditions.begin(), conditions.end());
    for (const Guard& g : needs_.relations) all.push_back(g.condition);
    all.insert(all.end(), needed_.begin(), needed_.end());
    for (const Expr& c : all) AddCondition(c);
    return std::move(fixed_);
  }

 private:
  // Of a dim that needs no name. First of all, while others have the names they were asked by.
  void UseValueOrOther(const AskedSymbol& s, const DimNeeds& dim) {
    if (s.kind != Kind::kNamed) {
      if (dim.constant) ToValue(fixed_.inputs[s.input].dims[s.dim], *dim.constant);
    } else if (dim.constant && dim.Differs(s)) {
      ReplaceByValue(s.asked_name, *dim.constant);
    } else {
      UseOther(s, dim);
    }
  }

  void CorrectDim(const AskedSymbol& s, const DimNeeds& dim) {
    NamedDim* named = s.kind == Kind::kNamed ? FindNamed(s.asked_name) : nullptr;
    if (named == nullptr || !dim.Differs(s)) return;
    if (s.allowed.empty() && !named->allowed.empty()) return;  // got a set: the next round's
    if (dim.is_tried) {
      UseValues(s, dim, *named);
    } else {
      UseBounds(s, dim, *named);
    }
  }

  // ---- dims by name

  NamedDim* FindNamed(absl::string_view name) {
    for (NamedDim& d : fixed_.dims) {
      if (d.name == name) return &d;
    }
    return nullptr;
  }

  template <typename Change>
  void ForEachUse(absl::string_view name, const Change& change) {
    for (InputSpec& input : fixed_.inputs) {
      for (DimSpec& dim : input.dims) {
        if (dim.kind == Kind::kNamed && dim.name == name) change(dim);
      }
    }
  }

  void Remove(const std::string& name) {
    fixed_.dims.erase(std::remove_if(fixed_.dims.begin(), fixed_.dims.end(),
                                     [&](const NamedDim& d) { return d.name == name; }),
                      fixed_.dims.end());
  }

  static void ToValue(DimSpec& dim, int64_t value) {
    dim.value = dim.kind == Kind::kNamed ? dim.scale * value + dim.offset : value;
    dim.kind = Kind::kValue;
  }

  void ReplaceByValue(const std::string& name, int64_t value) {
    ForEachUse(name, [&](DimSpec& d) { ToValue(d, value); });
    Remove(name);
  }

  // name = a*other + b, everywhere; false where that leaves 64 bits.
  bool Rewrite(const std::string& name, const std::string& other, int64_t a, int64_t b) {
    bool fits = true;
    ForEachUse(name, [&](const DimSpec& d) {
      int64_t scale, offset;
      fits = fits && !__builtin_mul_overflow(d.scale, a, &scale) &&
             !__builtin_mul_overflow(d.scale, b, &offset) &&
             !__builtin_add_overflow(offset, d.offset, &offset);
    });
    if (!fits) return false;
    ForEachUse(name, [&](DimSpec& d) {
      d.offset += d.scale * b;
      d.scale *= a;
      d.name = other;
    });
    return true;
  }

  std::string NewName(const std::string& name) {
    std::string result = absl::StrCat("_", name);
    while (FindNamed(result) != nullptr || asked_.Find(result) != nullptr) result.insert(0, "_");
    return result;
  }

  // ---- what a dim becomes

  // Another dim, times a number and plus one.
  void UseOther(const AskedSymbol& s, const DimNeeds& dim) {
    const Expr simple = env_.Simplify(s.expr);
    const std::vector<Expr> of = symbolic::FreeSymbols(simple);
    if (of.size() != 1 || of[0] == s.expr) return;
    const auto other = std::find_if(symbols_.begin(), symbols_.end(),
                                    [&](const AskedSymbol& k) { return k.expr == of[0]; });
    if (other == symbols_.end() || other->kind != Kind::kNamed) return;
    NamedDim* root = FindNamed(other->asked_name);
    const auto at = [&](int64_t v) {
      return symbolic::Substitute(simple, {{of[0], Expr(v)}}, env_.context()).AsInt();
    };
    const std::optional<int64_t> b = at(0), one = at(1);
    int64_t a;
    if (root == nullptr || !b || !one || __builtin_sub_overflow(*one, *b, &a) || a <= 0 ||
        of[0] * a + *b != simple || !Rewrite(s.asked_name, root->name, a, *b)) {
      return;
    }
    const DimNeeds& root_needs = needs_.dims[static_cast<size_t>(other - symbols_.begin())];
    if (!s.allowed.empty() && !dim.good.empty() &&
        !root_needs.is_tried) {  // this one was asked for value by value
      root->allowed.clear();
      for (const int64_t v : dim.good) {
        if ((v - *b) % a == 0) root->allowed.push_back((v - *b) / a);
      }
      if (!root->allowed.empty()) root->range = {root->allowed.front(), root->allowed.back()};
    }
    Remove(s.asked_name);
  }

  void UseValues(const AskedSymbol& s, const DimNeeds& dim, NamedDim& named) {
    const std::vector<int64_t>& good = dim.good;
    const std::optional<int64_t> step = StepOf(good);
    if (s.allowed.empty() && step == 1) {
      named.range = {good.front(), good.back()};
      return;
    }
    if (s.allowed.empty() && step && good.size() > 2 &&
        UseMultiple(s, {*step, FloorRemainder(good.front(), *step)}, {good.front(), good.back()},
                    named)) {
      return;
    }
    if (!s.allowed.empty() || good.size() <= kMostOfASet) {
      named.allowed = good;
    } else {
      needed_.insert(needed_.end(), dim.conditions.begin(), dim.conditions.end());
      needed_.insert(needed_.end(), dim.shared_conditions.begin(), dim.shared_conditions.end());
    }
    named.range = {good.front(), good.back()};
  }

  void UseBounds(const AskedSymbol& s, const DimNeeds& dim, NamedDim& named) {
    if (dim.congruence.modulus > 1) {
      if (UseMultiple(s, dim.congruence, dim.range, named)) return;
      needed_.push_back(Eq(Mod(s.expr, dim.congruence.modulus), dim.congruence.remainder));
    }
    if (dim.range != s.granted) named.range = dim.range;
  }

  // modulus*root + remainder
  bool UseMultiple(const AskedSymbol& s, const Congruence& c, const Range& range, NamedDim& named) {
    Range root = range;
    if (range.lower != Range::kMin) {
      root.lower = FloorQuotient(range.lower - c.remainder + c.modulus - 1, c.modulus);
    }
    if (range.upper != Range::kMax) {
      root.upper = FloorQuotient(range.upper - c.remainder, c.modulus);
    }
    const std::string name = NewName(s.asked_name);
    if (root.lower >= root.upper || !Rewrite(s.asked_name, name, c.modulus, c.remainder)) {
      return false;
    }
    named.name = name;
    named.range = root;
    return true;
  }

  // ---- conditions, in the names of the corrected specification

  Expr ValueIn(const AskedSymbol& s) {
    const DimSpec& now = fixed_.inputs[s.input].dims[s.dim];
    const DimSpec& before = asked_.inputs[s.input].dims[s.dim];
    const Expr size = now.kind == Kind::kValue ? Expr(now.value)
                                               : names_.Symbol(now.name) * now.scale + now.offset;
    return FloorDiv(size - before.offset, before.scale);
  }

  void AddCondition(const Expr& condition) {
    absl::flat_hash_map<Expr, Expr> values;
    for (const Expr& e : symbolic::FreeSymbols(condition)) {
      for (const AskedSymbol& s : symbols_) {
        if (s.expr == e) values.emplace(e, ValueIn(s));
      }
    }
    const Expr now = symbolic::Substitute(condition, values, names_);
    if (now.AsBool() || now.IsOverflow()) return;
    std::string text = symbolic::ToString(now);
    std::vector<std::string>& all = fixed_.conditions;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }

  const Specification& asked_;
  Specification fixed_;
  absl::Span<const AskedSymbol> symbols_;
  const Needs& needs_;
  const ShapeEnv& env_;
  std::vector<Expr> needed_;
  ExprContext names_;
};

}  // namespace

Specification ExportConstraints::CorrectOnce(const ShapeEnv& env) const {
  const Needs needs = NeedsOf(env, symbols_, conditions_);
  return Corrector(specification_, symbols_, needs, env).Correct(conditions_);
}

absl::StatusOr<ExportConstraints> ExportConstraints::Replay(const ShapeEnv& env,
                                                            const Specification& specification,
                                                            ShapeEnv& other) const {
  const auto hint = [&](const Expr& s) { return env.hint(s); };
  std::vector<std::vector<int64_t>> examples;
  for (const std::vector<Expr>& sizes : sizes_) {
    examples.emplace_back();
    for (const Expr& size : sizes) {
      LATHE_ASSIGN_OR_RETURN(const int64_t example, symbolic::Evaluate(size, hint));
      examples.back().push_back(example);
    }
  }
  LATHE_ASSIGN_OR_RETURN(ExportConstraints c, Declare(specification, examples, other));
  absl::flat_hash_map<Expr, Expr> values;
  for (const AskedSymbol& s : symbols_) {
    const DimSpec& dim = specification_.inputs[s.input].dims[s.dim];
    values.emplace(s.expr, FloorDiv(c.sizes_[s.input][s.dim] - dim.offset, dim.scale));
  }
  for (const Expr& s : env.symbols()) {
    if (values.contains(s)) continue;
    const bool unbacked = s.symbol_kind() == symbolic::SymbolKind::kUnbacked;
    values.emplace(
        s, unbacked ? other.AddUnbacked(s.symbol_name(), Source(), env.RangeOf(s))
                    : other.AddBacked(s.symbol_name(), Source(), env.hint(s), env.RangeOf(s)));
  }
  for (const symbolic::KnownFact& fact : env.history()) {
    if (fact.origin == symbolic::Origin::kRange || fact.asker.node == kSpecificationAsker) continue;
    const Expr now = symbolic::Substitute(fact.condition, values, other.context());
    if (now.AsBool() == true) continue;
    if (fact.origin == symbolic::Origin::kGuard) {
      LATHE_RETURN_IF_ERROR(other.GuardTrue(now, fact.asker).status());
    } else {
      LATHE_RETURN_IF_ERROR(other.AddFact(now, fact.asker));
    }
  }
  return c;
}

ExportConstraints::Correction ExportConstraints::Correct(const ShapeEnv& env) const {
  Correction result = {CorrectOnce(env), {}};
  for (int round = 0; round < kMostRounds; ++round) {
    ShapeEnv other(std::make_shared<ExprContext>());
    const absl::StatusOr<ExportConstraints> c = Replay(env, result.specification, other);
    if (!c.ok()) {
      result.left = {std::string(c.status().message())};
      return result;
    }
    result.left.clear();
    for (const ConstraintViolation& v : c->Violations(other)) {
      result.left.push_back(absl::StrCat(v.dim, ": ", v.needed));
    }
    if (result.left.empty()) return result;
    Specification next = c->CorrectOnce(other);
    if (ToString(next) == ToString(result.specification)) return result;
    result.specification = std::move(next);
  }
  return result;
}

}  // namespace lathe
