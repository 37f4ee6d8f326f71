#include "symbolic/shape_env.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"
#include "symbolic/knowledge.h"

namespace lathe::symbolic {

Source Source::InputSize(int input, int dimension) {
  Source s;
  s.kind = Kind::kInputSize;
  s.input = input;
  s.dimension = dimension;
  return s;
}

Source Source::InputScalar(int input) {
  Source s;
  s.kind = Kind::kInputScalar;
  s.input = input;
  return s;
}

Source Source::Item(absl::string_view node) {
  Source s;
  s.kind = Kind::kItem;
  s.node = std::string(node);
  return s;
}

std::string Source::ToString() const {
  switch (kind) {
    case Kind::kNone:
      return "unknown source";
    case Kind::kInputSize:
      return absl::StrCat("size ", dimension, " of input ", input);
    case Kind::kInputStride:
      return absl::StrCat("stride ", dimension, " of input ", input);
    case Kind::kInputOffset:
      return absl::StrCat("offset of input ", input);
    case Kind::kInputScalar:
      return absl::StrCat("input ", input);
    case Kind::kItem:
      return absl::StrCat("item of ", node);
  }
  LATHE_UNREACHABLE();
}

namespace {

struct SymbolInfo {
  Source source;
  std::optional<int64_t> hint;
  Range range;
};

std::string RangeText(const Range& r) {
  return absl::StrCat("[", r.lower == Range::kMin ? "-inf" : absl::StrCat(r.lower), ", ",
                      r.upper == Range::kMax ? "inf" : absl::StrCat(r.upper), "]");
}

std::string AskerText(const Asker& asker) {
  if (asker.node.empty() && asker.source_line.empty()) return "";
  if (asker.source_line.empty()) return absl::StrCat(" (asked by ", asker.node, ")");
  if (asker.node.empty()) return absl::StrCat(" (asked at ", asker.source_line, ")");
  return absl::StrCat(" (asked by ", asker.node, " at ", asker.source_line, ")");
}

}  // namespace

struct ShapeEnv::Impl {
  explicit Impl(std::shared_ptr<ExprContext> c)
      : context(std::move(c)), knowledge(std::make_unique<Knowledge>(context.get())) {}

  std::shared_ptr<ExprContext> context;
  std::vector<Expr> symbols;
  absl::flat_hash_map<Expr, SymbolInfo> info;
  std::vector<Expr> facts;    // by construction
  std::vector<Expr> learned;  // facts and guards, in order
  std::vector<Guard> guards;
  int next_unbacked = 0;
  std::mutex mutex;  // questions fill tables
  std::unique_ptr<Knowledge> knowledge;

  Expr AddSymbol(absl::string_view name, SymbolKind kind, SymbolInfo symbol_info) {
    const Expr symbol = context->Symbol(name, kind);
    if (!info.contains(symbol)) symbols.push_back(symbol);
    const Range range = symbol_info.range;
    info[symbol] = std::move(symbol_info);
    if (knowledge->replacements().contains(symbol)) {
      Rebuild();
    } else {
      knowledge->LimitSymbol(symbol, range);
    }
    return symbol;
  }

  // Learns `condition`; false if that contradicts. Nothing is kept then.
  bool Learn(const Expr& condition) {
    const size_t before = learned.size();
    learned.push_back(condition);
    const Expr current = knowledge->WithReplacements(condition);
    if (HasSolution(current)) {
      if (ReplaceFree(current) || Rebuild()) return true;
    } else if (knowledge->Learn(current)) {
      return true;
    }
    learned.resize(before);
    LATHE_CHECK(Rebuild()) << "facts that held together no longer do";
    return false;
  }

  // An equality for a symbol that no fact mentions needs no rebuilding: the common case of a new
  // unbacked symbol. False: not that case, or a contradiction.
  bool ReplaceFree(const Expr& condition) {
    const auto solution = knowledge->Solve(condition);
    if (!solution || !knowledge->IsFree(solution->first)) return false;
    const auto it = info.find(solution->first);
    const Range range = it == info.end() ? Range{} : it->second.range;
    knowledge->Replace(solution->first, solution->second);
    return LearnRange(*knowledge, solution->second, range);
  }

  static bool LearnRange(Knowledge& k, const Expr& e, const Range& r) {
    return (r.lower == Range::kMin || k.Learn(Le(r.lower, e))) &&
           (r.upper == Range::kMax || k.Learn(Le(e, r.upper)));
  }

  bool HasSolution(const Expr& condition) const {
    if (condition.kind() == ExprKind::kAnd) {
      return std::any_of(condition.operands().begin(), condition.operands().end(),
                         [&](const Expr& e) { return knowledge->Solve(e).has_value(); });
    }
    return knowledge->Solve(condition).has_value();
  }

  static void SolveAll(Knowledge& k, const Expr& fact) {
    const Expr e = k.WithReplacements(fact);
    const absl::Span<const Expr> parts =
        e.kind() == ExprKind::kAnd ? e.operands() : absl::MakeConstSpan(&e, 1);
    for (const Expr& part : parts) {
      const auto solution = k.Solve(k.WithReplacements(part));
      if (solution) k.Replace(solution->first, solution->second);
    }
  }

  bool Rebuild() {
    auto k = std::make_unique<Knowledge>(context.get());
    for (const Expr& fact : learned) SolveAll(*k, fact);
    for (const Expr& s : symbols) {
      const Range& r = info[s].range;
      const auto it = k->replacements().find(s);
      if (it == k->replacements().end()) {
        k->LimitSymbol(s, r);
        continue;
      }
      if (!LearnRange(*k, it->second, r)) return false;
    }
    for (const Expr& fact : learned) {
      if (!k->Learn(k->WithReplacements(fact))) return false;
    }
    knowledge = std::move(k);
    return true;
  }

  // What stands against a condition: ranges of its symbols, facts that share one.
  std::string Known(const Expr& condition) const {
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

  absl::Status AddFact(const Expr& condition) {
    if (condition.IsOverflow()) {
      return OutOfRange("a fact overflows 64 bits or is undefined");
    }
    if (condition.type() != ExprType::kBool) {
      return InvalidArgument("a fact must be a condition, not ", ShortText(condition));
    }
    const std::optional<bool> known = knowledge->Decide(condition);
    if (known == true) {
      return absl::OkStatus();
    }
    if (known == false || !Learn(condition)) {
      return OutOfRange("fact ", ShortText(condition),
                        " contradicts what is known: ", Known(condition));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> ByHints(const Expr& condition, const Asker& asker) {
    for (const Expr& s : FreeSymbols(condition)) {
      if (s.symbol_kind() == SymbolKind::kBacked) continue;
      const auto it = info.find(s);
      return FailedPrecondition("the data-dependent condition ", ShortText(condition),
                                " cannot be decided: ", ToString(s), " is ",
                                it == info.end() ? "unknown" : it->second.source.ToString(),
                                " and has no value before the program runs", AskerText(asker));
    }
    const absl::StatusOr<int64_t> value =
        Evaluate(condition, [&](const Expr& s) -> std::optional<int64_t> {
          const auto it = info.find(s);
          return it == info.end() ? std::nullopt : it->second.hint;
        });
    if (!value.ok()) {
      return Annotate(value.status(), absl::StrCat("condition ", ShortText(condition),
                                                   " cannot be decided", AskerText(asker)));
    }
    return *value != 0;
  }

  absl::StatusOr<bool> GuardTrue(const Expr& condition, const Asker& asker) {
    if (condition.IsOverflow() || condition.type() != ExprType::kBool) {
      return InvalidArgument("not a condition: ", ShortText(condition), AskerText(asker));
    }
    if (const std::optional<bool> known = knowledge->Decide(condition)) return *known;
    // Replaced symbols may remove unbacked ones.
    const Expr simple = knowledge->Simplify(condition);
    LATHE_ASSIGN_OR_RETURN(const bool value, ByHints(simple, asker));
    const Expr guard = value ? condition : Not(condition);
    if (!Learn(guard)) {
      return OutOfRange("guard ", ShortText(guard), " contradicts what is known: ", Known(guard),
                        AskerText(asker));
    }
    guards.push_back({guard, asker});
    return value;
  }
};

ShapeEnv::ShapeEnv(std::shared_ptr<ExprContext> context)
    : impl_(std::make_unique<Impl>(std::move(context))) {}
ShapeEnv::~ShapeEnv() = default;
ShapeEnv::ShapeEnv(ShapeEnv&&) = default;
ShapeEnv& ShapeEnv::operator=(ShapeEnv&&) = default;

ExprContext& ShapeEnv::context() const { return *impl_->context; }
const std::shared_ptr<ExprContext>& ShapeEnv::shared_context() const { return impl_->context; }

Expr ShapeEnv::AddBacked(absl::string_view name, Source source, std::optional<int64_t> hint,
                         Range range) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->AddSymbol(name, SymbolKind::kBacked, {std::move(source), hint, range});
}

Expr ShapeEnv::AddUnbacked(absl::string_view name, Source source, Range range) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->AddSymbol(name, SymbolKind::kUnbacked, {std::move(source), std::nullopt, range});
}

Expr ShapeEnv::FreshUnbacked(Source source, Range range) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  std::string name;
  do {
    name = absl::StrCat("u", impl_->next_unbacked++);
  } while (impl_->context->FindSymbol(name).has_value());
  return impl_->AddSymbol(name, SymbolKind::kUnbacked, {std::move(source), std::nullopt, range});
}

const std::vector<Expr>& ShapeEnv::symbols() const { return impl_->symbols; }

const Source& ShapeEnv::source(const Expr& symbol) const {
  static const Source& none = *new Source();
  const auto it = impl_->info.find(symbol);
  return it == impl_->info.end() ? none : it->second.source;
}

std::optional<int64_t> ShapeEnv::hint(const Expr& symbol) const {
  const auto it = impl_->info.find(symbol);
  return it == impl_->info.end() ? std::nullopt : it->second.hint;
}

void ShapeEnv::SetHint(const Expr& symbol, int64_t value) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->info[symbol].hint = value;
}

Range ShapeEnv::RangeOf(const Expr& e) const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  Knowledge& k = *impl_->knowledge;
  return Intersect(k.RangeOf(k.WithReplacements(e)), k.RangeOf(k.Simplify(e)));
}

int64_t ShapeEnv::KnownDivisor(const Expr& e) const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  Knowledge& k = *impl_->knowledge;
  const int64_t a = k.DivisorOf(k.WithReplacements(e)), b = k.DivisorOf(k.Simplify(e));
  return a == 0 || b == 0 ? 0 : std::max(a, b);
}

absl::Status ShapeEnv::AddFact(const Expr& condition) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  LATHE_RETURN_IF_ERROR(impl_->AddFact(condition));
  impl_->facts.push_back(condition);
  return absl::OkStatus();
}

const std::vector<Expr>& ShapeEnv::facts() const { return impl_->facts; }

Expr ShapeEnv::Simplify(const Expr& e) const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->knowledge->Simplify(e);
}

bool ShapeEnv::IsKnownTrue(const Expr& condition) const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->knowledge->Decide(condition) == true;
}

bool ShapeEnv::IsKnownFalse(const Expr& condition) const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->knowledge->Decide(condition) == false;
}

bool ShapeEnv::IsKnownEqual(const Expr& a, const Expr& b) const {
  return (a == b && !a.IsOverflow()) || IsKnownTrue(Eq(a, b));
}

absl::StatusOr<bool> ShapeEnv::GuardTrue(const Expr& condition, const Asker& asker) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->GuardTrue(condition, asker);
}

bool ShapeEnv::TrueOrDefault(const Expr& condition, bool default_value, const Asker& asker) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->GuardTrue(condition, asker).value_or(default_value);
}

const std::vector<Guard>& ShapeEnv::guards() const { return impl_->guards; }

}  // namespace lathe::symbolic
