#ifndef LATHE_IR_TEXT_LEXER_H_
#define LATHE_IR_TEXT_LEXER_H_

// Words of the text form (grammar.md), with their places.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lathe::text {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kWord,    // aten.add.Tensor, f32, s0
    kNumber,  // 3, 2.5e-3, 2j
    kString,  // unescaped in `text`
    kValue,   // %name, without the %
    kGraph,   // @name, without the @
    kSign,    // punctuation: one of ( ) [ ] { } , : = + - * / // % ** << >> & | ^ == != < <= > >=
  };
  Kind kind = Kind::kEnd;
  std::string text;
  size_t begin = 0;  // byte offsets into the source
  size_t end = 0;
  bool is_sign(absl::string_view s) const { return kind == Kind::kSign && text == s; }
  bool is_word(absl::string_view s) const { return kind == Kind::kWord && text == s; }
};

struct Tokens {
  std::string source;  // with comments blanked, so that a range of it is an expression's text
  std::vector<Token> tokens;  // the last one is kEnd
};

// InvalidArgument with line and column for a character, name or string that is none.
absl::StatusOr<Tokens> Lex(absl::string_view source);

// InvalidArgument "LINE:COLUMN: message" for the byte at `offset`.
absl::Status ErrorAt(absl::string_view source, size_t offset, absl::string_view message);

}  // namespace lathe::text

#endif  // LATHE_IR_TEXT_LEXER_H_
