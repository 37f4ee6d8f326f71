#include "ir/text/symbol_table.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "symbolic/evaluate.h"

namespace lathe::text {
namespace {

using symbolic::Range;
using symbolic::Source;

constexpr Range kSizeRange = {0, Range::kMax};

Source InputSource(Source::Kind kind, int input, int dimension) {
  Source source = Source::InputSize(input, dimension);
  source.kind = kind;
  return source;
}

}  // namespace

void ForEachExpr(const ValueType& type,
                 const std::function<void(const Expr&, bool is_size)>& visit) {
  if (type.is_tensor()) {
    for (const Expr& e : type.tensor().sizes) visit(e, true);
    for (const Expr& e : type.tensor().strides) visit(e, false);
    visit(type.tensor().offset, false);
  } else if (type.is_scalar()) {
    visit(type.scalar().value, false);
  } else if (type.is_list()) {
    for (const ValueType& element : type.list().elements) ForEachExpr(element, visit);
  }
}

void SymbolTable::Declare(const Expr& symbol, Source source, Range range) {
  if (!declared_.insert(symbol).second) return;
  if (symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked) {
    shapes_.AddUnbacked(symbol.symbol_name(), std::move(source), range);
  } else {
    shapes_.AddBacked(symbol.symbol_name(), std::move(source), std::nullopt, range);
  }
}

void SymbolTable::DeclareInputs(const Graph& graph, bool bind) {
  for (size_t i = 0; bind && i < graph.inputs().size(); ++i) {
    const ValueType& type = graph.inputs()[i]->type;
    const int input = static_cast<int>(i);
    if (type.is_scalar() && type.scalar().value.is_symbol()) {
      Declare(type.scalar().value, Source::InputScalar(input), {});
    }
    if (!type.is_tensor()) continue;
    const TensorType& tensor = type.tensor();
    for (int d = 0; d < tensor.rank(); ++d) {
      if (tensor.sizes[d].is_symbol()) {
        Declare(tensor.sizes[d], Source::InputSize(input, d), kSizeRange);
      }
    }
    for (int d = 0; d < tensor.rank(); ++d) {
      if (tensor.strides[d].is_symbol()) {
        Declare(tensor.strides[d], InputSource(Source::Kind::kInputStride, input, d), kSizeRange);
      }
    }
    if (tensor.offset.is_symbol()) {
      Declare(tensor.offset, InputSource(Source::Kind::kInputOffset, input, -1), kSizeRange);
    }
  }
  for (const Value* input : graph.inputs()) DeclareAll(input->type, Source(), false);
}

void SymbolTable::DeclareAll(const ValueType& type, const Source& source, bool unbacked_only) {
  ForEachExpr(type, [&](const Expr& e, bool is_size) {
    for (const Expr& symbol : symbolic::FreeSymbols(e)) {
      if (unbacked_only && symbol.symbol_kind() != symbolic::SymbolKind::kUnbacked) continue;
      Declare(symbol, source, is_size && e == symbol ? kSizeRange : Range());
    }
  });
}

void SymbolTable::DeclareResult(const ValueType& type, absl::string_view node) {
  DeclareAll(type, Source::Item(absl::StrCat("%", node)), true);
}

void SymbolTable::NoteKnown() {
  for (; noted_ < shapes_.symbols().size(); ++noted_) declared_.insert(shapes_.symbols()[noted_]);
}

std::string SymbolTable::Undeclared(const Expr& e) const {
  if (e.is_const()) return "";
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    if (!declared_.contains(symbol)) return std::string(symbol.symbol_name());
  }
  return "";
}

}  // namespace lathe::text
