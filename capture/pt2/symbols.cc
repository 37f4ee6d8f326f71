#include "capture/pt2/symbols.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"
#include "symbolic/parser.h"

namespace lathe::pt2 {

using symbolic::Range;
using symbolic::Source;
using symbolic::SymbolKind;

std::vector<Expr> ExpressionsOf(const ValueType& type) {
  if (type.is_scalar()) return {type.scalar().value};
  if (!type.is_tensor()) return {};
  const TensorType& t = type.tensor();
  std::vector<Expr> all = t.sizes;
  all.insert(all.end(), t.strides.begin(), t.strides.end());
  all.push_back(t.offset);
  return all;
}

absl::StatusOr<Expr> Symbols::Parse(absl::string_view text, std::optional<int64_t> hint) {
  if (auto it = parsed_.find(text); it != parsed_.end()) return it->second;
  LATHE_ASSIGN_OR_RETURN(Expr e, symbolic::ParseSympy(text, shapes_->context()));
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    std::string quoted = absl::StrCat("'", std::string(symbol.symbol_name()), "', ");
    if (absl::StrContains(text, absl::StrCat(quoted, "positive=True"))) least_[symbol] = 1;
    if (absl::StrContains(text, absl::StrCat(quoted, "nonnegative=True"))) least_[symbol] = 0;
  }
  if (e.is_symbol() && hint) hints_.emplace(e, *hint);
  parsed_.emplace(std::string(text), e);
  return e;
}

Range Symbols::RangeOf(const Expr& symbol, const Source& source) const {
  bool is_size =
      source.kind != Source::Kind::kInputScalar && symbol.symbol_kind() == SymbolKind::kBacked;
  // Sizes are written as positive for the tracer's sake alone: a batch may be empty.
  auto least = is_size ? least_.end() : least_.find(symbol);
  Range range{least != least_.end() ? least->second : is_size ? 0 : Range::kMin, Range::kMax};
  auto constraint = ranges_.find(std::string(symbol.symbol_name()));
  if (constraint != ranges_.end()) range = constraint->second;
  // Tracing treats 0 and 1 apart and records 2 as the least size where nobody asked for one; the
  // exporter's own check therefore lets 0 and 1 pass (and checks bounds from 3 up).
  if (symbol.symbol_kind() == SymbolKind::kBacked && range.lower == 2) range.lower = 0;
  if (is_size) range.lower = std::max<int64_t>(range.lower, 0);
  return range;
}

void Symbols::Add(const Expr& symbol, Source source) {
  if (!added_.insert(symbol).second) return;
  Range range = RangeOf(symbol, source);
  if (symbol.symbol_kind() == SymbolKind::kUnbacked) {
    shapes_->AddUnbacked(symbol.symbol_name(), std::move(source), range);
    return;
  }
  std::optional<int64_t> hint;
  if (auto it = hints_.find(symbol); it != hints_.end()) hint = it->second;
  shapes_->AddBacked(symbol.symbol_name(), std::move(source), hint, range);
}

void Symbols::BindInput(const ValueType& type, int input) {
  if (type.is_scalar() && type.scalar().value.is_symbol()) {
    Add(type.scalar().value, Source::InputScalar(input));
  }
  if (!type.is_tensor()) return;
  for (int d = 0; d < type.tensor().rank(); ++d) {
    const Expr& size = type.tensor().sizes[d];
    if (size.is_symbol()) Add(size, Source::InputSize(input, d));
  }
}

void Symbols::BindRest(const ValueType& type) {
  for (const Expr& e : ExpressionsOf(type)) {
    for (const Expr& symbol : symbolic::FreeSymbols(e)) Add(symbol, Source());
  }
}

absl::Status Symbols::BindResult(const ValueType& type, absl::string_view node) {
  for (const Expr& e : ExpressionsOf(type)) {
    if (e.is_const()) continue;
    for (const Expr& symbol : symbolic::FreeSymbols(e)) {
      if (added_.contains(symbol)) continue;
      if (symbol.symbol_kind() != SymbolKind::kUnbacked) {
        return InvalidArgument("the symbol ", std::string(symbol.symbol_name()), " in the type of ",
                               node, " occurs in no input");
      }
      Add(symbol, Source::Item(node));
    }
  }
  return absl::OkStatus();
}

}  // namespace lathe::pt2
