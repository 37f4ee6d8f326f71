#ifndef LATHE_IR_TEXT_SYMBOL_TABLE_H_
#define LATHE_IR_TEXT_SYMBOL_TABLE_H_

// Which symbols of a file have a value, and from where.

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "ir/graph/graph.h"
#include "symbolic/shape_env.h"

namespace lathe::text {

class SymbolTable {
 public:
  explicit SymbolTable(ShapeEnv& shapes) : shapes_(shapes) {}

  // Symbols that stand alone as a size, stride, offset or scalar of an input take their value from
  // it (of the main graph alone: `bind`); the others of its types are declared without a source.
  void DeclareInputs(const Graph& graph, bool bind);
  // Unbacked symbols in a result type are bound by their first appearance.
  void DeclareResult(const ValueType& type, absl::string_view node);
  // Symbols that operators made themselves.
  void NoteKnown();
  // A symbol of `e` that has no value, "" when all have one.
  std::string Undeclared(const Expr& e) const;

 private:
  void Declare(const Expr& symbol, symbolic::Source source, symbolic::Range range);
  void DeclareAll(const ValueType& type, const symbolic::Source& source, bool unbacked_only);

  ShapeEnv& shapes_;
  absl::flat_hash_set<Expr> declared_;
  size_t noted_ = 0;
};

// Calls `visit` for every expression of a type; `is_size` tells sizes from the rest.
void ForEachExpr(const ValueType& type,
                 const std::function<void(const Expr&, bool is_size)>& visit);

}  // namespace lathe::text

#endif  // LATHE_IR_TEXT_SYMBOL_TABLE_H_
