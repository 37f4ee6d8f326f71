#ifndef LATHE_SYMBOLIC_SHAPE_ENV_STATE_H_
#define LATHE_SYMBOLIC_SHAPE_ENV_STATE_H_

// The inside of a ShapeEnv: who calls it holds the lock.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "symbolic/hint_model.h"
#include "symbolic/knowledge.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {

struct SymbolInfo {
  Source source;
  std::optional<int64_t> hint;
  Range range;
};

std::string RangeText(const Range& r);  // "[2, inf]"
inline bool IsUnbacked(const Expr& s) { return s.symbol_kind() == SymbolKind::kUnbacked; }

struct ShapeEnv::Impl {
  explicit Impl(std::shared_ptr<ExprContext> c)
      : context(std::move(c)), knowledge(std::make_unique<Knowledge>(context.get())) {}

  Expr AddSymbol(absl::string_view name, SymbolKind kind, SymbolInfo symbol_info);
  // `name`, or "name_1"... where that is a symbol of another source already.
  std::string NameFor(absl::string_view name, SymbolKind kind, const Source& source) const;
  // The running program checks what is assumed of an unbacked number of its caller.
  void AssertRange(const Expr& symbol, const Source& source, const Range& range);
  // Learns `condition`; false if that contradicts. Nothing is kept then. With `flat`: the condition
  // holds where that is `truth`.
  bool Learn(const Expr& condition, Origin origin, const Asker& asker,
             const std::optional<FlatCondition>& flat = std::nullopt, bool truth = true);
  // An equality for a symbol that no fact mentions needs no rebuilding: the common case of a new
  // unbacked symbol. False: not that case, or a contradiction.
  bool ReplaceFree(const Expr& condition);
  bool HasSolution(const Expr& condition) const;
  // `condition` changes what other facts say, so that all are learnt anew.
  bool ChangesOthers(const Expr& condition) const;
  // Known, but by a proof: as a bound or an equality it says it to the tables that proofs start
  // from.
  bool IsWorthLearning(const Expr& condition) const;
  std::vector<std::pair<Expr, Range>> Ranges() const;
  bool Rebuild();
  // Of `condition`, just learnt, with others; hints are not asked.
  bool Contradicts(const Expr& condition);
  // What stands against a condition: ranges of its symbols, facts that share one.
  std::string Known(const Expr& condition) const;
  absl::Status AddFact(const Expr& condition, Origin origin, const Asker& asker);
  absl::StatusOr<bool> ByHints(const Expr& condition, const Asker& asker);
  absl::StatusOr<bool> GuardTrue(const Expr& condition, const Asker& asker);
  absl::Status AddGuard(const Expr& condition, bool value, const Asker& asker,
                        const std::optional<FlatCondition>& flat);
  absl::Status Check(const Expr& condition, const Asker& asker, absl::string_view message);
  void Assert(const Expr& condition, const Asker& asker, absl::string_view message);
  std::string FreshName(absl::string_view prefix, int& next);

  std::shared_ptr<ExprContext> context;
  std::vector<Expr> symbols;
  absl::flat_hash_map<Expr, SymbolInfo> info;
  std::vector<Expr> facts;         // by construction
  std::vector<Expr> learned;       // facts, guards and assertions, in order
  std::vector<KnownFact> sources;  // of each that was learned
  std::vector<Guard> guards;
  std::vector<Assertion> assertions;
  std::vector<size_t> waiting;  // assertions that were not taken
  absl::flat_hash_set<Expr> bound;
  std::vector<Binding> bindings;
  absl::flat_hash_map<int64_t, Expr> ducks;  // by example value
  int next_unbacked = 0;
  int next_backed = 0;
  int failed_proofs = 0;  // on behalf of guards
  int vain_searches = 0;  // for contradictions
  bool contradictory = false;
  bool frozen = false;
  std::mutex mutex;  // questions fill tables
  HintModel model;
  std::unique_ptr<Knowledge> knowledge;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SHAPE_ENV_STATE_H_
