#ifndef LATHE_IR_TEXT_CURSOR_H_
#define LATHE_IR_TEXT_CURSOR_H_

// A position among tokens: what a recursive-descent parser asks of its input.

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dtypes/base/status.h"
#include "ir/text/lexer.h"

namespace lathe::text {

class Cursor {
 public:
  explicit Cursor(const Tokens& tokens, size_t at = 0) : tokens_(&tokens), at_(at) {}

  const Token& Peek(size_t ahead = 0) const {
    const size_t last = tokens_->tokens.size() - 1;
    return tokens_->tokens[at_ + ahead < last ? at_ + ahead : last];
  }
  const Token& Next() {
    const Token& token = Peek();
    if (token.kind != Token::Kind::kEnd) ++at_;
    return token;
  }
  size_t position() const { return at_; }
  void MoveTo(size_t position) { at_ = position; }
  absl::string_view source() const { return tokens_->source; }

  bool Accept(absl::string_view sign) {
    if (!Peek().is_sign(sign)) return false;
    Next();
    return true;
  }
  bool AcceptWord(absl::string_view word) {
    if (!Peek().is_word(word)) return false;
    Next();
    return true;
  }
  absl::Status Expect(absl::string_view sign) {
    if (Accept(sign)) return absl::OkStatus();
    return Unexpected(absl::StrCat("'", sign, "'"));
  }
  absl::StatusOr<std::string> Expect(Token::Kind kind, absl::string_view what) {
    if (Peek().kind != kind) return Unexpected(what);
    return Next().text;
  }

  // "LINE:COLUMN: WHAT is expected, not 'TOKEN'" for the current token.
  absl::Status Unexpected(absl::string_view what) const {
    const Token& token = Peek();
    if (token.kind == Token::Kind::kEnd) {
      return Error(token, absl::StrCat(what, " is expected, but the text ends"));
    }
    absl::string_view found = source().substr(token.begin, token.end - token.begin);
    return Error(token, absl::StrCat(what, " is expected, not '", found.substr(0, 40), "'"));
  }
  absl::Status Error(const Token& token, absl::string_view message) const {
    return ErrorAt(source(), token.begin, message);
  }
  absl::Status Error(absl::string_view message) const { return Error(Peek(), message); }

 private:
  const Tokens* tokens_;
  size_t at_;
};

}  // namespace lathe::text

#endif  // LATHE_IR_TEXT_CURSOR_H_
