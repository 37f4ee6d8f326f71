#include "symbolic/lexer.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "dtypes/base/status.h"

namespace lathe::symbolic {
namespace {

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNameChar(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The character at `i` for a message: printable ASCII as it is, others by their number.
std::string Printable(absl::string_view text, size_t i) {
  const auto byte = [&](size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
  };
  const uint32_t first = byte(i);
  if (first >= 0x20 && first < 0x7f) return std::string(1, text[i]);
  const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
  uint32_t code = more == 3 ? first & 7 : more == 2 ? first & 15 : first & 31;
  for (size_t k = 1; k <= more; ++k) {
    if (byte(i + k) >> 6 != 2) return absl::StrFormat("\\x%02x", first);
    code = code << 6 | (byte(i + k) & 63);
  }
  if (more == 0) return absl::StrFormat("\\x%02x", first);
  const std::string number = absl::StrFormat("U+%04X", code);
  return code < 0xa0 || code == 0xfeff ? number
                                       : absl::StrCat(text.substr(i, more + 1), " (", number, ")");
}

}  // namespace

absl::Status Lexer::ErrorAt(size_t position, absl::string_view message) {
  return InvalidArgument("column ", position + 1, ": ", message);
}

Token Lexer::ScanNumber(size_t i) const {
  size_t j = i;
  bool is_float = false;
  while (j < text_.size() && IsDigit(text_[j])) ++j;
  if (j < text_.size() && text_[j] == '.') {
    is_float = true;
    ++j;
    while (j < text_.size() && IsDigit(text_[j])) ++j;
  }
  if (j < text_.size() && (text_[j] == 'e' || text_[j] == 'E')) {
    size_t k = j + 1;
    if (k < text_.size() && (text_[k] == '+' || text_[k] == '-')) ++k;
    if (k < text_.size() && IsDigit(text_[k])) {
      is_float = true;
      while (k < text_.size() && IsDigit(text_[k])) ++k;
      j = k;
    }
  }
  return {is_float ? Token::kFloat : Token::kInteger, text_.substr(i, j - i), i};
}

absl::StatusOr<Token> Lexer::Scan(size_t i) const {
  while (i < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[i]))) ++i;
  if (i >= text_.size()) return Token{Token::kEnd, text_.substr(text_.size()), text_.size()};
  const char c = text_[i];
  if (IsNameStart(c)) {
    size_t j = i;
    while (j < text_.size() && IsNameChar(text_[j])) ++j;
    return Token{Token::kName, text_.substr(i, j - i), i};
  }
  const bool point_number = c == '.' && i + 1 < text_.size() && IsDigit(text_[i + 1]);
  if (IsDigit(c) || point_number) return ScanNumber(i);
  if (c == '\'' || c == '"') {
    const size_t end = text_.find(c, i + 1);
    if (end == absl::string_view::npos) return ErrorAt(i, "the string has no end");
    return Token{Token::kString, text_.substr(i + 1, end - i - 1), i};
  }
  for (const absl::string_view two : {"**", "//", "<<", ">>", "==", "!=", "<=", ">="}) {
    if (text_.substr(i, 2) == two) return Token{Token::kPunctuation, two, i};
  }
  constexpr absl::string_view kSingle = "+-*/%&|^<>()=,[].";
  if (kSingle.find(c) != absl::string_view::npos) {
    return Token{Token::kPunctuation, text_.substr(i, 1), i};
  }
  return ErrorAt(i, absl::StrCat("unexpected character '", Printable(text_, i), "'"));
}

absl::StatusOr<Token> Lexer::Next() {
  LATHE_ASSIGN_OR_RETURN(Token token, Scan(position_));
  const size_t quotes = token.kind == Token::kString ? 2 : 0;
  position_ = token.position + token.text.size() + quotes;
  return token;
}

absl::StatusOr<absl::string_view> Lexer::TakeSource(size_t start) {
  position_ = start;
  LATHE_RETURN_IF_ERROR(Next().status());
  size_t end = position_;
  int64_t depth = 0;  // of open brackets: a counter, not a call
  while (true) {
    LATHE_ASSIGN_OR_RETURN(Token token, Scan(position_));
    if (token.kind == Token::kEnd) {
      if (depth > 0) return ErrorAt(token.position, "expected a closing bracket");
      break;
    }
    const bool opens = token.Is("[") || token.Is("(");
    if (depth == 0 && !opens && !token.Is(".")) break;
    LATHE_RETURN_IF_ERROR(Next().status());
    if (opens) ++depth;
    if (token.Is("]") || token.Is(")")) --depth;
    if (depth == 0 && token.Is(".")) {
      LATHE_ASSIGN_OR_RETURN(Token attribute, Next());
      if (attribute.kind != Token::kName) {
        return ErrorAt(attribute.position, "expected a name after '.'");
      }
    }
    end = position_;
  }
  return text_.substr(start, end - start);
}

}  // namespace lathe::symbolic
