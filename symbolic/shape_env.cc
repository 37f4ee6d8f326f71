#include "symbolic/shape_env.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"
#include "symbolic/known_facts.h"
#include "symbolic/shape_env_state.h"

namespace lathe::symbolic {
namespace {

std::string OriginText(Origin origin) {
  switch (origin) {
    case Origin::kRange:
      return "range";
    case Origin::kPrecondition:
      return "precondition";
    case Origin::kGuard:
      return "guard";
    case Origin::kAssertion:
      return "assertion";
  }
  LATHE_UNREACHABLE();
}

}  // namespace

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
  return impl_->AddSymbol(impl_->NameFor(name, SymbolKind::kBacked, source), SymbolKind::kBacked,
                          {source, hint, range});
}

Expr ShapeEnv::AddUnbacked(absl::string_view name, Source source, Range range) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->AddSymbol(impl_->NameFor(name, SymbolKind::kUnbacked, source),
                          SymbolKind::kUnbacked, {source, std::nullopt, range});
}

Expr ShapeEnv::FreshUnbacked(Source source, Range range) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->AddSymbol(impl_->FreshName("u", impl_->next_unbacked), SymbolKind::kUnbacked,
                          {std::move(source), std::nullopt, range});
}

absl::StatusOr<Expr> ShapeEnv::BindInput(Source source, int64_t example, const DimChoice& choice) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  Impl& m = *impl_;
  if (!choice.range.Contains(example)) {
    return OutOfRange(source.ToString(), " is ", example, ", outside of its range ",
                      RangeText(choice.range));
  }
  Range range = choice.range;
  const bool small = example == 0 || example == 1;
  if (choice.specialize_zero_one && !small && range.lower >= 0) {
    range.lower = std::max<int64_t>(range.lower, 2);
  }
  Expr value = example;
  const bool constant =
      choice.policy == DimPolicy::kStatic ||
      (choice.policy != DimPolicy::kUnbacked && choice.specialize_zero_one && small);
  if (choice.policy == DimPolicy::kUnbacked) {
    value = m.AddSymbol(m.FreshName("u", m.next_unbacked), SymbolKind::kUnbacked,
                        {source, std::nullopt, choice.range});
    m.bound.insert(value);
    m.AssertRange(value, source, choice.range);
  } else if (!constant) {
    const auto duck = m.ducks.find(example);
    const bool shared = choice.policy == DimPolicy::kDuck && duck != m.ducks.end() &&
                        m.info[duck->second].range == range;
    value = shared ? duck->second
                   : m.AddSymbol(m.FreshName("s", m.next_backed), SymbolKind::kBacked,
                                 {source, example, range});
    if (choice.policy == DimPolicy::kDuck) m.ducks.emplace(example, value);
  }
  m.bindings.push_back({std::move(source), value});
  return value;
}

std::vector<Expr> ShapeEnv::BindStrides(int input, absl::Span<const Expr> sizes,
                                        absl::Span<const int64_t> example_strides) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  Impl& m = *impl_;
  LATHE_CHECK(sizes.size() == example_strides.size()) << "a stride for each size";
  const size_t rank = sizes.size();
  std::vector<Expr> strides(rank);
  std::vector<size_t> order;  // inner dimensions first
  for (size_t d = rank; d-- > 0;) order.push_back(d);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return example_strides[a] < example_strides[b]; });
  const auto example_size = [&](size_t d) -> std::optional<int64_t> {
    if (const std::optional<int64_t> v = sizes[d].AsInt()) return v;
    const auto it = m.info.find(sizes[d]);
    return it == m.info.end() ? std::nullopt : it->second.hint;
  };
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = order[i];
    strides[d] = example_strides[d];
    // The nearest dimension inside that this one steps over.
    for (size_t j = i; j-- > 0 && example_strides[d] > 1;) {
      const size_t inner = order[j];
      const std::optional<int64_t> size = example_size(inner);
      if (!size || *size * example_strides[inner] != example_strides[d]) continue;
      strides[d] = sizes[inner] * strides[inner];
      break;
    }
  }
  for (size_t d = 0; d < rank; ++d) {
    m.bindings.push_back({Source::InputStride(input, static_cast<int>(d)), strides[d]});
  }
  return strides;
}

void ShapeEnv::Bind(Source source, const Expr& value) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->bindings.push_back({std::move(source), value});
}

const std::vector<Binding>& ShapeEnv::bindings() const { return impl_->bindings; }

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
  SymbolInfo& symbol_info = impl_->info[symbol];
  symbol_info.hint = value;
  impl_->model.SetSymbol(symbol, value, symbol_info.range);
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

absl::Status ShapeEnv::AddFact(const Expr& condition, const Asker& asker) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  LATHE_RETURN_IF_ERROR(impl_->AddFact(condition, Origin::kPrecondition, asker));
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

absl::Status ShapeEnv::Check(const Expr& condition, const Asker& asker, absl::string_view message) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->Check(condition, asker, message);
}

const std::vector<Guard>& ShapeEnv::guards() const { return impl_->guards; }
const std::vector<Assertion>& ShapeEnv::assertions() const { return impl_->assertions; }

void ShapeEnv::MarkBound(const Expr& unbacked) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->bound.insert(unbacked);
}

std::vector<Assertion> ShapeEnv::TakeReadyAssertions() {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  Impl& m = *impl_;
  std::vector<Assertion> ready;
  std::vector<size_t> rest;
  for (const size_t i : m.waiting) {
    const std::vector<Expr> of = FreeSymbols(m.assertions[i].condition);
    const bool all = std::all_of(
        of.begin(), of.end(), [&](const Expr& s) { return !IsUnbacked(s) || m.bound.contains(s); });
    if (all) {
      ready.push_back(m.assertions[i]);
    } else {
      rest.push_back(i);
    }
  }
  m.waiting = std::move(rest);
  return ready;
}

void ShapeEnv::Freeze() {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->frozen = true;
}
bool ShapeEnv::frozen() const { return impl_->frozen; }
int64_t ShapeEnv::version() const {
  return static_cast<int64_t>(impl_->learned.size() + impl_->symbols.size());
}

std::vector<KnownFact> ShapeEnv::history() const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  std::vector<KnownFact> result;
  for (const Expr& s : impl_->symbols) {
    const SymbolInfo& symbol = impl_->info.at(s);
    for (const Expr& fact : RangeFacts(s, symbol.range)) {
      result.push_back({fact, Origin::kRange, {}, ""});
      result.back().text = absl::StrCat(ToString(fact), ": range of ", symbol.source.ToString());
    }
  }
  for (KnownFact fact : impl_->sources) {
    fact.text = absl::StrCat(ShortText(fact.condition), ": ", OriginText(fact.origin),
                             fact.asker.ToString());
    result.push_back(std::move(fact));
  }
  return result;
}

}  // namespace lathe::symbolic
