#include "symbolic/guard_predicate.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"
#include "symbolic/known_facts.h"

namespace lathe::symbolic {
namespace {

// With more guards than this, one is compared with those that came later only.
constexpr size_t kMostCompared = 64;
// The last so many are looked at with proofs, the others by ranges.
constexpr size_t kMostProofs = 256;

}  // namespace

class PredicateBuilder {
 public:
  PredicateBuilder(const ShapeEnv& env, absl::Span<const Source> layout) : env_(env) {
    p_.layout_.assign(layout.begin(), layout.end());
    p_.expected_.assign(layout.size(), 0);
    p_.mask_.assign(layout.size(), 0);
    for (size_t i = 0; i < layout.size(); ++i) {
      slot_of_source_.emplace(layout[i], static_cast<uint32_t>(i));
    }
    p_.context_ = env.shared_context();
    for (const Expr& s : env.symbols()) {
      const auto it = slot_of_source_.find(env.source(s));
      if (it != slot_of_source_.end()) slot_of_symbol_.emplace(s, it->second);
    }
    for (const Binding& b : env.bindings()) {
      const auto it = slot_of_source_.find(b.source);
      if (it != slot_of_source_.end() && b.value.is_symbol()) {
        slot_of_symbol_.emplace(b.value, it->second);
      }
    }
    SolveForOthers();
  }

  absl::StatusOr<GuardPredicate> Build() {
    for (const Binding& b : env_.bindings()) LATHE_RETURN_IF_ERROR(AddBinding(b));
    std::vector<Expr> ranges;
    for (const Expr& s : env_.symbols()) {
      if (s.symbol_kind() != SymbolKind::kBacked) continue;
      const Range r = env_.RangeOf(s);
      const auto slot = slot_of_symbol_.find(s);
      const bool is_solved = solved_.contains(s);
      if ((slot == slot_of_symbol_.end() && !is_solved) || r == Range{}) continue;
      const std::vector<Expr> facts = RangeFacts(s, r);
      ranges.insert(ranges.end(), facts.begin(), facts.end());
      if (!is_solved) {
        p_.ranges_.push_back({slot->second, r.lower, r.upper});
        continue;
      }
      for (const Expr& fact : facts) {
        LATHE_RETURN_IF_ERROR(AddProgram({fact, {}, fact}, std::nullopt));
      }
    }
    for (const Guard& g : NeededGuards(ranges)) LATHE_RETURN_IF_ERROR(AddCondition(g));
    return std::move(p_);
  }

 private:
  // Symbols without a place: where a number is c*s + rest, s is (number - rest)/c. That it divides
  // is what the binding checks.
  void SolveForOthers() {
    ExprContext& context = env_.context();
    for (bool found = true; found;) {
      found = false;
      for (const Binding& b : env_.bindings()) {
        const auto slot = slot_of_source_.find(b.source);
        std::optional<Expr> unknown;
        size_t unknowns = 0;
        for (const Expr& s : FreeSymbols(b.value)) {
          if (slot_of_symbol_.contains(s) || solved_.contains(s)) continue;
          unknown = s;
          ++unknowns;
        }
        if (unknowns != 1 || slot == slot_of_source_.end() || b.value.is_symbol()) continue;
        const Expr rest = Substitute(b.value, {{*unknown, 0}}, context);
        const Expr factor = Substitute(b.value, {{*unknown, 1}}, context) - rest;
        const std::optional<int64_t> c = factor.AsInt();
        if (!c || *c == 0 || *unknown * factor + rest != b.value) continue;
        const Expr number = context.Symbol(absl::StrCat("the ", b.source.ToString()));
        slot_of_symbol_.emplace(number, slot->second);
        solved_.emplace(*unknown, FloorDiv(number - Solved(rest), factor));
        found = true;
      }
    }
  }
  Expr Solved(const Expr& e) const {
    return solved_.empty() ? e : Substitute(e, solved_, env_.context());
  }

  // From the last to the first, so that "s0 <= 16" drops an earlier "s0 <= 64"; what came before
  // has already been used when the guard was asked for.
  std::vector<Guard> NeededGuards(const std::vector<Expr>& ranges) {
    std::vector<Guard> needed;
    std::unique_ptr<Knowledge> k = Combine(&env_.context(), {}, ranges);
    const std::vector<Guard>& all = env_.guards();
    std::vector<Expr> learned = ranges;
    for (size_t i = all.size(); i-- > 0;) {
      const Expr condition =
          k == nullptr ? all[i].condition : k->WithReplacements(all[i].condition);
      const bool implied = k != nullptr && (all.size() - i <= kMostProofs
                                                ? k->Decide(condition) == true
                                                : k->Simplify(condition) == Expr::Bool(true));
      if (implied) {
        ++p_.dropped_;
        continue;
      }
      needed.push_back(all[i]);
      learned.push_back(all[i].condition);
      if (k == nullptr) continue;
      if (k->Solve(condition)) {
        k = Combine(&env_.context(), {}, learned);
      } else if (!k->Learn(condition)) {
        k = nullptr;
      }
    }
    std::reverse(needed.begin(), needed.end());
    if (needed.size() <= kMostCompared) DropImplied(ranges, needed);
    return needed;
  }

  void DropImplied(const std::vector<Expr>& ranges, std::vector<Guard>& needed) {
    for (size_t i = 0; i < needed.size();) {
      std::vector<Expr> others = ranges;
      for (size_t j = 0; j < needed.size(); ++j) {
        if (j != i) others.push_back(needed[j].condition);
      }
      const std::unique_ptr<Knowledge> k = Combine(&env_.context(), {}, others);
      if (k != nullptr && k->Decide(k->WithReplacements(needed[i].condition)) == true) {
        needed.erase(needed.begin() + static_cast<int64_t>(i));
        ++p_.dropped_;
      } else {
        ++i;
      }
    }
  }

  absl::Status AddBinding(const Binding& b) {
    const auto at = slot_of_source_.find(b.source);
    if (at == slot_of_source_.end()) {
      return InvalidArgument("the program depends on ", b.source.ToString(),
                             ", which is not among the packed values");
    }
    const uint32_t slot = at->second;
    if (const std::optional<int64_t> v = b.value.AsInt()) {
      p_.expected_[slot] = *v;
      p_.mask_[slot] = -1;
      return absl::OkStatus();
    }
    const std::optional<uint32_t> own = SlotOf(b.value);
    if (own) {
      if (*own != slot) AddEqual(slot, *own);
      return absl::OkStatus();
    }
    if (b.value.symbol_kind() == SymbolKind::kUnbacked) return absl::OkStatus();
    const absl::Span<const Expr> x = b.value.operands();
    if (b.value.kind() == ExprKind::kMul && x.size() == 2 && SlotOf(x[0]) && SlotOf(x[1])) {
      p_.products_.push_back({slot, *SlotOf(x[0]), *SlotOf(x[1])});
      return absl::OkStatus();
    }
    return AddProgram({b.value, {b.source.ToString(), ""}, b.value}, slot);
  }

  std::optional<uint32_t> SlotOf(const Expr& e) const {
    const auto it = slot_of_symbol_.find(e);
    if (it == slot_of_symbol_.end()) return std::nullopt;
    return it->second;
  }

  absl::Status AddCondition(const Guard& g) {
    if (AddEquality(g.condition)) return absl::OkStatus();
    return AddProgram(g, std::nullopt);
  }

  // The guard holds, or the value of the slot is that expression.
  absl::Status AddProgram(const Guard& g, std::optional<uint32_t> slot) {
    GuardPredicate::Program program;
    program.condition = Solved(g.condition);
    program.equals = slot;
    Expr missing = 0;
    std::optional<FlatCondition> flat = FlatCondition::Compile(
        program.condition,
        [&](const Expr& s) {
          const std::optional<uint32_t> own = SlotOf(s);
          if (!own) {
            missing = s;
          } else {
            program.slots.emplace(s, *own);
          }
          return own;
        },
        slot);
    if (!flat && missing.is_symbol()) {
      return InvalidArgument("the guard ", ShortText(g.condition), " needs ", ToString(missing),
                             " (", env_.source(missing).ToString(),
                             "), which is not among the packed values");
    }
    if (!flat) {
      return Unimplemented("the guard ", ShortText(g.condition), " has more than ",
                           FlatCondition::kMostRegisters, " operations");
    }
    program.flat = *std::move(flat);
    p_.programs_.push_back(std::move(program));
    p_.guards_.push_back(g);
    return absl::OkStatus();
  }

  bool AddEquality(const Expr& e) {
    if (e.kind() != ExprKind::kEq) return false;
    const auto a = SlotOf(e.operands()[0]), b = SlotOf(e.operands()[1]);
    if (!a || !b) return false;
    AddEqual(*a, *b);
    return true;
  }

  void AddEqual(uint32_t slot, uint32_t of) {
    const auto [it, is_new] = equal_to_.try_emplace(of, p_.equals_.size());
    if (is_new) p_.equals_.push_back({of, {}});
    p_.equals_[it->second].slots.push_back(slot);
  }

  const ShapeEnv& env_;
  GuardPredicate p_;
  absl::flat_hash_map<Source, uint32_t> slot_of_source_;
  absl::flat_hash_map<Expr, uint32_t> slot_of_symbol_;
  absl::flat_hash_map<Expr, Expr> solved_;  // symbols without a slot, in terms of those with one
  absl::flat_hash_map<uint32_t, size_t> equal_to_;  // which of equals_
};

absl::StatusOr<GuardPredicate> GuardPredicate::Compile(const ShapeEnv& env,
                                                       absl::Span<const Source> layout) {
  return PredicateBuilder(env, layout).Build();
}

namespace {

// Four integers, as they lie.
using Lanes = int64_t __attribute__((vector_size(32), aligned(8), may_alias));

// Accumulators by name stay in registers; an array of them would be stored and loaded in each step.
[[gnu::always_inline]] inline int64_t DifferentBits(const int64_t* values, const int64_t* expected,
                                                    const int64_t* mask, size_t n) {
  Lanes a = {}, b = {}, c = {}, d = {};
  const auto* v = reinterpret_cast<const Lanes*>(values);
  const auto* e = reinterpret_cast<const Lanes*>(expected);
  const auto* m = reinterpret_cast<const Lanes*>(mask);
  size_t i = 0;
  for (; i + 16 <= n; i += 16, v += 4, e += 4, m += 4) {
    a |= (v[0] ^ e[0]) & m[0];
    b |= (v[1] ^ e[1]) & m[1];
    c |= (v[2] ^ e[2]) & m[2];
    d |= (v[3] ^ e[3]) & m[3];
  }
  int64_t all = 0;
  for (; i < n; ++i) all |= (values[i] ^ expected[i]) & mask[i];
  const Lanes some = a | b | c | d;
  return all | some[0] | some[1] | some[2] | some[3];
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] int64_t DifferentBitsAvx2(const int64_t* values, const int64_t* expected,
                                                  const int64_t* mask, size_t n) {
  return DifferentBits(values, expected, mask, n);
}
const bool kHasAvx2 = __builtin_cpu_supports("avx2");
#endif

// Of slots that are to have the value of one: four at a time, without branches.
int64_t DifferentFrom(int64_t value, const int64_t* values, absl::Span<const uint32_t> slots) {
  int64_t a = 0, b = 0, c = 0, d = 0;
  size_t i = 0;
  for (; i + 4 <= slots.size(); i += 4) {
    a |= values[slots[i]] ^ value;
    b |= values[slots[i + 1]] ^ value;
    c |= values[slots[i + 2]] ^ value;
    d |= values[slots[i + 3]] ^ value;
  }
  for (; i < slots.size(); ++i) a |= values[slots[i]] ^ value;
  return a | b | c | d;
}

}  // namespace

bool GuardPredicate::ConstantsHold(const int64_t* values) const {
#if defined(__x86_64__)
  if (kHasAvx2) {
    return DifferentBitsAvx2(values, expected_.data(), mask_.data(), expected_.size()) == 0;
  }
#endif
  return DifferentBits(values, expected_.data(), mask_.data(), expected_.size()) == 0;
}

bool GuardPredicate::HoldsOf(const Program& program, const int64_t* values) {
  const std::optional<bool> value = program.flat.ValueOf(values);
  return value ? *value : HoldsInWideNumbers(program, values);
}

// The hints were asked in 128 bits: what leaves 64 on the way must not refuse the example itself.
bool GuardPredicate::HoldsInWideNumbers(const Program& program, const int64_t* values) {
  const absl::StatusOr<int64_t> value =
      Evaluate(program.condition, [&](const Expr& s) -> std::optional<int64_t> {
        const auto it = program.slots.find(s);
        return it == program.slots.end() ? std::nullopt : std::optional(values[it->second]);
      });
  return value.ok() && (program.equals ? *value == values[*program.equals] : *value != 0);
}

bool GuardPredicate::Holds(const int64_t* values) const {
  if (!ConstantsHold(values)) return false;
  int64_t different = 0;
  for (const Equal& e : equals_) different |= DifferentFrom(values[e.of], values, e.slots);
  bool ok = different == 0;
  for (const Product& p : products_) {
    int64_t product;
    ok &= !__builtin_mul_overflow(values[p.b], values[p.c], &product) && product == values[p.a];
  }
  for (const InRange& r : ranges_) {
    ok &= values[r.slot] >= r.lower && values[r.slot] <= r.upper;
  }
  if (!ok) return false;
  for (const Program& p : programs_) {
    if (!HoldsOf(p, values)) return false;
  }
  return true;
}

std::optional<std::string> GuardPredicate::Failure(const int64_t* values) const {
  const auto is = [&](uint32_t slot) {
    return absl::StrCat(layout_[slot].ToString(), " is ", values[slot]);
  };
  for (uint32_t i = 0; i < expected_.size(); ++i) {
    if (((values[i] ^ expected_[i]) & mask_[i]) == 0) continue;
    return absl::StrCat(is(i), ", the program was made for ", expected_[i]);
  }
  for (const Equal& e : equals_) {
    for (const uint32_t slot : e.slots) {
      if (values[slot] == values[e.of]) continue;
      return absl::StrCat(is(slot), ", ", is(e.of), ": the program was made for equal ones");
    }
  }
  for (const Product& p : products_) {
    int64_t product = 0;
    const bool fits = !__builtin_mul_overflow(values[p.b], values[p.c], &product);
    if (fits && product == values[p.a]) continue;
    return absl::StrCat(is(p.a), ", the program was made for the product of ",
                        layout_[p.b].ToString(), " and ", layout_[p.c].ToString());
  }
  for (const InRange& r : ranges_) {
    if (values[r.slot] >= r.lower && values[r.slot] <= r.upper) continue;
    return absl::StrCat(is(r.slot), ", the program was made for ",
                        r.lower == Range::kMin ? "" : absl::StrCat("at least ", r.lower),
                        r.lower == Range::kMin || r.upper == Range::kMax ? "" : " and ",
                        r.upper == Range::kMax ? "" : absl::StrCat("at most ", r.upper));
  }
  for (size_t i = 0; i < programs_.size(); ++i) {
    if (HoldsOf(programs_[i], values)) continue;
    if (const std::optional<uint32_t> slot = programs_[i].equals) {
      return absl::StrCat(is(*slot), ", the program was made for ",
                          ShortText(guards_[i].condition));
    }
    return absl::StrCat("the guard ", ShortText(guards_[i].condition), " does not hold",
                        guards_[i].asker.ToString());
  }
  return std::nullopt;
}

}  // namespace lathe::symbolic
