#include "symbolic/parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "symbolic/apply_run.h"
#include "symbolic/functions.h"
#include "symbolic/lexer.h"
#include "symbolic/operators.h"

namespace lathe::symbolic {
namespace {

enum class Language { kExpr, kSympy, kGuard };
using Resolver = std::function<absl::StatusOr<Expr>(absl::string_view)>;

// A run of operators of one level, a prefix, an open parenthesis or call. Frames and values live
// in vectors, so that nesting costs no stack.
struct Frame {
  enum Kind : uint8_t { kRun, kPrefix, kGroup, kCall };
  Kind kind = kGroup;
  int level = 0;
  size_t base = 0;                     // its first value
  std::vector<const char*> texts;      // kRun: the operators
  const Function* function = nullptr;  // kCall
  size_t position = 0;
};

// Names that stand for something else, in lathe's own language too.
constexpr absl::string_view kWords[] = {"true", "True", "false", "False",   "inf",
                                        "and",  "or",   "not",   "overflow"};

bool IsWord(absl::string_view name) {
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
}

// What SymPy and Python write for things that are no sizes.
bool IsNoNumber(absl::string_view name, Language language) {
  if (name == "nan" || name == "None") return true;
  return language == Language::kSympy &&
         (name == "zoo" || name == "I" || name == "pi" || name == "E" || name == "EulerGamma");
}

bool IsUnbackedName(absl::string_view name) {
  return name.size() > 1 && name[0] == 'u' &&
         name.find_first_not_of("0123456789", 1) == absl::string_view::npos;
}

class Reader {
 public:
  Reader(absl::string_view text, Language language, ExprContext& context, const Resolver* resolve)
      : lexer_(text), language_(language), context_(context), resolve_(resolve) {}

  // What was the first to overflow or to divide by zero.
  std::optional<size_t> undefined_at() const { return undefined_at_; }

  absl::StatusOr<Expr> Read() {
    frames_.push_back({});
    while (true) {
      LATHE_ASSIGN_OR_RETURN(Token token, lexer_.Next());
      if (expect_operand_) {
        LATHE_RETURN_IF_ERROR(Operand(token));
      } else if (token.kind == Token::kEnd) {
        end_ = token.position;
        break;
      } else {
        LATHE_RETURN_IF_ERROR(AfterOperand(token));
      }
      LATHE_RETURN_IF_ERROR(error_);
    }
    ReduceTo(0);
    LATHE_RETURN_IF_ERROR(error_);
    if (frames_.size() != 1) {
      return Lexer::ErrorAt(end_, "expected ')'");
    }
    return Resolve(values_[0]);
  }

 private:
  bool sympy() const { return language_ != Language::kExpr; }

  // ---- operands

  absl::Status Operand(const Token& token) {
    switch (token.kind) {
      case Token::kInteger:
        return IntegerLiteral(token);
      case Token::kFloat:
        return FloatLiteral(token);
      case Token::kName:
        return Name(token);
      case Token::kPunctuation:
        return PunctuationOperand(token);
      default:
        return Lexer::ErrorAt(token.position, "expected an expression");
    }
  }

  void Push(Expr e) { Push(Fraction{e}); }
  void Push(Fraction f) {
    values_.push_back(f);
    expect_operand_ = false;
  }

  absl::Status IntegerLiteral(const Token& token) {
    uint64_t value = 0;
    if (!absl::SimpleAtoi(token.text, &value) || value > uint64_t{1} << 63) {
      return Lexer::ErrorAt(token.position, "the integer does not fit 64 bits");
    }
    if (value <= INT64_MAX) {
      Push(Expr(static_cast<int64_t>(value)));
      return absl::OkStatus();
    }
    // -9223372036854775808 is a number although its magnitude is none.
    if (frames_.back().kind == Frame::kPrefix && frames_.back().texts[0][0] == '-') {
      frames_.pop_back();
    } else if (frames_.back().kind == Frame::kRun && frames_.back().level == kAdd &&
               frames_.back().texts.back()[0] == '-') {
      frames_.back().texts.back() = "+";
    } else {
      return Lexer::ErrorAt(token.position, "the integer does not fit 64 bits");
    }
    Push(Expr(INT64_MIN));
    return absl::OkStatus();
  }

  absl::Status FloatLiteral(const Token& token) {
    double value = 0;
    if (!absl::SimpleAtod(token.text, &value)) {
      return Lexer::ErrorAt(token.position, "bad number");
    }
    Push(Expr::Float(value));
    return absl::OkStatus();
  }

  absl::Status PunctuationOperand(const Token& token) {
    if (token.Is("(")) {
      frames_.push_back({Frame::kGroup, 0, values_.size(), {}, nullptr, token.position});
      return absl::OkStatus();
    }
    if (token.Is("-") || token.Is("+")) {
      Prefix(token.Is("-") ? "-" : "+", kUnary);
      return absl::OkStatus();
    }
    const Frame& top = frames_.back();
    if (token.Is(")") && top.kind == Frame::kCall && values_.size() == top.base) {
      return Close(token);
    }
    return Lexer::ErrorAt(token.position,
                          absl::StrCat("expected an expression, not '", token.text, "'"));
  }

  void Prefix(const char* text, int level) {
    frames_.push_back({Frame::kPrefix, level, values_.size(), {text}, nullptr, 0});
  }

  absl::Status Name(const Token& token) {
    if (token.text == "not") {
      Prefix("not", kNot);
      return absl::OkStatus();
    }
    if (const std::optional<Expr> constant = NamedConstant(token.text)) {
      LATHE_ASSIGN_OR_RETURN(Token next, lexer_.Peek());
      if (!next.Is("(")) {
        Push(*constant);
        return absl::OkStatus();
      }
    }
    LATHE_ASSIGN_OR_RETURN(Token next, lexer_.Peek());
    if (language_ == Language::kGuard && next.Is(".") &&
        (token.text == "math" || token.text == "torch")) {
      LATHE_RETURN_IF_ERROR(lexer_.Next().status());
      LATHE_ASSIGN_OR_RETURN(Token function, lexer_.Next());
      LATHE_ASSIGN_OR_RETURN(Token parenthesis, lexer_.Peek());
      if (!parenthesis.Is("(")) return Lexer::ErrorAt(parenthesis.position, "expected '('");
      return Call(function);
    }
    if (next.Is("(")) return Call(token);
    if (language_ == Language::kSympy && next.Is("=")) return KeywordArgument(next);
    if (sympy()) LATHE_RETURN_IF_ERROR(RefuseBareName(token, next));
    if (language_ == Language::kGuard) {
      LATHE_ASSIGN_OR_RETURN(absl::string_view source, lexer_.TakeSource(token.position));
      absl::StatusOr<Expr> e = (*resolve_)(source);
      if (!e.ok()) return Annotate(e.status(), absl::StrCat("column ", token.position + 1));
      Push(*e);
      return absl::OkStatus();
    }
    if (FindOperator(token) != nullptr) {
      return Lexer::ErrorAt(token.position,
                            absl::StrCat("expected an expression, not '", token.text, "'"));
    }
    Push(MakeSymbol(token.text));
    return absl::OkStatus();
  }

  // Names that would become symbols by mistake.
  absl::Status RefuseBareName(const Token& name, const Token& next) const {
    if (next.Is(".") || next.Is("[")) return absl::OkStatus();  // the root of a source
    if (IsNoNumber(name.text, language_)) {
      return Lexer::ErrorAt(name.position, absl::StrCat("'", name.text, "' is no size"));
    }
    const bool is_function = language_ == Language::kSympy &&
                             (FindFunction(name.text, true) != FindFunction(name.text, false) ||
                              name.text == "Symbol" || name.text == "Float");
    if (!is_function) return absl::OkStatus();
    return Lexer::ErrorAt(next.position, absl::StrCat("expected '(' after ", name.text));
  }

  std::optional<Expr> NamedConstant(absl::string_view name) const {
    if (name == "true" || name == "True") return Expr::Bool(true);
    if (name == "false" || name == "False") return Expr::Bool(false);
    if (name == "inf" || (sympy() && (name == "oo" || name == "int_oo"))) return Expr::Infinity();
    if (name == "overflow") return Expr::Overflow();
    return std::nullopt;
  }

  Expr MakeSymbol(absl::string_view name) {
    return context_.Symbol(name,
                           IsUnbackedName(name) ? SymbolKind::kUnbacked : SymbolKind::kBacked);
  }

  absl::Status Call(const Token& name) {
    LATHE_RETURN_IF_ERROR(lexer_.Next().status());  // the parenthesis
    if (sympy() && (name.text == "Symbol" || name.text == "Dummy")) return SympySymbol();
    if (sympy() && name.text == "Float") return SympyFloat();
    const Function* function = FindFunction(name.text, sympy());
    if (function == nullptr && sympy()) {
      return Unimplemented("column ", name.position + 1, ": function ", name.text,
                           " is not supported");
    }
    if (function == nullptr) {
      return Lexer::ErrorAt(name.position, absl::StrCat("unknown function '", name.text, "'"));
    }
    const Function* around = frames_.back().function;
    if (function->build == nullptr && (around == nullptr || around->name != "Piecewise")) {
      return Lexer::ErrorAt(name.position, absl::StrCat(name.text, " outside of Piecewise"));
    }
    frames_.push_back({Frame::kCall, 0, values_.size(), {}, function, name.position});
    return absl::OkStatus();
  }

  // `name=value` within a call: attributes of SymPy objects that change no value.
  absl::Status KeywordArgument(const Token& equals) {
    if (frames_.back().kind != Frame::kCall) {
      return Lexer::ErrorAt(equals.position, "unexpected '=': an equality is Eq(a, b) or a == b");
    }
    LATHE_RETURN_IF_ERROR(lexer_.Next().status());
    LATHE_ASSIGN_OR_RETURN(Token value, lexer_.Next());
    if (value.kind == Token::kPunctuation || value.kind == Token::kEnd) {
      return Lexer::ErrorAt(value.position, "expected a value after '='");
    }
    LATHE_ASSIGN_OR_RETURN(Token next, lexer_.Next());
    if (next.Is(",")) return absl::OkStatus();
    if (next.Is(")") && frames_.back().kind == Frame::kCall) return Close(next);
    return Lexer::ErrorAt(next.position, "expected ',' or ')'");
  }

  // Symbol('s0', positive=True, integer=True)
  absl::Status SympySymbol() {
    LATHE_ASSIGN_OR_RETURN(Token name, lexer_.Next());
    if (name.kind != Token::kString || name.text.empty()) {
      return Lexer::ErrorAt(name.position, "expected the name of a symbol in quotes");
    }
    if (!IsSymbolName(name.text)) {
      return Lexer::ErrorAt(name.position, "this name of a symbol would not read back");
    }
    LATHE_RETURN_IF_ERROR(SkipAttributes());
    Push(MakeSymbol(name.text));
    return absl::OkStatus();
  }

  // Float('0.5', precision=53)
  absl::Status SympyFloat() {
    LATHE_ASSIGN_OR_RETURN(Token number, lexer_.Next());
    double value = 0;
    if (!absl::SimpleAtod(number.text, &value)) {
      return Lexer::ErrorAt(number.position, "expected a number");
    }
    LATHE_RETURN_IF_ERROR(SkipAttributes());
    Push(Expr::Float(value));
    return absl::OkStatus();
  }

  absl::Status SkipAttributes() {
    while (true) {
      LATHE_ASSIGN_OR_RETURN(Token token, lexer_.Next());
      if (token.Is(")")) return absl::OkStatus();
      const bool skipped = token.Is(",") || token.Is("=") || token.Is("-") ||
                           (token.kind != Token::kPunctuation && token.kind != Token::kEnd);
      if (!skipped) return Lexer::ErrorAt(token.position, "expected ')'");
    }
  }

  // ---- after an operand

  absl::Status AfterOperand(const Token& token) {
    if (const Operator* op = FindOperator(token)) {
      if (after_pair_) return Lexer::ErrorAt(token.position, "expected ',' or ')' after a pair");
      Infix(*op, token.position);
      return absl::OkStatus();
    }
    if (token.Is(",")) {
      ReduceTo(0);
      if (frames_.back().kind != Frame::kCall && !BeginsPair()) {
        return Lexer::ErrorAt(token.position, "unexpected ','");
      }
      expect_operand_ = true;
      after_pair_ = false;
      return absl::OkStatus();
    }
    if (token.Is(")")) return Close(token);
    return Lexer::ErrorAt(token.position,
                          absl::StrCat("expected an operator, not '", token.text, "'"));
  }

  // SymPy prints Piecewise((value, condition), ...): inside the parenthesis of a pair, after its
  // value.
  bool BeginsPair() const {
    const size_t n = frames_.size();
    if (!sympy() || n < 2 || frames_[n - 1].kind != Frame::kGroup) return false;
    const Function* around = frames_[n - 2].function;
    return around != nullptr && around->name == "Piecewise" &&
           values_.size() == frames_[n - 1].base + 1;
  }

  void Infix(const Operator& op, size_t position) {
    ReduceTo(op.level);
    expect_operand_ = true;
    Frame& top = frames_.back();
    const bool same = top.kind == Frame::kRun && top.level == op.level;
    if (same && op.level != kPow) {
      const bool chains = op.level == kCompare || op.level == kAdd || op.level == kAnd ||
                          op.level == kOr ||
                          (op.level == kMul && op.text == "*" && top.texts[0][0] == '*');
      if (chains) {
        top.texts.push_back(op.text.data());
        return;
      }
      ReduceTop();
    }
    frames_.push_back(
        {Frame::kRun, op.level, values_.size() - 1, {op.text.data()}, nullptr, position});
  }

  absl::Status Close(const Token& token) {
    ReduceTo(0);
    const Frame frame = frames_.back();
    if (frames_.size() == 1) return Lexer::ErrorAt(token.position, "unexpected ')'");
    frames_.pop_back();
    after_pair_ = frame.kind == Frame::kGroup && values_.size() == frame.base + 2;
    if (frame.kind == Frame::kGroup) return absl::OkStatus();
    const size_t count = values_.size() - frame.base;
    const Function& f = *frame.function;
    if (count < f.least_arguments || count > f.most_arguments) {
      return Lexer::ErrorAt(frame.position,
                            absl::StrCat(f.name, " takes ", f.least_arguments,
                                         f.least_arguments == f.most_arguments ? "" : " or more",
                                         " arguments, not ", count));
    }
    if (f.build == nullptr) return absl::OkStatus();
    const absl::Span<const Fraction> x = absl::MakeSpan(values_).subspan(frame.base);
    if (f.of_integers && AnyIsFloat(x)) return OfFloats(frame.position, f.name);
    const Fraction result = f.build(x);
    Note(result, x, frame.position);
    values_.resize(frame.base);
    Push(result);
    return absl::OkStatus();
  }

  // ---- reductions

  // Closes the runs and prefixes that bind tighter than `level`.
  void ReduceTo(int level) {
    while (frames_.back().level > level) ReduceTop();
  }

  void ReduceTop() {
    const Frame frame = std::move(frames_.back());
    frames_.pop_back();
    const absl::Span<Fraction> x = absl::MakeSpan(values_).subspan(frame.base);
    const bool is_run = frame.kind == Frame::kRun;
    if (is_run && TakesIntegers(frame.texts[0]) && AnyIsFloat(x)) {
      if (error_.ok()) error_ = OfFloats(frame.position, frame.texts[0]);
    }
    const bool was_undefined = AnyIsUndefined(x);
    const Fraction result =
        is_run ? ApplyRun(context_, {frame.level, frame.texts, language_ == Language::kSympy}, x)
               : ApplyPrefix(frame.texts[0], x[0]);
    if (!was_undefined) Note(result, {}, frame.position);
    values_.resize(frame.base);
    values_.push_back(result);
  }

  static bool AnyIsFloat(absl::Span<const Fraction> x) {
    return std::any_of(x.begin(), x.end(), [](const Fraction& f) {
      return f.numerator.type() == ExprType::kFloat || f.denominator.type() == ExprType::kFloat;
    });
  }
  static bool AnyIsUndefined(absl::Span<const Fraction> x) {
    return std::any_of(x.begin(), x.end(), [](const Fraction& f) {
      return f.numerator.IsOverflow() || f.denominator.IsOverflow();
    });
  }
  static absl::Status OfFloats(size_t position, absl::string_view name) {
    return Lexer::ErrorAt(position, absl::StrCat(name, " of floats is not supported"));
  }
  void Note(const Fraction& result, absl::Span<const Fraction> made_of, size_t position) {
    const bool is_undefined = AnyIsUndefined({&result, 1}) || result.denominator == 0;
    if (!undefined_at_ && is_undefined && !AnyIsUndefined(made_of)) undefined_at_ = position;
  }

  Lexer lexer_;
  const Language language_;
  ExprContext& context_;
  const Resolver* resolve_;
  std::vector<Frame> frames_;
  std::vector<Fraction> values_;
  bool expect_operand_ = true;
  bool after_pair_ = false;  // (value, condition) of a Piecewise was closed
  size_t end_ = 0;
  absl::Status error_;  // of a reduction
  std::optional<size_t> undefined_at_;
};

}  // namespace

namespace {

absl::StatusOr<Expr> ReadAll(Reader reader, size_t* undefined_column) {
  absl::StatusOr<Expr> e = reader.Read();
  if (undefined_column != nullptr) *undefined_column = reader.undefined_at().value_or(0) + 1;
  return e;
}

}  // namespace

bool IsSymbolName(absl::string_view name) {
  const auto is_part = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_part) && !IsWord(name);
}

absl::StatusOr<Expr> ParseExpr(absl::string_view text, ExprContext& context,
                               size_t* undefined_column) {
  return ReadAll(Reader(text, Language::kExpr, context, nullptr), undefined_column);
}

absl::StatusOr<Expr> ParseSympy(absl::string_view text, ExprContext& context,
                                size_t* undefined_column) {
  return ReadAll(Reader(text, Language::kSympy, context, nullptr), undefined_column);
}

absl::StatusOr<Expr> ParseGuard(absl::string_view text, ExprContext& context,
                                const Resolver& resolve) {
  return Reader(text, Language::kGuard, context, &resolve).Read();
}

}  // namespace lathe::symbolic
