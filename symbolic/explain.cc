#include "symbolic/explain.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "symbolic/evaluate.h"
#include "symbolic/known_facts.h"

namespace lathe::symbolic {
namespace {

std::vector<Expr> ConditionsOf(const std::vector<KnownFact>& facts) {
  std::vector<Expr> conditions;
  for (const KnownFact& f : facts) conditions.push_back(f.condition);
  return conditions;
}

Proof ProofOf(const ShapeEnv& env, const Expr& condition, bool answer) {
  Proof proof;
  proof.answer = answer;
  std::vector<KnownFact> facts = env.history();
  const std::vector<Expr> conditions = ConditionsOf(facts);
  const auto chosen = SufficientFacts(&env.context(), conditions, condition, answer);
  if (!chosen) return proof;  // proved with more facts than are searched
  for (const size_t i : *chosen) proof.reasons.push_back(std::move(facts[i]));
  return proof;
}

}  // namespace

std::string Proof::ToString() const {
  std::string text = !answer ? "unknown" : *answer ? "true" : "false";
  if (reasons.empty()) return text + "\n";
  text += ":\n";
  for (const KnownFact& f : reasons) absl::StrAppend(&text, "  ", f.text, "\n");
  return text;
}

Proof Explain(const ShapeEnv& env, const Expr& condition) {
  if (env.IsKnownTrue(condition)) return ProofOf(env, condition, true);
  if (env.IsKnownFalse(condition)) return ProofOf(env, condition, false);
  return {};
}

Proof ExplainGuard(const ShapeEnv& env, const Guard& guard) {
  Proof all;
  all.answer = true;
  if (guard.asked == guard.condition) return all;
  const std::vector<Expr> kept = FreeSymbols(guard.condition);
  for (const Expr& s : FreeSymbols(guard.asked)) {
    if (std::find(kept.begin(), kept.end(), s) != kept.end()) continue;
    const Expr value = env.Simplify(s);
    if (value == s) continue;
    for (KnownFact& f : Explain(env, Eq(s, value)).reasons) {
      const bool known =
          std::any_of(all.reasons.begin(), all.reasons.end(),
                      [&](const KnownFact& g) { return g.condition == f.condition; });
      if (!known) all.reasons.push_back(std::move(f));
    }
  }
  return all;
}

namespace {

// The hints with one of them moved a little: all facts may hold there too, and then the symbol is
// no constant. Facts that cannot be evaluated count as such that fail.
bool CanMove(const ShapeEnv& env, const std::vector<KnownFact>& facts, const Expr& symbol,
             int64_t to) {
  return std::all_of(facts.begin(), facts.end(), [&](const KnownFact& f) {
    const absl::StatusOr<int64_t> holds = Evaluate(
        f.condition, [&](const Expr& s) { return s == symbol ? std::optional(to) : env.hint(s); });
    return holds.ok() && *holds != 0;
  });
}

// Only a proof shows some constants: "s0*s1 == 15" of sizes with s0 < s1. So many are searched.
constexpr int kMostConstantsToProve = 16;

std::optional<int64_t> ProvedConstant(const ShapeEnv& env, const Expr& symbol, int& proofs) {
  const std::optional<int64_t> hint = env.hint(symbol);
  if (!hint || env.Simplify(symbol) != symbol || proofs >= kMostConstantsToProve) {
    return std::nullopt;
  }
  std::vector<KnownFact> about;
  bool is_bounded_only = true;
  for (KnownFact& f : env.history()) {
    const std::vector<Expr> of = FreeSymbols(f.condition);
    if (std::find(of.begin(), of.end(), symbol) == of.end()) continue;
    is_bounded_only &= f.origin == Origin::kRange;
    about.push_back(std::move(f));
  }
  if (is_bounded_only) return std::nullopt;
  for (const int64_t step : {-1, 1, -2, 2}) {
    if (*hint > 2 && *hint < INT64_MAX - 2 && CanMove(env, about, symbol, *hint + step)) {
      return std::nullopt;
    }
  }
  ++proofs;
  return env.IsKnownTrue(Eq(symbol, *hint)) ? hint : std::nullopt;
}

}  // namespace

std::vector<ConstantSymbol> ExplainConstants(const ShapeEnv& env) {
  std::vector<ConstantSymbol> constants;
  int proofs = 0;
  for (const Expr& s : env.symbols()) {
    std::optional<int64_t> value = env.Simplify(s).AsInt();
    if (!value) value = ProvedConstant(env, s, proofs);
    if (value) constants.push_back({s, *value, ProofOf(env, Eq(s, *value), true)});
  }
  return constants;
}

Proof ExplainConflict(const ShapeEnv& env, const Expr& condition) {
  if (env.IsKnownFalse(condition)) return ProofOf(env, condition, false);
  Proof proof;
  std::vector<KnownFact> facts = env.history();
  facts.push_back({condition, Origin::kPrecondition, {}, absl::StrCat(ToString(condition))});
  const auto chosen = SufficientFacts(&env.context(), ConditionsOf(facts), Expr::Bool(false), true);
  if (!chosen) return proof;
  proof.answer = false;
  for (const size_t i : *chosen) {
    if (i + 1 < facts.size()) proof.reasons.push_back(facts[i]);
  }
  return proof;
}

}  // namespace lathe::symbolic
