// The reader of ATen schema strings.

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/op_args.h"

namespace lathe {
namespace {

using Type = SchemaArgument::Type;

struct ParsedType {
  Type type = Type::kAny;
  bool optional = false;
  bool list_of_optional = false;
  int list_size = 0;
  std::string alias;
  bool is_written = false;
};

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

Type ScalarTypeOf(absl::string_view word) {
  if (word == "Tensor") return Type::kTensor;
  if (word == "int" || word == "SymInt") return Type::kInt;
  if (word == "float" || word == "SymFloat") return Type::kFloat;
  if (word == "bool" || word == "SymBool") return Type::kBool;
  if (word == "Scalar" || word == "number") return Type::kScalar;
  if (word == "str") return Type::kString;
  if (word == "ScalarType") return Type::kDType;
  if (word == "Device") return Type::kDevice;
  if (word == "Layout") return Type::kLayout;
  if (word == "MemoryFormat") return Type::kMemoryFormat;
  if (word == "Graph") return Type::kGraph;
  return Type::kAny;
}

Type ListTypeOf(Type element) {
  switch (element) {
    case Type::kTensor:
      return Type::kTensorList;
    case Type::kInt:
      return Type::kIntList;
    case Type::kFloat:
      return Type::kFloatList;
    case Type::kBool:
      return Type::kBoolList;
    case Type::kScalar:
      return Type::kScalarList;
    default:
      return Type::kAny;
  }
}

class SchemaParser {
 public:
  explicit SchemaParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Schema> Parse() {
    Schema schema;
    LATHE_ASSIGN_OR_RETURN(schema.name, ParseName());
    LATHE_RETURN_IF_ERROR(ParseArguments(schema));
    if (!Take("->")) return Error("expected '->'");
    LATHE_RETURN_IF_ERROR(ParseReturns(schema));
    SkipSpace();
    if (position_ != text_.size()) return Error("unexpected text");
    return schema;
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return InvalidArgument("schema '", text_, "', column ", position_ + 1, ": ", what);
  }
  void SkipSpace() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  bool Take(absl::string_view token) {
    SkipSpace();
    if (!absl::StartsWith(text_.substr(position_), token)) return false;
    position_ += token.size();
    return true;
  }
  absl::string_view TakeWord() {
    SkipSpace();
    size_t begin = position_;
    while (position_ < text_.size() && IsWordCharacter(text_[position_])) ++position_;
    return text_.substr(begin, position_ - begin);
  }

  absl::StatusOr<std::string> ParseName() {
    std::string name(TakeWord());
    if (name.empty()) return Error("expected the operator's name");
    if (Take("::")) absl::StrAppend(&name, ".", TakeWord());
    if (absl::EndsWith(name, ".default")) name.resize(name.size() - 8);
    return name;
  }

  // "Tensor(a!)[]?", "int[2]", "Tensor?[]"
  absl::StatusOr<ParsedType> ParseType() {
    ParsedType result;
    absl::string_view word = TakeWord();
    if (word.empty()) return Error("expected a type");
    result.type = ScalarTypeOf(word);
    for (;;) {
      if (Peek("(")) {
        LATHE_RETURN_IF_ERROR(ParseAlias(result));
      } else if (Take("?")) {
        result.optional = true;
      } else if (Take("[")) {
        absl::string_view size = TakeWord();
        if (!size.empty() && !absl::SimpleAtoi(size, &result.list_size)) {
          return Error("expected a list size");
        }
        if (!Take("]")) return Error("expected ']'");
        result.type = ListTypeOf(result.type);
        result.list_of_optional = result.optional;
        result.optional = false;
      } else {
        return result;
      }
    }
  }
  bool Peek(absl::string_view token) const {
    return absl::StartsWith(text_.substr(position_), token);
  }

  // "(a)", "(a!)", "(a -> *)", "(a|b)"
  absl::Status ParseAlias(ParsedType& type) {
    Take("(");
    while (position_ < text_.size() && text_[position_] != ')') {
      char c = text_[position_++];
      if (c == '!') type.is_written = true;
      if (absl::ascii_isalnum(static_cast<unsigned char>(c)) && type.alias.empty()) type.alias = c;
    }
    return Take(")") ? absl::OkStatus() : Error("expected ')'");
  }

  absl::Status ParseArguments(Schema& schema) {
    if (!Take("(")) return Error("expected '('");
    bool keyword_only = false;
    while (!Take(")")) {
      if (Take("*")) {
        keyword_only = true;
      } else {
        LATHE_RETURN_IF_ERROR(ParseArgument(schema, keyword_only));
      }
      if (!Take(",") && !Peek(")")) return Error("expected ',' or ')'");
    }
    return absl::OkStatus();
  }

  absl::Status ParseArgument(Schema& schema, bool keyword_only) {
    LATHE_ASSIGN_OR_RETURN(ParsedType type, ParseType());
    SchemaArgument argument;
    argument.type = type.type;
    argument.optional = type.optional;
    argument.list_of_optional = type.list_of_optional;
    argument.list_size = type.list_size;
    argument.keyword_only = keyword_only;
    argument.is_alias = !type.alias.empty() && !type.is_written;
    argument.is_written = type.is_written;
    argument.name = std::string(TakeWord());
    if (argument.name.empty()) return Error("expected an argument's name");
    if (Take("=")) {
      argument.has_default = true;
      LATHE_ASSIGN_OR_RETURN(argument.default_value, ParseDefault(argument));
    }
    schema.alias_marks.push_back(type.alias);
    schema.arguments.push_back(std::move(argument));
    return absl::OkStatus();
  }

  absl::StatusOr<Argument> ParseDefault(const SchemaArgument& argument) {
    SkipSpace();
    if (Peek("\"") || Peek("'")) return ParseQuoted();
    if (Take("[")) {
      std::vector<Argument> items;
      while (!Take("]")) {
        LATHE_ASSIGN_OR_RETURN(Argument item, ParseDefaultWord(argument));
        items.push_back(std::move(item));
        if (!Take(",") && !Peek("]")) return Error("expected ',' or ']'");
      }
      return Argument::List(std::move(items));
    }
    LATHE_ASSIGN_OR_RETURN(Argument value, ParseDefaultWord(argument));
    if (argument.list_size > 0 && !value.is_none()) {
      return Argument::List(std::vector<Argument>(argument.list_size, value));
    }
    return value;
  }

  absl::StatusOr<Argument> ParseQuoted() {
    char quote = text_[position_++];
    size_t end = text_.find(quote, position_);
    if (end == absl::string_view::npos) return Error("the string does not end");
    std::string value(text_.substr(position_, end - position_));
    position_ = end + 1;
    return Argument::String(std::move(value));
  }

  absl::StatusOr<Argument> ParseDefaultWord(const SchemaArgument& argument) {
    SkipSpace();
    size_t begin = position_;
    while (position_ < text_.size() && (IsWordCharacter(text_[position_]) ||
                                        text_[position_] == '-' || text_[position_] == '+')) {
      ++position_;
    }
    absl::string_view word = text_.substr(begin, position_ - begin);
    if (word == "None") return Argument::None();
    if (word == "True") return Argument::Bool(true);
    if (word == "False") return Argument::Bool(false);
    if (word == "contiguous_format") return Argument::Of(MemoryFormat::kContiguous);
    if (word == "preserve_format") return Argument::Of(MemoryFormat::kPreserve);
    if (word == "strided") return Argument::Of(Layout::kStrided);
    if (word == "cpu") return Argument::Of(Device::Cpu());
    if (word == "Mean") return Argument::Int(1);  // at::Reduction
    if (word == "Sum") return Argument::Int(2);
    if (word == "long") return Argument::Of(DType::kI64);
    if (word == "float") return Argument::Of(DType::kF32);
    return ParseNumber(argument, word);
  }

  absl::StatusOr<Argument> ParseNumber(const SchemaArgument& argument, absl::string_view word) {
    int64_t integer;
    bool is_float = argument.type == Type::kFloat || argument.type == Type::kFloatList;
    bool is_scalar = argument.type == Type::kScalar || argument.type == Type::kScalarList;
    if (absl::SimpleAtoi(word, &integer)) {
      if (is_float) return Argument::Float(static_cast<double>(integer));
      return is_scalar ? Argument::Number(integer) : Argument::Int(integer);
    }
    double number;
    if (!absl::SimpleAtod(word, &number)) {
      return Error(absl::StrCat("unknown default '", word, "'"));
    }
    return Argument::Float(number);
  }

  absl::Status ParseReturns(Schema& schema) {
    if (!Take("(")) return ParseReturn(schema);
    while (!Take(")")) {
      LATHE_RETURN_IF_ERROR(ParseReturn(schema));
      if (!Take(",") && !Peek(")")) return Error("expected ',' or ')'");
    }
    return absl::OkStatus();
  }

  absl::Status ParseReturn(Schema& schema) {
    LATHE_ASSIGN_OR_RETURN(ParsedType type, ParseType());
    Schema::Return result;
    result.type = type.type;
    result.optional = type.optional;
    result.alias = type.alias;
    result.is_written = type.is_written;
    result.name = std::string(TakeWord());
    schema.returns.push_back(std::move(result));
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t position_ = 0;
};

}  // namespace

absl::StatusOr<Schema> ParseSchema(absl::string_view text) { return SchemaParser(text).Parse(); }

int Schema::AliasedArgument(int k) const {
  // The results of one list are all of its kind: split's are views of its argument.
  const bool is_list = returns.size() == 1 && returns[0].type == SchemaArgument::Type::kTensorList;
  const size_t at = is_list ? 0 : static_cast<size_t>(k);
  if (at >= returns.size() || returns[at].alias.empty()) return -1;
  const std::string& alias = returns[at].alias;
  for (size_t i = 0; i < alias_marks.size(); ++i) {
    if (alias_marks[i] == alias) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace lathe
