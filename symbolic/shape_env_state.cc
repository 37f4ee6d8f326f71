#include "symbolic/shape_env_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "symbolic/contradiction.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"
#include "symbolic/known_facts.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {
namespace {

// After so many guards for which a proof was searched in vain, those that ranges do not decide are
// recorded though others may imply them: a search costs as much as a hundred guards.
constexpr int kMostFailedProofs = 16;
// The first few of these are searched as long as any question, the others through so many steps.
constexpr int kMostFullProofs = 4;
constexpr int kProofsOfOneGuard = 4;
// Facts of a program are many and do not contradict each other; those of a question are few.
constexpr int kMostVainSearches = 32;
// Of few facts the order in which they come does not matter.
constexpr size_t kMostFactsToReorder = 24;

}  // namespace

std::string RangeText(const Range& r) {
  return absl::StrCat("[", r.lower == Range::kMin ? "-inf" : absl::StrCat(r.lower), ", ",
                      r.upper == Range::kMax ? "inf" : absl::StrCat(r.upper), "]");
}

Expr ShapeEnv::Impl::AddSymbol(absl::string_view name, SymbolKind kind, SymbolInfo symbol_info) {
  const Expr symbol = context->Symbol(name, kind);
  if (!info.contains(symbol)) symbols.push_back(symbol);
  const Range range = symbol_info.range;
  model.SetSymbol(symbol, symbol_info.hint, range);
  info[symbol] = std::move(symbol_info);
  if (knowledge->replacements().contains(symbol)) {
    Rebuild();
  } else {
    knowledge->LimitSymbol(symbol, range);
  }
  return symbol;
}

std::string ShapeEnv::Impl::NameFor(absl::string_view name, SymbolKind kind,
                                    const Source& source) const {
  std::string result(name);
  for (int next = 1;; ++next) {
    const std::optional<Expr> there = context->FindSymbol(result);
    if (!there) return result;
    const auto it = info.find(*there);
    const bool same_kind = there->symbol_kind() == kind;
    if (same_kind && (it == info.end() || it->second.source == source)) return result;
    result = absl::StrCat(name, "_", next);
  }
}

void ShapeEnv::Impl::AssertRange(const Expr& symbol, const Source& source, const Range& range) {
  const bool is_size = source.kind == Source::Kind::kInputSize;
  for (const Expr& fact : RangeFacts(symbol, range)) {
    if (is_size && fact == Le(0, symbol)) continue;
    Assert(fact, {source.ToString(), ""}, "");
  }
}

bool ShapeEnv::Impl::Learn(const Expr& condition, Origin origin, const Asker& asker,
                           const std::optional<FlatCondition>& flat, bool truth) {
  const size_t before = learned.size();
  learned.push_back(condition);
  const Expr current = knowledge->WithReplacements(condition);
  const bool few = origin != Origin::kGuard && learned.size() <= kMostFactsToReorder;
  const Expr simple = few ? knowledge->Simplify(current) : current;
  bool ok = HasSolution(current) ? ReplaceFree(current) || Rebuild() : knowledge->Learn(current);
  if (ok && simple != current && !simple.AsBool() && !simple.IsOverflow()) {
    ok = HasSolution(simple) ? Rebuild() : knowledge->Learn(simple);
  }
  if (ok && origin != Origin::kGuard && ChangesOthers(current)) ok = Rebuild();
  // Of a guard the hints are a proof that it holds together with what they were asked before.
  if (ok && origin != Origin::kGuard) ok = !Contradicts(condition);
  if (ok) {
    sources.push_back({condition, origin, asker, ""});
    if (flat) {
      model.AddFact(condition, *flat, truth);
    } else {
      model.AddFact(condition);
    }
    return true;
  }
  learned.resize(before);
  // Without it too, in another order: from here on any answer is right.
  contradictory = !Rebuild();
  return false;
}

bool ShapeEnv::Impl::Contradicts(const Expr& condition) {
  if (vain_searches >= kMostVainSearches) return false;
  ++vain_searches;
  return FindContradiction(context.get(), Ranges(), learned, condition, *knowledge);
}

bool ShapeEnv::Impl::ReplaceFree(const Expr& condition) {
  const auto solution = knowledge->Solve(condition);
  if (!solution || !knowledge->IsFree(solution->first)) return false;
  const auto it = info.find(solution->first);
  const Range range = it == info.end() ? Range{} : it->second.range;
  knowledge->Replace(solution->first, solution->second);
  for (const Expr& fact : RangeFacts(solution->second, range)) {
    if (!knowledge->Learn(fact)) return false;
  }
  return true;
}

bool ShapeEnv::Impl::ChangesOthers(const Expr& condition) const {
  if (learned.size() < 2 || learned.size() > kMostFactsToReorder) return false;
  return IsBoundOfSymbol(condition) || IsOrderOfTwo(condition);
}

bool ShapeEnv::Impl::IsWorthLearning(const Expr& condition) const {
  if (learned.size() > kMostFactsToReorder) return false;
  if (condition.kind() == ExprKind::kEq) return HasSolution(knowledge->WithReplacements(condition));
  return IsBoundOfSymbol(condition) && !knowledge->ByBounds(condition);
}

bool ShapeEnv::Impl::HasSolution(const Expr& condition) const {
  if (condition.kind() == ExprKind::kAnd) {
    return std::any_of(condition.operands().begin(), condition.operands().end(),
                       [&](const Expr& e) { return knowledge->Solve(e).has_value(); });
  }
  return knowledge->Solve(condition).has_value();
}

std::vector<std::pair<Expr, Range>> ShapeEnv::Impl::Ranges() const {
  std::vector<std::pair<Expr, Range>> ranges;
  for (const Expr& s : symbols) ranges.push_back({s, info.at(s).range});
  return ranges;
}

bool ShapeEnv::Impl::Rebuild() {
  std::unique_ptr<Knowledge> k = Combine(context.get(), Ranges(), learned);
  if (k == nullptr) return false;
  knowledge = std::move(k);
  return true;
}

std::string ShapeEnv::Impl::Known(const Expr& condition) const {
  std::vector<std::string> parts;
  const std::vector<Expr> of = FreeSymbols(condition);
  for (const Expr& s : of) {
    if (parts.size() >= 4) break;
    const auto it = info.find(s);
    if (it != info.end())
      parts.push_back(absl::StrCat(ToString(s), " in ", RangeText(it->second.range)));
  }
  for (const Expr& fact : learned) {
    if (parts.size() >= 8) break;
    const std::vector<Expr> in_fact = FreeSymbols(fact);
    const bool shares = std::any_of(in_fact.begin(), in_fact.end(), [&](const Expr& s) {
      return std::find(of.begin(), of.end(), s) != of.end();
    });
    if (shares) parts.push_back(ShortText(fact));
  }
  return parts.empty() ? "nothing" : absl::StrJoin(parts, ", ");
}

absl::Status ShapeEnv::Impl::AddFact(const Expr& condition, Origin origin, const Asker& asker) {
  if (condition.IsOverflow()) {
    return OutOfRange("a fact overflows 64 bits or is undefined");
  }
  if (condition.type() != ExprType::kBool) {
    return InvalidArgument("a fact must be a condition, not ", ShortText(condition));
  }
  const std::optional<bool> known = knowledge->Decide(condition);
  if (known == true && !contradictory && !IsWorthLearning(condition)) return absl::OkStatus();
  if (known == false || contradictory || !Learn(condition, origin, asker)) {
    const std::string others = Known(condition);
    return OutOfRange("fact ", ShortText(condition), " contradicts what is known: ",
                      others == "nothing" ? "it holds for no values" : others, asker.ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ShapeEnv::Impl::ByHints(const Expr& condition, const Asker& asker) {
  for (const Expr& s : FreeSymbols(condition)) {
    if (s.symbol_kind() == SymbolKind::kBacked) continue;
    const auto it = info.find(s);
    return FailedPrecondition("the data-dependent condition ", ShortText(condition),
                              " cannot be decided: ", ToString(s), " is ",
                              it == info.end() ? "unknown" : it->second.source.ToString(),
                              " and has no value before the program runs", asker.ToString());
  }
  const absl::StatusOr<int64_t> value =
      Evaluate(condition, [&](const Expr& s) -> std::optional<int64_t> {
        const auto it = info.find(s);
        return it == info.end() ? std::nullopt : it->second.hint;
      });
  if (!value.ok()) {
    return Annotate(value.status(), absl::StrCat("condition ", ShortText(condition),
                                                 " cannot be decided", asker.ToString()));
  }
  return *value != 0;
}

absl::StatusOr<bool> ShapeEnv::Impl::GuardTrue(const Expr& condition, const Asker& asker) {
  if (condition.IsOverflow() || condition.type() != ExprType::kBool) {
    return InvalidArgument("not a condition: ", ShortText(condition), asker.ToString());
  }
  // Replaced symbols may remove unbacked ones.
  const Expr simple = knowledge->Simplify(condition);
  if (const std::optional<bool> known = simple.AsBool()) return *known;
  const std::optional<FlatCondition> flat = model.Compile(simple);
  const std::optional<bool> by_hints = flat ? model.ValueOf(*flat) : std::nullopt;
  const bool open =
      by_hints && (failed_proofs >= kMostFailedProofs || model.CanDiffer(simple, *flat, *by_hints));
  if (!open) {
    const int budget =
        failed_proofs < kMostFullProofs ? Knowledge::kProofsOfOneQuestion : kProofsOfOneGuard;
    if (const std::optional<bool> known = knowledge->Decide(condition, budget)) return *known;
    ++failed_proofs;
  }
  bool value = by_hints.value_or(false);
  if (!by_hints) {
    LATHE_ASSIGN_OR_RETURN(value, ByHints(simple, asker));
  }
  if (frozen) {
    return FailedPrecondition("the guard ", ShortText(simple),
                              " is needed, but no guards are made any more", asker.ToString());
  }
  LATHE_RETURN_IF_ERROR(AddGuard(condition, value, asker, flat));
  return value;
}

absl::Status ShapeEnv::Impl::AddGuard(const Expr& condition, bool value, const Asker& asker,
                                      const std::optional<FlatCondition>& flat) {
  Expr guard = value ? condition : Not(condition);
  const Expr asked = guard;
  // What names an unbacked symbol cannot be checked before the program runs.
  if (!knowledge->replacements().empty()) {
    const std::vector<Expr> of = FreeSymbols(guard);
    if (std::any_of(of.begin(), of.end(), IsUnbacked)) guard = knowledge->WithReplacements(guard);
  }
  if (!Learn(guard, Origin::kGuard, asker, flat, value)) {
    return OutOfRange("guard ", ShortText(guard), " contradicts what is known: ", Known(guard),
                      asker.ToString());
  }
  guards.push_back({guard, asker, asked});
  return absl::OkStatus();
}

absl::Status ShapeEnv::Impl::Check(const Expr& condition, const Asker& asker,
                                   absl::string_view message) {
  const std::string words = message.empty() ? "" : absl::StrCat(": ", message);
  if (condition.IsOverflow() || condition.type() != ExprType::kBool) {
    return InvalidArgument("not a condition: ", ShortText(condition), asker.ToString());
  }
  const std::optional<bool> known = knowledge->Decide(condition);
  if (known == true) return absl::OkStatus();
  if (known == false) {
    return OutOfRange("the check ", ShortText(condition), " cannot hold", words,
                      "; known: ", Known(condition), asker.ToString());
  }
  const std::vector<Expr> of = FreeSymbols(knowledge->Simplify(condition));
  if (std::any_of(of.begin(), of.end(), IsUnbacked)) {
    LATHE_RETURN_IF_ERROR(AddFact(condition, Origin::kAssertion, asker));
    Assert(condition, asker, message);
    return absl::OkStatus();
  }
  // A check that fails leaves no guard behind. Without replaced symbols, which may be unbacked.
  const Expr simple = knowledge->Simplify(condition);
  std::optional<bool> holds = model.ValueOf(simple);
  if (!holds) {
    LATHE_ASSIGN_OR_RETURN(holds, ByHints(simple, asker));
  }
  if (*holds) {
    LATHE_ASSIGN_OR_RETURN(holds, GuardTrue(condition, asker));
  }
  if (*holds) return absl::OkStatus();
  return FailedPrecondition("the check ", ShortText(condition), " fails for the example sizes",
                            words, asker.ToString());
}

void ShapeEnv::Impl::Assert(const Expr& condition, const Asker& asker, absl::string_view message) {
  waiting.push_back(assertions.size());
  assertions.push_back({condition, asker, std::string(message)});
}

std::string ShapeEnv::Impl::FreshName(absl::string_view prefix, int& next) {
  std::string name;
  do {
    name = absl::StrCat(prefix, next++);
  } while (context->FindSymbol(name).has_value());
  return name;
}

}  // namespace lathe::symbolic
