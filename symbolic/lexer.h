#ifndef LATHE_SYMBOLIC_LEXER_H_
#define LATHE_SYMBOLIC_LEXER_H_

// Tokens of expression texts, one at a time.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lathe::symbolic {

struct Token {
  enum Kind : uint8_t { kEnd, kInteger, kFloat, kName, kString, kPunctuation };
  Kind kind = kEnd;
  absl::string_view text;  // of a string: without its quotes
  size_t position = 0;     // where it starts, from 0
  bool Is(absl::string_view punctuation) const {
    return kind == kPunctuation && text == punctuation;
  }
  bool IsName(absl::string_view name) const { return kind == kName && text == name; }
};

class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  absl::StatusOr<Token> Peek() const { return Scan(position_); }
  absl::StatusOr<Token> Next();
  // The text of a source that starts at `start`: a name followed by .name, [...] and (...).
  absl::StatusOr<absl::string_view> TakeSource(size_t start);
  // "column 7: expected ')'", columns from 1.
  static absl::Status ErrorAt(size_t position, absl::string_view message);

 private:
  absl::StatusOr<Token> Scan(size_t from) const;
  Token ScanNumber(size_t i) const;

  absl::string_view text_;
  size_t position_ = 0;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_LEXER_H_
