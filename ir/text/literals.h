#ifndef LATHE_IR_TEXT_LITERALS_H_
#define LATHE_IR_TEXT_LITERALS_H_

// The parts of a statement: expressions, types, arguments and constants (grammar.md).

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/graph/graph.h"
#include "ir/graph/type.h"
#include "ir/text/cursor.h"

namespace lathe::text {

// Lists and types nest this deep at most.
inline constexpr int kDepthLimit = 1000;
// A graph may be named this deep inside lists: chains of graphs then cannot multiply the depth.
inline constexpr int kGraphInListLimit = 8;

class LiteralParser {
 public:
  // `find_value` gives nullptr for an unknown name; `find_graph` may parse another graph.
  LiteralParser(Cursor& cursor, ExprContext& context,
                std::function<Value*(absl::string_view)> find_value,
                std::function<absl::StatusOr<std::shared_ptr<Graph>>(const Token&)> find_graph)
      : cursor_(cursor),
        context_(context),
        find_value_(std::move(find_value)),
        find_graph_(std::move(find_graph)) {}

  // Up to the next comma, closing bracket, brace, or second operand.
  absl::StatusOr<Expr> ParseExpression();
  absl::StatusOr<ValueType> ParseType() { return ParseType(0); }
  absl::StatusOr<Argument> ParseArgument() { return ParseArgument(0); }
  // What stands between the parentheses of `constant(...)`: a tensor type and its elements.
  absl::StatusOr<Tensor> ParseConstant();

 private:
  absl::StatusOr<ValueType> ParseType(int depth);
  absl::StatusOr<TensorType> ParseTensorType(DType dtype);
  absl::StatusOr<ValueType> ParseScalarType(symbolic::ExprType kind);
  absl::StatusOr<std::vector<Expr>> ParseIntegers(absl::string_view close);
  absl::StatusOr<Expr> ParseInteger();
  absl::StatusOr<Argument> ParseArgument(int depth);
  absl::StatusOr<Argument> ParseList(int depth);
  absl::StatusOr<Argument> ParseNumberOrExpression();
  absl::Status ParseElements(const Dims& sizes, size_t dimension, std::vector<Scalar>& elements);
  // The source text of an expression; moves behind it.
  absl::StatusOr<absl::string_view> TakeExpressionText();
  // True when the current word stands alone.
  bool WordIsAlone() const;

  Cursor& cursor_;
  ExprContext& context_;
  std::function<Value*(absl::string_view)> find_value_;
  std::function<absl::StatusOr<std::shared_ptr<Graph>>(const Token&)> find_graph_;
};

// The literal that a lone word is, nullopt for a symbol. `in_list`: u1, u2... are symbols.
std::optional<Argument> WordLiteral(absl::string_view word, bool in_list);

}  // namespace lathe::text

#endif  // LATHE_IR_TEXT_LITERALS_H_
