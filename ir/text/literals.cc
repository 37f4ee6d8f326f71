#include "ir/text/literals.h"

#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "dtypes/convert.h"
#include "symbolic/parser.h"

namespace lathe::text {
namespace {

bool IsUnbackedName(absl::string_view word) {
  return absl::ConsumePrefix(&word, "u") && !word.empty() &&
         word.find_first_not_of("0123456789") == absl::string_view::npos;
}

// The number as an element, which has to hold it: an integer type takes no other number for it.
absl::StatusOr<Scalar> AsElement(const Scalar& value, DType dtype) {
  if (!IsInteger(dtype)) return value;
  LATHE_ASSIGN_OR_RETURN(Scalar element, ConvertAs(value, dtype, ConvertMode::kChecked));
  if (element == value) return element;
  return OutOfRange(value.ToString(), " is no whole number, as ", Name(dtype), " has them");
}

bool IsConnective(const Token& token) {
  return token.is_word("and") || token.is_word("or") || token.is_word("not");
}

bool EndsOperand(const Token& token) {
  return token.kind == Token::Kind::kNumber || token.is_sign(")") ||
         (token.kind == Token::Kind::kWord && !IsConnective(token));
}

// ParseExpr writes "column 7: ..." counted from the expression's start.
absl::Status ExpressionError(absl::string_view source, size_t begin, const absl::Status& status) {
  absl::string_view message = status.message();
  absl::string_view rest = message;
  int column = 1;
  if (absl::ConsumePrefix(&rest, "column ")) {
    const size_t colon = rest.find(": ");
    if (colon != absl::string_view::npos && absl::SimpleAtoi(rest.substr(0, colon), &column)) {
      message = rest.substr(colon + 2);
    }
  }
  return ErrorAt(source, begin + std::max(column - 1, 0), message);
}

}  // namespace

std::optional<Argument> WordLiteral(absl::string_view word, bool in_list) {
  if (word == "none") return Argument::None();
  if (word == "true") return Argument::Bool(true);
  if (word == "false") return Argument::Bool(false);
  if (word == "inf") return Argument::Float(std::numeric_limits<double>::infinity());
  if (word == "nan") return Argument::Float(std::numeric_limits<double>::quiet_NaN());
  if (word == "strided") return Argument::Of(Layout::kStrided);
  if (word == "sparse_coo") return Argument::Of(Layout::kSparseCoo);
  if (word == "contiguous_format") return Argument::Of(MemoryFormat::kContiguous);
  if (word == "preserve_format") return Argument::Of(MemoryFormat::kPreserve);
  if (word == "channels_last") return Argument::Of(MemoryFormat::kChannelsLast);
  if (word == "channels_last_3d") return Argument::Of(MemoryFormat::kChannelsLast3d);
  if (std::optional<Device> device = ParseDevice(word)) return Argument::Of(*device);
  if (in_list && IsUnbackedName(word)) return std::nullopt;
  if (std::optional<DType> dtype = ParseDType(word)) return Argument::Of(*dtype);
  return std::nullopt;
}

absl::StatusOr<absl::string_view> LiteralParser::TakeExpressionText() {
  const size_t begin = cursor_.Peek().begin;
  size_t end = begin;
  int64_t depth = 0;
  bool after_operand = false;
  while (true) {
    const Token& token = cursor_.Peek();
    if (token.kind == Token::Kind::kWord || token.kind == Token::Kind::kNumber) {
      if (after_operand && !IsConnective(token) && depth == 0) break;
    } else if (token.kind != Token::Kind::kSign) {
      break;
    } else if (token.is_sign("(")) {
      ++depth;
    } else if (token.is_sign(")")) {
      if (depth-- == 0) break;
    } else if (token.is_sign(",")) {
      if (depth == 0) break;
    } else if (token.text.find_first_of("[]{}:") != std::string::npos || token.text == "=") {
      break;
    }
    after_operand = EndsOperand(token);
    end = token.end;
    cursor_.Next();
  }
  if (end == begin) return cursor_.Unexpected("an expression");
  return cursor_.source().substr(begin, end - begin);
}

absl::StatusOr<Expr> LiteralParser::ParseExpression() {
  const Token& first = cursor_.Peek();
  if (first.kind == Token::Kind::kNumber && !EndsOperand(cursor_.Peek(1)) &&
      (cursor_.Peek(1).is_sign(",") || cursor_.Peek(1).is_sign("]"))) {
    int64_t value;
    if (absl::SimpleAtoi(first.text, &value)) return cursor_.Next(), Expr(value);
  }
  const size_t begin = first.begin;
  LATHE_ASSIGN_OR_RETURN(absl::string_view text, TakeExpressionText());
  absl::StatusOr<Expr> e = symbolic::ParseExpr(text, context_);
  if (!e.ok()) return ExpressionError(cursor_.source(), begin, e.status());
  if (e->IsOverflow()) return ErrorAt(cursor_.source(), begin, "the expression overflows");
  return e;
}

absl::StatusOr<Expr> LiteralParser::ParseInteger() {
  const Token token = cursor_.Peek();
  LATHE_ASSIGN_OR_RETURN(Expr e, ParseExpression());
  if (e.type() != symbolic::ExprType::kInt) return cursor_.Error(token, "an integer is expected");
  return e;
}

absl::StatusOr<std::vector<Expr>> LiteralParser::ParseIntegers(absl::string_view close) {
  std::vector<Expr> items;
  if (cursor_.Accept(close)) return items;
  do {
    LATHE_ASSIGN_OR_RETURN(Expr item, ParseInteger());
    items.push_back(item);
  } while (cursor_.Accept(","));
  LATHE_RETURN_IF_ERROR(cursor_.Expect(close));
  return items;
}

absl::StatusOr<TensorType> LiteralParser::ParseTensorType(DType dtype) {
  const Token start = cursor_.Peek();
  LATHE_RETURN_IF_ERROR(cursor_.Expect("["));
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, ParseIntegers("]"));
  for (const Expr& size : sizes) {
    if (size.is_const() && *size.AsInt() < 0) return cursor_.Error(start, "a size is negative");
  }
  TensorType type = ContiguousType(dtype, std::move(sizes));
  if (NumElements(type).IsOverflow()) {
    return cursor_.Error(start, "the number of elements overflows");
  }
  if (cursor_.Accept("{")) {
    LATHE_ASSIGN_OR_RETURN(type.strides, ParseIntegers("}"));
    if (type.strides.size() != type.sizes.size()) {
      return cursor_.Error(start, absl::StrCat(type.sizes.size(), " strides are expected, not ",
                                               type.strides.size()));
    }
  }
  if (cursor_.Accept("+")) {
    if (cursor_.Accept("(")) {
      LATHE_ASSIGN_OR_RETURN(type.offset, ParseInteger());
      LATHE_RETURN_IF_ERROR(cursor_.Expect(")"));
    } else {
      const Token offset = cursor_.Next();
      int64_t value;
      if (offset.kind == Token::Kind::kNumber && absl::SimpleAtoi(offset.text, &value)) {
        type.offset = value;
      } else if (offset.kind == Token::Kind::kWord) {
        LATHE_ASSIGN_OR_RETURN(type.offset, symbolic::ParseExpr(offset.text, context_));
      } else {
        return cursor_.Error(offset, "an integer, a symbol or '(' is expected after +");
      }
    }
  }
  Expr end = type.offset + 1;
  for (int d = 0; d < type.rank(); ++d) end = end + type.sizes[d] * type.strides[d];
  if (end.IsOverflow() || (end * BitWidth(type.dtype)).IsOverflow()) {
    return cursor_.Error(start, "the last element's place overflows");
  }
  if (cursor_.Peek().kind == Token::Kind::kGraph) {
    std::string text = cursor_.Peek().text;
    const Token at = cursor_.Next();
    if (cursor_.Accept(":")) absl::StrAppend(&text, ":", cursor_.Next().text);
    const std::optional<Device> device = ParseDevice(text);
    if (!device.has_value()) return cursor_.Error(at, "an unknown device");
    type.device = *device;
  }
  return type;
}

absl::StatusOr<ValueType> LiteralParser::ParseScalarType(symbolic::ExprType kind) {
  LATHE_RETURN_IF_ERROR(cursor_.Expect("("));
  const Token start = cursor_.Peek();
  LATHE_ASSIGN_OR_RETURN(Expr value, ParseExpression());
  LATHE_RETURN_IF_ERROR(cursor_.Expect(")"));
  // A symbol is an integer by itself; as a float or bool it stands for that number.
  if (value.type() != kind && !value.is_symbol()) {
    return cursor_.Error(start, "the expression is of another kind");
  }
  return ValueType(ScalarType{kind, value});
}

absl::StatusOr<ValueType> LiteralParser::ParseType(int depth) {
  if (depth > kDepthLimit) return cursor_.Error("types nest too deep");
  const Token word = cursor_.Peek();
  if (word.kind != Token::Kind::kWord) return cursor_.Unexpected("a type");
  cursor_.Next();
  if (word.text == "none") return ValueType(NoneType());
  if (cursor_.Peek().is_sign("(")) {
    if (word.text == "int") return ParseScalarType(symbolic::ExprType::kInt);
    if (word.text == "bool") return ParseScalarType(symbolic::ExprType::kBool);
    if (word.text == "float") return ParseScalarType(symbolic::ExprType::kFloat);
    if (word.text != "list")
      return cursor_.Error(word, absl::StrCat("an unknown type '", word.text, "'"));
    cursor_.Next();
    ListType list;
    while (!cursor_.Accept(")")) {
      LATHE_ASSIGN_OR_RETURN(ValueType element, ParseType(depth + 1));
      list.elements.push_back(std::move(element));
      if (!cursor_.Accept(",") && !cursor_.Peek().is_sign(")")) {
        return cursor_.Unexpected("',' or ')'");
      }
    }
    return ValueType(std::move(list));
  }
  const std::optional<DType> dtype = ParseDType(word.text);
  if (!dtype.has_value())
    return cursor_.Error(word, absl::StrCat("an unknown type '", word.text, "'"));
  LATHE_ASSIGN_OR_RETURN(TensorType type, ParseTensorType(*dtype));
  return ValueType(std::move(type));
}

bool LiteralParser::WordIsAlone() const {
  const Token& next = cursor_.Peek(1);
  return next.kind != Token::Kind::kSign || next.is_sign(",") || next.is_sign(")") ||
         next.is_sign("]") || next.is_sign("}") || next.is_sign(":");
}

absl::StatusOr<Argument> LiteralParser::ParseArgument(int depth) {
  const Token& token = cursor_.Peek();
  switch (token.kind) {
    case Token::Kind::kValue: {
      Value* value = find_value_(token.text);
      if (value == nullptr) {
        return cursor_.Error(absl::StrCat("unknown value %", token.text));
      }
      cursor_.Next();
      return Argument::Of(value);
    }
    case Token::Kind::kGraph: {
      // Each sub-graph is parsed within its caller's frame: see kGraphInListLimit.
      if (depth > kGraphInListLimit) return cursor_.Error("a graph too deep inside lists");
      const Token name = cursor_.Next();
      LATHE_ASSIGN_OR_RETURN(std::shared_ptr<Graph> graph, find_graph_(name));
      return Argument::Of(std::move(graph));
    }
    case Token::Kind::kString:
      return Argument::String(cursor_.Next().text);
    case Token::Kind::kWord:
      if (token.text == "cuda" && cursor_.Peek(1).is_sign(":")) {
        const Token cuda = cursor_.Next();
        cursor_.Next();
        const auto device = ParseDevice(absl::StrCat("cuda:", cursor_.Next().text));
        if (!device.has_value()) return cursor_.Error(cuda, "an unknown device");
        return Argument::Of(*device);
      }
      if (WordIsAlone()) {
        if (std::optional<Argument> literal = WordLiteral(token.text, depth > 0)) {
          cursor_.Next();
          return *std::move(literal);
        }
      }
      return ParseNumberOrExpression();
    default:
      return token.is_sign("[") ? ParseList(depth) : ParseNumberOrExpression();
  }
}

absl::StatusOr<Argument> LiteralParser::ParseList(int depth) {
  if (depth >= kDepthLimit) return cursor_.Error("lists nest too deep");
  cursor_.Next();
  std::vector<Argument> items;
  while (!cursor_.Accept("]")) {
    LATHE_ASSIGN_OR_RETURN(Argument item, ParseArgument(depth + 1));
    items.push_back(std::move(item));
    if (!cursor_.Accept(",") && !cursor_.Peek().is_sign("]")) {
      return cursor_.Unexpected("',' or ']'");
    }
  }
  return Argument::List(std::move(items));
}

absl::StatusOr<Argument> LiteralParser::ParseNumberOrExpression() {
  const size_t position = cursor_.position();
  LATHE_ASSIGN_OR_RETURN(absl::string_view text, TakeExpressionText());
  if (absl::StatusOr<Scalar> number = ParseScalar(text); number.ok()) {
    return number->kind() == Scalar::Kind::kInt ? Argument::Int(number->ToInt())
                                                : Argument::Number(*number);
  }
  cursor_.MoveTo(position);
  LATHE_ASSIGN_OR_RETURN(Expr e, ParseExpression());
  if (std::optional<bool> truth = e.AsBool(); truth && e.type() == symbolic::ExprType::kBool) {
    return Argument::Bool(*truth);
  }
  return Argument::Int(e);
}

absl::Status LiteralParser::ParseElements(const Dims& sizes, size_t dimension,
                                          std::vector<Scalar>& elements) {
  if (dimension == sizes.size()) {
    const Token start = cursor_.Peek();
    LATHE_ASSIGN_OR_RETURN(absl::string_view text, TakeExpressionText());
    absl::StatusOr<Scalar> element = ParseScalar(text);
    if (!element.ok()) return cursor_.Error(start, element.status().message());
    elements.push_back(*element);
    return absl::OkStatus();
  }
  LATHE_RETURN_IF_ERROR(cursor_.Expect("["));
  for (int64_t i = 0; i < sizes[dimension]; ++i) {
    if (i > 0) LATHE_RETURN_IF_ERROR(cursor_.Expect(","));
    LATHE_RETURN_IF_ERROR(ParseElements(sizes, dimension + 1, elements));
  }
  return cursor_.Expect("]");
}

absl::StatusOr<Tensor> LiteralParser::ParseConstant() {
  const Token start = cursor_.Peek();
  LATHE_ASSIGN_OR_RETURN(ValueType type, ParseType());
  if (!type.is_tensor() || type.tensor().offset != Expr(0) ||
      type.tensor().strides != ContiguousStrides(type.tensor().sizes) ||
      type.tensor().rank() > kDepthLimit || IsStorageOnly(type.tensor().dtype)) {
    return cursor_.Error(start, "a constant is a contiguous tensor");
  }
  Dims sizes;
  for (const Expr& size : type.tensor().sizes) {
    if (!size.is_const()) return cursor_.Error(start, "the sizes of a constant are numbers");
    sizes.push_back(*size.AsInt());
  }
  LATHE_RETURN_IF_ERROR(cursor_.Expect(","));
  // The elements are read before anything is allocated: a short text cannot ask for much memory.
  std::vector<Scalar> elements;
  LATHE_RETURN_IF_ERROR(ParseElements(sizes, 0, elements));
  Tensor tensor = Tensor::Zeros(type.tensor().dtype, sizes);
  for (size_t k = 0; k < elements.size(); ++k) {
    const absl::StatusOr<Scalar> element = AsElement(elements[k], tensor.dtype());
    if (!element.ok()) return cursor_.Error(start, element.status().message());
    StoreElement(tensor.storage()->data(), tensor.dtype(), k, *element);
  }
  return tensor;
}

}  // namespace lathe::text
