#include <cctype>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "ir/loops/kernel_spec.h"
#include "symbolic/parser.h"

namespace lathe {
namespace {

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The text and a position in it.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : text_(text) {}

  absl::Status Error(absl::string_view what) const {
    int line = 1, column = 1;
    for (char c : text_.substr(0, at_)) {
      ++column;
      if (c == '\n') ++line, column = 1;
    }
    return InvalidArgument("line ", line, ", column ", column, ": ", what);
  }
  void SkipSpace() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else {
        return;
      }
    }
  }
  bool AtEnd() {
    SkipSpace();
    return at_ == text_.size();
  }
  // Consumes `token`: a word, or punctuation.
  bool Try(absl::string_view token) {
    SkipSpace();
    if (text_.substr(at_, token.size()) != token) return false;
    const size_t end = at_ + token.size();
    if (IsNameChar(token.back()) && end < text_.size() && IsNameChar(text_[end])) return false;
    at_ = end;
    return true;
  }
  absl::Status Expect(absl::string_view token) {
    if (Try(token)) return absl::OkStatus();
    return Error(absl::StrCat("expected '", token, "'"));
  }
  absl::StatusOr<absl::string_view> Word() {
    SkipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    if (at_ == begin) return Error("expected a name");
    return text_.substr(begin, at_ - begin);
  }
  absl::StatusOr<int64_t> Integer() {
    SkipSpace();
    int64_t value;
    LATHE_ASSIGN_OR_RETURN(absl::string_view word, Word());
    if (!absl::SimpleAtoi(word, &value)) return Error("expected an integer");
    return value;
  }
  // A prefix letter and a number: b0, l3.
  absl::StatusOr<int64_t> Numbered(char letter) {
    LATHE_ASSIGN_OR_RETURN(absl::string_view word, Word());
    int64_t value;
    if (word[0] != letter || !absl::SimpleAtoi(word.substr(1), &value)) {
      return Error(absl::StrCat("expected ", std::string(1, letter), "0, ", std::string(1, letter),
                                "1..., not '", word, "'"));
    }
    return value;
  }
  // Everything before `stop`, which is consumed.
  absl::StatusOr<absl::string_view> Until(absl::string_view stop) {
    SkipSpace();
    const size_t end = text_.find(stop, at_);
    if (end == absl::string_view::npos) return Error(absl::StrCat("expected '", stop, "'"));
    const absl::string_view inside = text_.substr(at_, end - at_);
    at_ = end + stop.size();
    return absl::StripAsciiWhitespace(inside);
  }
  absl::StatusOr<std::string> Quoted() {
    LATHE_RETURN_IF_ERROR(Expect("\""));
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return Error("expected '\"'");
    std::string value;
    if (!absl::CUnescape(text_.substr(begin, at_++ - begin), &value)) {
      return Error("bad escape in a string");
    }
    return value;
  }

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

class SpecParser {
 public:
  SpecParser(absl::string_view text, ExprContext& context) : in_(text), context_(context) {}
  absl::StatusOr<KernelSpec> Parse();

 private:
  absl::Status Header();
  absl::Status Buffer();
  absl::Status Axis();
  absl::Status Local();
  absl::Status Outer();
  absl::Status Error();
  absl::Status Stage();
  absl::Status Operation(LoopBody& body);
  absl::Status Statement(absl::string_view word, LoopOp& op);
  absl::Status Definition(absl::string_view word, LoopOp& op);

  absl::StatusOr<std::vector<int>> AxisList();
  absl::StatusOr<DType> ParseType();
  absl::StatusOr<Expr> ExprUntil(absl::string_view stop);
  absl::StatusOr<int32_t> Operand();
  absl::Status Operands(LoopOp& op);
  absl::Status Mask(LoopOp& op);

  Scanner in_;
  ExprContext& context_;
  KernelSpec spec_;
  absl::flat_hash_map<std::string, int> axes_;
  absl::flat_hash_map<std::string, int32_t> values_;
};

absl::StatusOr<DType> SpecParser::ParseType() {
  LATHE_ASSIGN_OR_RETURN(absl::string_view word, in_.Word());
  if (std::optional<DType> dtype = ParseDType(word)) return *dtype;
  return in_.Error(absl::StrCat("unknown dtype '", word, "'"));
}

absl::StatusOr<Expr> SpecParser::ExprUntil(absl::string_view stop) {
  LATHE_ASSIGN_OR_RETURN(absl::string_view text, in_.Until(stop));
  absl::StatusOr<Expr> e = symbolic::ParseExpr(text, context_);
  if (!e.ok()) return in_.Error(absl::StrCat("in '", text, "': ", e.status().message()));
  return e;
}

absl::StatusOr<std::vector<int>> SpecParser::AxisList() {
  std::vector<int> axes;
  LATHE_RETURN_IF_ERROR(in_.Expect("["));
  if (in_.Try("]")) return axes;
  do {
    LATHE_ASSIGN_OR_RETURN(absl::string_view name, in_.Word());
    auto it = axes_.find(name);
    if (it == axes_.end()) return in_.Error(absl::StrCat("unknown axis '", name, "'"));
    axes.push_back(it->second);
  } while (in_.Try(","));
  LATHE_RETURN_IF_ERROR(in_.Expect("]"));
  return axes;
}

absl::Status SpecParser::Header() {
  LATHE_RETURN_IF_ERROR(in_.Expect("kernel"));
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, in_.Word());
  spec_.name = std::string(name);
  LATHE_RETURN_IF_ERROR(in_.Expect("("));
  while (!in_.Try(")")) {
    LATHE_ASSIGN_OR_RETURN(absl::string_view symbol, in_.Word());
    LATHE_ASSIGN_OR_RETURN(Expr e, symbolic::ParseExpr(symbol, context_));
    spec_.symbols.push_back(e);
    LATHE_RETURN_IF_ERROR(in_.Expect(":"));
    LATHE_RETURN_IF_ERROR(in_.Expect("size"));
    in_.Try(",");
  }
  return in_.Expect("{");
}

absl::Status SpecParser::Buffer() {
  LATHE_ASSIGN_OR_RETURN(int64_t number, in_.Numbered('b'));
  if (number != static_cast<int64_t>(spec_.buffers.size())) {
    return in_.Error("buffers are numbered in order");
  }
  LATHE_RETURN_IF_ERROR(in_.Expect(":"));
  SpecBuffer buffer;
  if (in_.Try("out")) {
    buffer.role = BufferRole::kOut;
  } else if (in_.Try("inout")) {
    buffer.role = BufferRole::kInOut;
  } else if (!in_.Try("in")) {
    return in_.Error("expected in, out or inout");
  }
  LATHE_ASSIGN_OR_RETURN(buffer.dtype, ParseType());
  if (in_.Try("align")) {
    LATHE_ASSIGN_OR_RETURN(int64_t alignment, in_.Integer());
    buffer.alignment_bytes = static_cast<int>(alignment);
  }
  spec_.buffers.push_back(buffer);
  return absl::OkStatus();
}

absl::Status SpecParser::Axis() {
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, in_.Word());
  LATHE_RETURN_IF_ERROR(in_.Expect(":"));
  SpecAxis axis;
  if (in_.Try("reduce")) {
    axis.kind = AxisKind::kReduce;
  } else if (!in_.Try("parallel")) {
    return in_.Error("expected parallel or reduce");
  }
  axis.symbol = context_.Symbol(name, symbolic::SymbolKind::kIndex);
  LATHE_ASSIGN_OR_RETURN(axis.extent, ExprUntil("\n"));
  if (!axes_.emplace(std::string(name), static_cast<int>(spec_.axes.size())).second) {
    return in_.Error(absl::StrCat("a second axis '", name, "'"));
  }
  spec_.axes.push_back(axis);
  return absl::OkStatus();
}

absl::Status SpecParser::Local() {
  LATHE_ASSIGN_OR_RETURN(int64_t number, in_.Numbered('l'));
  if (number != static_cast<int64_t>(spec_.locals.size())) {
    return in_.Error("locals are numbered in order");
  }
  LATHE_RETURN_IF_ERROR(in_.Expect(":"));
  SpecLocal local;
  LATHE_ASSIGN_OR_RETURN(local.dtype, ParseType());
  LATHE_ASSIGN_OR_RETURN(local.axes, AxisList());
  spec_.locals.push_back(local);
  return absl::OkStatus();
}

absl::Status SpecParser::Outer() {
  LATHE_ASSIGN_OR_RETURN(spec_.outer, AxisList());
  if (in_.Try("grain")) {
    LATHE_ASSIGN_OR_RETURN(spec_.grain, in_.Integer());
  }
  return absl::OkStatus();
}

absl::Status SpecParser::Error() {
  ErrorRow row;
  LATHE_ASSIGN_OR_RETURN(row.node, in_.Quoted());
  LATHE_ASSIGN_OR_RETURN(row.source, in_.Quoted());
  LATHE_ASSIGN_OR_RETURN(row.message, in_.Quoted());
  spec_.errors.push_back(row);
  return absl::OkStatus();
}

absl::StatusOr<int32_t> SpecParser::Operand() {
  LATHE_RETURN_IF_ERROR(in_.Expect("%"));
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, in_.Word());
  auto it = values_.find(name);
  if (it == values_.end()) return in_.Error(absl::StrCat("unknown value %", name));
  return it->second;
}

absl::Status SpecParser::Operands(LoopOp& op) {
  do {
    LATHE_ASSIGN_OR_RETURN(int32_t id, Operand());
    op.operands.push_back(id);
  } while (in_.Try(","));
  return absl::OkStatus();
}

absl::Status SpecParser::Mask(LoopOp& op) {
  if (!in_.Try("mask")) return absl::OkStatus();
  LATHE_ASSIGN_OR_RETURN(op.mask, Operand());
  return absl::OkStatus();
}

absl::Status SpecParser::Statement(absl::string_view word, LoopOp& op) {
  if (word == "check") {
    op.kind = OpKind::kCheck;
    LATHE_RETURN_IF_ERROR(Operands(op));
    LATHE_RETURN_IF_ERROR(in_.Expect("error"));
    LATHE_ASSIGN_OR_RETURN(int64_t row, in_.Integer());
    op.error = static_cast<int32_t>(row);
    return Mask(op);
  }
  const bool is_local = word == "store_local";
  if (!is_local && word != "store" && word != "store_add") {
    return in_.Error(absl::StrCat("unknown statement '", word, "'"));
  }
  op.kind = is_local ? OpKind::kStoreLocal : OpKind::kStore;
  op.mode = word == "store_add" ? StoreMode::kAtomicAdd : StoreMode::kPlain;
  LATHE_ASSIGN_OR_RETURN(int64_t buffer, in_.Numbered(is_local ? 'l' : 'b'));
  op.buffer = static_cast<BufferId>(buffer);
  if (!is_local) {
    LATHE_RETURN_IF_ERROR(in_.Expect("["));
    LATHE_ASSIGN_OR_RETURN(op.index, ExprUntil("]"));
  }
  LATHE_RETURN_IF_ERROR(in_.Expect(","));
  LATHE_RETURN_IF_ERROR(Operands(op));
  return Mask(op);
}

absl::Status SpecParser::Definition(absl::string_view word, LoopOp& op) {
  std::optional<OpKind> kind = FindOpKind(word);
  if (!kind || !HasResult(*kind)) {
    return in_.Error(absl::StrCat("unknown operation '", word, "'"));
  }
  op.kind = *kind;
  switch (op.kind) {
    case OpKind::kConstant: {
      LATHE_ASSIGN_OR_RETURN(absl::string_view text, in_.Until(":"));
      LATHE_ASSIGN_OR_RETURN(op.constant, ParseScalar(text));
      LATHE_ASSIGN_OR_RETURN(op.dtype, ParseType());
      op.constant = Convert(op.constant, op.dtype);
      return absl::OkStatus();
    }
    case OpKind::kIndexExpr: {
      LATHE_ASSIGN_OR_RETURN(op.index, ExprUntil(":"));
      LATHE_ASSIGN_OR_RETURN(op.dtype, ParseType());
      return absl::OkStatus();
    }
    case OpKind::kIndirect: {
      LATHE_RETURN_IF_ERROR(Operands(op));
      LATHE_RETURN_IF_ERROR(in_.Expect("below"));
      LATHE_ASSIGN_OR_RETURN(op.index, ExprUntil(" as "));
      LATHE_ASSIGN_OR_RETURN(absl::string_view name, in_.Word());
      op.symbol = context_.Symbol(name, symbolic::SymbolKind::kIndex);
      op.dtype = DType::kI64;
      return Mask(op);
    }
    case OpKind::kLoad:
    case OpKind::kLoadLocal: {
      const bool is_local = op.kind == OpKind::kLoadLocal;
      LATHE_ASSIGN_OR_RETURN(int64_t buffer, in_.Numbered(is_local ? 'l' : 'b'));
      op.buffer = static_cast<BufferId>(buffer);
      if (!is_local) {
        LATHE_RETURN_IF_ERROR(in_.Expect("["));
        LATHE_ASSIGN_OR_RETURN(op.index, ExprUntil("]"));
      }
      break;
    }
    case OpKind::kReduce: {
      LATHE_ASSIGN_OR_RETURN(absl::string_view name, in_.Word());
      std::optional<ReduceKind> reduce = FindReduceKind(name);
      if (!reduce) return in_.Error(absl::StrCat("unknown reduction '", name, "'"));
      op.reduce = *reduce;
      LATHE_RETURN_IF_ERROR(Operands(op));
      break;
    }
    default:
      LATHE_RETURN_IF_ERROR(Operands(op));
  }
  LATHE_RETURN_IF_ERROR(Mask(op));
  LATHE_RETURN_IF_ERROR(in_.Expect(":"));
  LATHE_ASSIGN_OR_RETURN(op.dtype, ParseType());
  return absl::OkStatus();
}

absl::Status SpecParser::Operation(LoopBody& body) {
  LoopOp op;
  std::string name;
  if (in_.Try("%")) {
    LATHE_ASSIGN_OR_RETURN(absl::string_view word, in_.Word());
    name = std::string(word);
    LATHE_RETURN_IF_ERROR(in_.Expect("="));
  }
  LATHE_ASSIGN_OR_RETURN(absl::string_view word, in_.Word());
  if (name.empty()) {
    LATHE_RETURN_IF_ERROR(Statement(word, op));
    for (int32_t operand : op.operands) op.dtype = body.ops[operand].dtype;
  } else {
    LATHE_RETURN_IF_ERROR(Definition(word, op));
    if (!values_.emplace(name, static_cast<int32_t>(body.ops.size())).second) {
      return in_.Error(absl::StrCat("a second %", name));
    }
  }
  body.ops.push_back(std::move(op));
  return absl::OkStatus();
}

absl::Status SpecParser::Stage() {
  SpecStage stage;
  values_.clear();
  LATHE_ASSIGN_OR_RETURN(stage.axes, AxisList());
  LATHE_RETURN_IF_ERROR(in_.Expect("{"));
  while (!in_.Try("}")) {
    if (in_.AtEnd()) return in_.Error("expected '}'");
    LATHE_RETURN_IF_ERROR(Operation(stage.body));
  }
  spec_.stages.push_back(std::move(stage));
  return absl::OkStatus();
}

absl::StatusOr<KernelSpec> SpecParser::Parse() {
  LATHE_RETURN_IF_ERROR(Header());
  while (!in_.Try("}")) {
    if (in_.Try("buffer")) {
      LATHE_RETURN_IF_ERROR(Buffer());
    } else if (in_.Try("axis")) {
      LATHE_RETURN_IF_ERROR(Axis());
    } else if (in_.Try("local")) {
      LATHE_RETURN_IF_ERROR(Local());
    } else if (in_.Try("outer")) {
      LATHE_RETURN_IF_ERROR(Outer());
    } else if (in_.Try("error")) {
      LATHE_RETURN_IF_ERROR(Error());
    } else if (in_.Try("stage")) {
      LATHE_RETURN_IF_ERROR(Stage());
    } else {
      return in_.Error("expected buffer, axis, local, outer, error, stage or '}'");
    }
  }
  if (!in_.AtEnd()) return in_.Error("text after the kernel");
  if (absl::Status status = VerifyKernelSpec(spec_); !status.ok()) {
    return absl::InvalidArgumentError(status.message());
  }
  return std::move(spec_);
}

}  // namespace

absl::StatusOr<KernelSpec> ParseKernelSpec(absl::string_view text, ExprContext& context) {
  return SpecParser(text, context).Parse();
}

}  // namespace lathe
