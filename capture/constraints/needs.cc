#include "capture/constraints/needs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "capture/constraints/try_values.h"
#include "symbolic/evaluate.h"
#include "symbolic/explain.h"

namespace lathe {
namespace {

using symbolic::Expr;
using symbolic::ExprKind;
using symbolic::Guard;
using symbolic::Range;
using symbolic::ShapeEnv;
using symbolic::Source;
using Kind = DimSpec::Kind;

// A dim with so many values is tried value by value.
constexpr int64_t kMostValues = 4096;
// With so few values each is asked for, whether what names other symbols rules it out.
constexpr size_t kMostQuestions = 128;
// A set of so many values is told to the proofs about other dims.
constexpr size_t kMostOfASet = 64;

using Wide = __int128;

Wide FloorModulo(Wide a, Wide b) {
  const Wide r = a % b;
  return r < 0 ? r + b : r;
}

// x with a*x = 1 modulo m, of numbers without a common divisor.
Wide InverseOf(Wide a, Wide m) {
  Wide x = 1, y = 0, b = m;
  a = FloorModulo(a, m);
  while (b != 0) {
    const Wide q = a / b;
    std::swap(a, b);
    b -= q * a;
    std::swap(x, y);
    y -= q * x;
  }
  return FloorModulo(x, m);
}

// c*s + k = r modulo m.
std::optional<Congruence> Solve(int64_t c, int64_t k, int64_t m, int64_t r) {
  if (m <= 0 || c == 0) return std::nullopt;
  const Wide right = FloorModulo(Wide{r} - k, m);
  const Wide left = FloorModulo(c, m);
  const auto common = static_cast<int64_t>(std::gcd(static_cast<int64_t>(left), m));
  if (right % common != 0) return std::nullopt;
  const int64_t modulus = m / common;
  if (modulus == 1) return Congruence{};
  const Wide x = right / common % modulus * InverseOf(left / common, modulus) % modulus;
  return Congruence{modulus, static_cast<int64_t>(x)};
}

// factor and constant of a sum factor*s + constant.
std::optional<std::pair<int64_t, int64_t>> LinearIn(const Expr& e, const Expr& s,
                                                    symbolic::ExprContext& context) {
  const std::optional<int64_t> k = symbolic::Substitute(e, {{s, Expr(0)}}, context).AsInt();
  const std::optional<int64_t> one = symbolic::Substitute(e, {{s, Expr(1)}}, context).AsInt();
  int64_t c;
  if (!k || !one || __builtin_sub_overflow(*one, *k, &c) || s * c + *k != e) return std::nullopt;
  return std::make_pair(c, *k);
}

void AddUnique(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const std::string& line : from) {
    if (std::find(to.begin(), to.end(), line) == to.end()) to.push_back(line);
  }
}

// What was asked for is no reason for what is needed.
std::vector<std::string> ReasonsOf(const symbolic::Proof& proof) {
  std::vector<std::string> lines;
  for (const symbolic::KnownFact& fact : proof.reasons) {
    if (fact.origin == symbolic::Origin::kRange || fact.asker.node == kSpecificationAsker) continue;
    lines.push_back(fact.text);
  }
  return lines;
}

std::string TextOf(const Guard& g) {
  return absl::StrCat(symbolic::ToString(g.condition), ": guard", g.asker.ToString());
}

bool Mentions(const std::vector<Expr>& symbols, const Expr& s) {
  return std::find(symbols.begin(), symbols.end(), s) != symbols.end();
}

class Analysis {
 public:
  Analysis(const ShapeEnv& env, absl::Span<const AskedSymbol> symbols,
           absl::Span<const Expr> conditions)
      : env_(env), symbols_(symbols), conditions_(conditions) {
    needs_.dims.resize(symbols.size());
    for (const symbolic::KnownFact& f : env.history()) {
      if (f.origin == symbolic::Origin::kPrecondition || f.origin == symbolic::Origin::kAssertion) {
        symbolic::CollectFreeSymbols(f.condition, in_facts_);
      }
    }
    for (const Guard& g : env.guards()) {
      if (g.asker.node == kSpecificationAsker) continue;
      std::vector<Expr> of = symbolic::FreeSymbols(g.condition);
      const bool named = std::all_of(of.begin(), of.end(), [&](const Expr& s) {
        const std::optional<size_t> i = IndexOf(s);
        return i && symbols_[*i].kind == Kind::kNamed;
      });
      (named ? named_ : mixed_).push_back({g, std::move(of), false});
    }
  }

  Needs Find() {
    for (size_t i = 0; i < symbols_.size(); ++i) FindCandidates(i);
    TryComponents();
    for (size_t i = 0; i < symbols_.size(); ++i) {
      if (!needs_.dims[i].is_tried) FindBounds(i);
    }
    FindRelations();
    return std::move(needs_);
  }

 private:
  struct Condition {
    Guard guard;
    std::vector<Expr> symbols;
    bool is_tried;
  };

  std::optional<size_t> IndexOf(const Expr& e) const {
    for (size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i].expr == e) return i;
    }
    return std::nullopt;
  }

  // ---- few values

  void FindCandidates(size_t i) {
    const AskedSymbol& s = symbols_[i];
    candidates_.push_back({s.expr, s.allowed, {}});
    if (s.kind != Kind::kNamed) return;
    std::vector<int64_t>& values = candidates_.back().values;
    const Range& r = s.granted;
    if (values.empty() && r.lower != Range::kMin && r.upper != Range::kMax &&
        static_cast<uint64_t>(r.upper) - static_cast<uint64_t>(r.lower) <
            static_cast<uint64_t>(kMostValues)) {
      for (int64_t v = r.lower; v <= r.upper; ++v) values.push_back(v);
    }
    const Range left = env_.RangeOf(s.expr);
    const bool asks = values.size() <= kMostQuestions && IsNamedByOthers(s.expr);
    for (const int64_t v : values) {
      if (left.Contains(v) && (!asks || IsPossible(s.expr, v))) {
        candidates_.back().possible.push_back(v);
      }
    }
  }

  // Guards with automatic dims, and what else is known.
  bool IsNamedByOthers(const Expr& s) const {
    return Mentions(in_facts_, s) ||
           std::any_of(mixed_.begin(), mixed_.end(),
                       [&](const Condition& c) { return Mentions(c.symbols, s); });
  }

  bool IsPossible(const Expr& s, int64_t v) const {
    if (env_.IsKnownFalse(Eq(s, v))) return false;
    // With the value in its place a guard may be seen to have no solution: 24 = 5*t.
    ShapeEnv others(env_.shared_context());
    std::vector<Expr> of;
    for (const Condition& c : mixed_) {
      if (Mentions(c.symbols, s)) of.insert(of.end(), c.symbols.begin(), c.symbols.end());
    }
    for (const Expr& e : of) {
      const Range r = e == s ? Range{v, v} : env_.RangeOf(e);
      if (e.symbol_kind() == symbolic::SymbolKind::kUnbacked) {
        others.AddUnbacked(e.symbol_name(), Source(), r);
      } else {
        others.AddBacked(e.symbol_name(), Source(), std::nullopt, r);
      }
    }
    for (const Condition& c : mixed_) {
      if (Mentions(c.symbols, s) && !others.AddFact(c.guard.condition).ok()) return false;
    }
    return true;
  }

  // Dims that conditions tie together are tried together.
  void TryComponents() {
    std::vector<size_t> group(symbols_.size());
    std::iota(group.begin(), group.end(), size_t{0});
    const auto root = [&](size_t i) {
      while (group[i] != i) i = group[i];
      return i;
    };
    std::vector<std::vector<Expr>> all;
    for (const Condition& c : named_) all.push_back(c.symbols);
    for (const Expr& c : conditions_) all.push_back(symbolic::FreeSymbols(c));
    for (const std::vector<Expr>& of : all) {
      for (const Expr& e : of) {
        const std::optional<size_t> a = IndexOf(of[0]), b = IndexOf(e);
        if (a && b) group[root(*a)] = root(*b);
      }
    }
    for (size_t g = 0; g < symbols_.size(); ++g) {
      std::vector<size_t> members;
      bool all_few = true;
      for (size_t i = 0; i < symbols_.size(); ++i) {
        if (root(i) != g) continue;
        members.push_back(i);
        all_few = all_few && !candidates_[i].values.empty();
      }
      if (!members.empty() && all_few && TryComponent(members)) continue;
      for (const size_t i : members) {  // each alone; what ties them together is left to proofs
        if (!candidates_[i].values.empty()) TryComponent({i});
      }
    }
  }

  // False: nothing was found.
  bool TryComponent(const std::vector<size_t>& members) {
    std::vector<CandidateValues> values;
    for (const size_t i : members) values.push_back(candidates_[i]);
    const auto is_inside = [&](const std::vector<Expr>& of) {
      return !of.empty() && std::all_of(of.begin(), of.end(), [&](const Expr& e) {
        return std::any_of(members.begin(), members.end(),
                           [&](size_t i) { return symbols_[i].expr == e; });
      });
    };
    std::vector<Expr> asked, needed;
    for (const Expr& c : conditions_) {
      if (is_inside(symbolic::FreeSymbols(c))) asked.push_back(c);
    }
    std::vector<Condition*> conditions;
    for (Condition& c : named_) {
      if (!is_inside(c.symbols)) continue;
      conditions.push_back(&c);
      needed.push_back(c.guard.condition);
    }
    const std::optional<TriedValues> tried = TryAll(values, asked, needed);
    if (!tried) return false;
    for (size_t k = 0; k < members.size(); ++k) {
      DimNeeds& dim = needs_.dims[members[k]];
      if (tried->good[k].empty()) return false;  // nothing holds: left to ranges
      dim.asked = tried->asked[k];
      dim.good = tried->good[k];
    }
    for (const size_t i : members) needs_.dims[i].is_tried = true;
    for (size_t k = 0; k < conditions.size(); ++k) {
      conditions[k]->is_tried = true;
      if (tried->fails_still[k]) needs_.relations.push_back(conditions[k]->guard);
      if (!tried->fails[k]) continue;
      for (const size_t i : members) {
        if (!Mentions(conditions[k]->symbols, symbols_[i].expr)) continue;
        AddUnique({TextOf(conditions[k]->guard)}, needs_.dims[i].reasons);
        DimNeeds& dim = needs_.dims[i];
        const bool alone = conditions[k]->symbols.size() == 1;
        (alone ? dim.conditions : dim.shared_conditions).push_back(conditions[k]->guard.condition);
      }
    }
    for (const size_t i : members) FinishTried(i);
    return true;
  }

  void FinishTried(size_t i) {
    DimNeeds& dim = needs_.dims[i];
    if (dim.good == dim.asked) {
      dim.reasons.clear();
      return;
    }
    if (dim.good.size() == 1) dim.constant = dim.good[0];
    if (!dim.reasons.empty()) return;
    const Expr& s = symbols_[i].expr;
    for (const int64_t v : dim.asked) {
      if (std::binary_search(dim.good.begin(), dim.good.end(), v)) continue;
      AddUnique(ReasonsOf(symbolic::Explain(env_, Ne(s, v))), dim.reasons);
      if (!dim.reasons.empty()) return;
    }
    for (const Condition& c : mixed_) {
      if (Mentions(c.symbols, s)) AddUnique({TextOf(c.guard)}, dim.reasons);
    }
  }

  // ---- many values

  void FindBounds(size_t i) {
    const AskedSymbol& s = symbols_[i];
    DimNeeds& dim = needs_.dims[i];
    const Expr simple = env_.Simplify(s.expr);
    dim.constant = simple.AsInt();
    dim.range = env_.RangeOf(s.expr);
    if (s.kind == Kind::kAuto) return;
    if (dim.constant) {
      dim.reasons = ReasonsOf(symbolic::Explain(env_, Eq(s.expr, *dim.constant)));
      return;
    }
    if (s.kind != Kind::kNamed) return;
    const Range& asked = s.granted;
    if (dim.range.lower > asked.lower) {
      AddUnique(ReasonsOf(symbolic::Explain(env_, Le(dim.range.lower, s.expr))), dim.reasons);
    }
    if (dim.range.upper < asked.upper) {
      AddUnique(ReasonsOf(symbolic::Explain(env_, Le(s.expr, dim.range.upper))), dim.reasons);
    }
    dim.congruence = CongruenceOf(env_, s.expr);
    if (dim.congruence.modulus > 1) {
      const Expr holds = Eq(Mod(s.expr, dim.congruence.modulus), dim.congruence.remainder);
      AddUnique(ReasonsOf(symbolic::Explain(env_, holds)), dim.reasons);
      if (dim.reasons.empty()) dim.congruence = {};  // the specification says it
    }
  }

  void FindRelations() {
    const bool all_tried =
        std::all_of(named_.begin(), named_.end(), [](const Condition& c) { return c.is_tried; });
    if (all_tried) return;
    ShapeEnv known(env_.shared_context());
    for (size_t i = 0; i < symbols_.size(); ++i) TellWhatIsLeft(i, known);
    for (const Expr& c : conditions_) known.AddFact(c).IgnoreError();
    for (const Condition& c : named_) {
      if (c.is_tried || known.IsKnownTrue(c.guard.condition)) continue;
      needs_.relations.push_back(c.guard);
      known.AddFact(c.guard.condition, c.guard.asker).IgnoreError();
    }
  }

  void TellWhatIsLeft(size_t i, ShapeEnv& known) const {
    const Expr& s = symbols_[i].expr;
    const DimNeeds& dim = needs_.dims[i];
    const Range range = dim.is_tried ? Range{dim.good.front(), dim.good.back()} : dim.range;
    known.AddBacked(s.symbol_name(), Source(), std::nullopt, range);
    if (dim.constant) known.AddFact(Eq(s, *dim.constant)).IgnoreError();
    if (dim.is_tried && dim.good.size() <= kMostOfASet && StepOf(dim.good) != 1) {
      std::vector<Expr> cases;
      for (const int64_t v : dim.good) cases.push_back(Eq(s, v));
      known.AddFact(env_.context().Make(ExprKind::kOr, cases)).IgnoreError();
    }
    if (dim.congruence.modulus > 1) {
      known.AddFact(Eq(Mod(s, dim.congruence.modulus), dim.congruence.remainder)).IgnoreError();
    }
  }

  const ShapeEnv& env_;
  absl::Span<const AskedSymbol> symbols_;
  absl::Span<const Expr> conditions_;
  std::vector<Condition> named_, mixed_;  // of named dims alone, with others
  std::vector<Expr> in_facts_;            // symbols in what is known besides guards
  std::vector<CandidateValues> candidates_;
  Needs needs_;
};

}  // namespace

std::optional<Congruence> Combine(const Congruence& a, const Congruence& b) {
  // a.remainder + a.modulus*t = b.remainder modulo b.modulus
  const std::optional<Congruence> t = Solve(a.modulus, a.remainder, b.modulus, b.remainder);
  if (!t) return std::nullopt;
  const Wide modulus = Wide{a.modulus} * t->modulus;
  if (modulus > INT64_MAX) return std::nullopt;
  const Wide remainder = FloorModulo(a.remainder + Wide{a.modulus} * t->remainder, modulus);
  return Congruence{static_cast<int64_t>(modulus), static_cast<int64_t>(remainder)};
}

Congruence CongruenceOf(const ShapeEnv& env, const Expr& s) {
  Congruence all;
  const int64_t divisor = env.KnownDivisor(s);
  if (divisor > 1) all.modulus = divisor;
  for (const Guard& g : env.guards()) {
    const absl::Span<const Expr> parts = g.condition.kind() == ExprKind::kAnd
                                             ? g.condition.operands()
                                             : absl::MakeConstSpan(&g.condition, 1);
    for (const Expr& part : parts) {
      if (part.kind() != ExprKind::kEq) continue;
      for (int side = 0; side < 2; ++side) {
        const Expr &mod = part.operands()[side], &other = part.operands()[1 - side];
        const std::optional<int64_t> remainder = other.AsInt();
        if (!remainder || mod.kind() != ExprKind::kMod) continue;
        const std::optional<int64_t> m = mod.operands()[1].AsInt();
        const auto linear = LinearIn(mod.operands()[0], s, env.context());
        if (!m || !linear) continue;
        const auto solved = Solve(linear->first, linear->second, *m, *remainder);
        const auto both = solved ? Combine(all, *solved) : std::nullopt;
        if (both) all = *both;
      }
    }
  }
  return all;
}

std::optional<int64_t> StepOf(absl::Span<const int64_t> values) {
  if (values.size() < 2) return std::nullopt;
  int64_t step;
  if (__builtin_sub_overflow(values[1], values[0], &step)) return std::nullopt;
  for (size_t i = 2; i < values.size(); ++i) {
    if (values[i] - step != values[i - 1]) return std::nullopt;
  }
  return step;
}

bool DimNeeds::Differs(const AskedSymbol& symbol) const {
  if (symbol.kind != Kind::kNamed) return symbol.kind == Kind::kDynamic && constant.has_value();
  if (is_tried) return good != asked;
  if (symbol.allowed.size() == 1) return false;
  return constant || range != symbol.granted || congruence.modulus > 1;
}

Needs NeedsOf(const ShapeEnv& env, absl::Span<const AskedSymbol> symbols,
              absl::Span<const Expr> conditions) {
  return Analysis(env, symbols, conditions).Find();
}

}  // namespace lathe
