#include "ir/text/lexer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"

namespace lathe::text {
namespace {

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }

class Lexer {
 public:
  explicit Lexer(absl::string_view source) { result_.source = std::string(source); }

  absl::StatusOr<Tokens> Run() {
    while (true) {
      SkipBlanks();
      if (at_ >= source().size()) break;
      LATHE_RETURN_IF_ERROR(Next());
    }
    Push(Token::Kind::kEnd, "", at_);
    return std::move(result_);
  }

 private:
  const std::string& source() const { return result_.source; }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < source().size() ? source()[at_ + ahead] : '\0';
  }

  void Push(Token::Kind kind, std::string text, size_t begin) {
    result_.tokens.push_back({kind, std::move(text), begin, at_});
  }

  // Inside brackets or a where clause, after something that ends an operand, // and % are
  // operators of an expression; elsewhere they start a comment and a value's name.
  bool AfterOperand() const {
    if ((nesting_ == 0 && !in_where_) || result_.tokens.empty()) return false;
    const Token& last = result_.tokens.back();
    return last.kind == Token::Kind::kWord || last.kind == Token::Kind::kNumber ||
           last.is_sign(")");
  }

  void SkipBlanks() {
    while (at_ < source().size()) {
      if (absl::ascii_isspace(Peek())) {
        ++at_;
      } else if (Peek() == '/' && Peek(1) == '/' && !AfterOperand()) {
        for (; at_ < source().size() && Peek() != '\n'; ++at_) result_.source[at_] = ' ';
      } else {
        return;
      }
    }
  }

  absl::Status Next() {
    const char c = Peek();
    if (absl::ascii_isalpha(c) || c == '_') return Word();
    if (absl::ascii_isdigit(c)) return Number();
    if (c == '"') {
      const size_t begin = at_;
      LATHE_ASSIGN_OR_RETURN(std::string text, String());
      Push(Token::Kind::kString, std::move(text), begin);
      return absl::OkStatus();
    }
    if (c == '@') return Name(Token::Kind::kGraph);
    if (c == '%' && !AfterOperand()) return Name(Token::Kind::kValue);
    return Sign();
  }

  absl::Status Word() {
    const size_t begin = at_;
    while (IsNameCharacter(Peek())) ++at_;
    Push(Token::Kind::kWord, source().substr(begin, at_ - begin), begin);
    if (nesting_ == 0 && result_.tokens.back().text == "where") in_where_ = true;
    return absl::OkStatus();
  }

  absl::Status Number() {
    const size_t begin = at_;
    const bool hex = Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X');
    while (IsNameCharacter(Peek())) {
      const bool exponent = !hex && (Peek() == 'e' || Peek() == 'E');
      ++at_;
      if (exponent && (Peek() == '-' || Peek() == '+')) ++at_;
    }
    Push(Token::Kind::kNumber, source().substr(begin, at_ - begin), begin);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> String() {
    const size_t begin = at_++;
    while (at_ < source().size() && Peek() != '"' && Peek() != '\n') at_ += Peek() == '\\' ? 2 : 1;
    if (Peek() != '"') return ErrorAt(source(), begin, "string without an end");
    std::string text, error;
    const absl::string_view inside(source().data() + begin + 1, at_ - begin - 1);
    if (!absl::CUnescape(inside, &text, &error)) return ErrorAt(source(), begin, error);
    ++at_;
    return text;
  }

  absl::Status Name(Token::Kind kind) {
    const size_t begin = at_++;
    if (Peek() == '"') {
      LATHE_ASSIGN_OR_RETURN(std::string text, String());
      Push(kind, std::move(text), begin);
      return absl::OkStatus();
    }
    while (IsNameCharacter(Peek())) ++at_;
    if (at_ == begin + 1) {
      return ErrorAt(source(), begin,
                     absl::StrCat("a name is expected after ", source().substr(begin, 1)));
    }
    Push(kind, source().substr(begin + 1, at_ - begin - 1), begin);
    return absl::OkStatus();
  }

  absl::Status Sign() {
    const size_t begin = at_;
    for (absl::string_view two : {"//", "**", "<<", ">>", "==", "!=", "<=", ">="}) {
      if (Peek() == two[0] && Peek(1) == two[1]) {
        at_ += 2;
        Push(Token::Kind::kSign, std::string(two), begin);
        return absl::OkStatus();
      }
    }
    const char c = Peek();
    if (absl::string_view("()[]{},:=+-*/%&|^<>").find(c) == absl::string_view::npos || c == '\0') {
      return ErrorAt(
          source(), begin,
          absl::StrCat("unexpected character '", absl::CHexEscape(absl::string_view(&c, 1)), "'"));
    }
    TrackNesting(c);
    ++at_;
    Push(Token::Kind::kSign, std::string(1, c), begin);
    return absl::OkStatus();
  }

  // Braces of strides nest (they follow a bracket at once), those of a graph's body do not.
  void TrackNesting(char c) {
    if (c == '(' || c == '[') ++nesting_;
    if ((c == ')' || c == ']') && nesting_ > 0) --nesting_;
    if (c == '{') {
      in_where_ = false;
      const bool strides = !result_.tokens.empty() && result_.tokens.back().is_sign("]");
      if (strides) ++stride_braces_, ++nesting_;
    }
    if (c == '}' && stride_braces_ > 0) {
      --stride_braces_;
      if (nesting_ > 0) --nesting_;
    }
  }

  Tokens result_;
  size_t at_ = 0;
  int64_t nesting_ = 0;
  int64_t stride_braces_ = 0;
  bool in_where_ = false;
};

}  // namespace

absl::StatusOr<Tokens> Lex(absl::string_view source) { return Lexer(source).Run(); }

absl::Status ErrorAt(absl::string_view source, size_t offset, absl::string_view message) {
  const absl::string_view before = source.substr(0, std::min(offset, source.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n');
  const size_t column =
      before.size() - (line_start == absl::string_view::npos ? 0 : line_start + 1) + 1;
  return InvalidArgument(line, ":", column, ": ", message);
}

}  // namespace lathe::text
