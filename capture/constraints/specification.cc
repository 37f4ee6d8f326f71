#include "capture/constraints/specification.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"
#include "symbolic/parser.h"

namespace lathe {
namespace {

using symbolic::Range;

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) {
  return IsNameStart(c) || absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.';
}

// One line; the first error stays.
class LineReader {
 public:
  LineReader(absl::string_view line, int64_t number) : line_(line), number_(number) {}

  void SkipBlanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }
  bool AtEnd() {
    SkipBlanks();
    return at_ >= line_.size() || line_[at_] == '#';
  }
  bool Take(absl::string_view token) {
    SkipBlanks();
    if (line_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool TakeWord(absl::string_view word) {
    const size_t before = at_;
    if (Take(word) && (at_ == line_.size() || !IsNamePart(line_[at_]))) return true;
    at_ = before;
    return false;
  }
  absl::Status Expect(absl::string_view token) {
    if (Take(token)) return absl::OkStatus();
    return Error(absl::StrCat("expected '", token, "'"));
  }
  std::optional<std::string> Name() {
    SkipBlanks();
    if (at_ >= line_.size() || !IsNameStart(line_[at_])) return std::nullopt;
    const size_t begin = at_;
    // ".." is a range, not a part of a name.
    while (at_ < line_.size() && IsNamePart(line_[at_]) && line_.substr(at_, 2) != "..") ++at_;
    return std::string(line_.substr(begin, at_ - begin));
  }
  absl::StatusOr<int64_t> Integer() {
    SkipBlanks();
    const size_t begin = at_;
    if (at_ < line_.size() && line_[at_] == '-') ++at_;
    while (at_ < line_.size() && absl::ascii_isdigit(static_cast<unsigned char>(line_[at_]))) ++at_;
    int64_t value = 0;
    if (absl::SimpleAtoi(line_.substr(begin, at_ - begin), &value)) return value;
    at_ = begin;
    return Error("expected an integer of 64 bits");
  }
  bool AtInteger() {
    SkipBlanks();
    return at_ < line_.size() &&
           (line_[at_] == '-' || absl::ascii_isdigit(static_cast<unsigned char>(line_[at_])));
  }
  absl::Status Error(absl::string_view what) const {
    return InvalidArgument("line ", number_, ", column ", at_ + 1, ": ", what);
  }
  bool IsAt(char c) {
    SkipBlanks();
    return at_ < line_.size() && line_[at_] == c;
  }
  // The name of an input: a name and what leads to a part of it, "x.0['k']".
  std::optional<std::string> Path() {
    SkipBlanks();
    const size_t begin = at_;
    if (!Name()) return std::nullopt;
    while (at_ < line_.size() && (line_[at_] == '[' || line_[at_] == '.')) {
      if (line_[at_++] == '.') {
        while (at_ < line_.size() && IsNamePart(line_[at_])) ++at_;
        continue;
      }
      const bool is_quoted = at_ < line_.size() && (line_[at_] == '\'' || line_[at_] == '"');
      size_t end = is_quoted ? line_.find(line_[at_], at_ + 1) : at_;
      if (end == absl::string_view::npos) break;
      end = line_.find(']', end);
      if (end == absl::string_view::npos) break;
      at_ = end + 1;
    }
    return std::string(line_.substr(begin, at_ - begin));
  }
  // All up to a comment.
  absl::string_view Rest() {
    SkipBlanks();
    const absl::string_view rest = line_.substr(at_);
    return rest.substr(0, rest.find('#'));
  }
  void Skip(size_t count) { at_ += count; }
  size_t at() const { return at_; }
  void Return(size_t at) { at_ = at; }

 private:
  absl::string_view line_;
  int64_t number_;
  size_t at_ = 0;
};

// "2..64", "..64", "2.."
absl::StatusOr<Range> ReadRange(LineReader& in, bool may_be_negative) {
  Range r;
  in.SkipBlanks();
  const size_t begin = in.at();
  if (in.AtInteger()) {
    LATHE_ASSIGN_OR_RETURN(r.lower, in.Integer());
  }
  LATHE_RETURN_IF_ERROR(in.Expect(".."));
  if (in.AtInteger()) {
    LATHE_ASSIGN_OR_RETURN(r.upper, in.Integer());
  }
  if (r.lower >= r.upper) {
    in.Return(begin);
    return in.Error("the upper end of a range must exceed its lower end");
  }
  if (!may_be_negative && r.lower < 0 && r.lower != Range::kMin) {
    in.Return(begin);
    return in.Error("a size is not negative");
  }
  return r;
}

absl::StatusOr<std::vector<int64_t>> ReadSet(LineReader& in) {
  LATHE_RETURN_IF_ERROR(in.Expect("{"));
  std::vector<int64_t> values;
  do {
    LATHE_ASSIGN_OR_RETURN(const int64_t value, in.Integer());
    values.push_back(value);
  } while (in.Take(","));
  LATHE_RETURN_IF_ERROR(in.Expect("}"));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

class SpecificationParser {
 public:
  absl::StatusOr<Specification> Parse(absl::string_view text) {
    int64_t number = 0;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      LineReader in(absl::StripSuffix(line, "\r"), ++number);
      if (in.AtEnd()) continue;
      LATHE_RETURN_IF_ERROR(TakesKeyword(in, "dim")     ? ReadDim(in)
                            : TakesKeyword(in, "where") ? ReadCondition(in)
                                                        : ReadInput(in));
      if (!in.AtEnd()) return in.Error("unexpected text");
    }
    return std::move(result_);
  }

 private:
  // "dim: [4]" is an input of that name.
  static bool TakesKeyword(LineReader& in, absl::string_view word) {
    const size_t begin = in.at();
    if (in.TakeWord(word) && !in.IsAt(':')) return true;
    in.Return(begin);
    return false;
  }

  absl::Status ReadDim(LineReader& in) {
    NamedDim dim;
    in.SkipBlanks();
    const size_t begin = in.at();
    const std::optional<std::string> name = in.Name();
    if (!name) return in.Error("expected the name of a dim");
    const bool reserved = *name == "auto" || *name == "dynamic" || *name == "static";
    if (reserved || result_.Find(*name) != nullptr) {
      in.Return(begin);
      return in.Error(absl::StrCat("the name '", *name, "' is taken"));
    }
    if (!symbolic::IsSymbolName(*name)) {
      in.Return(begin);
      return in.Error(absl::StrCat("'", *name, "' is no name for a dim"));
    }
    dim.name = *name;
    if (in.Take("=")) {
      LATHE_ASSIGN_OR_RETURN(dim.range, ReadRange(in, /*may_be_negative=*/true));
    } else if (in.TakeWord("in")) {
      LATHE_ASSIGN_OR_RETURN(dim.allowed, ReadSet(in));
      dim.range = {dim.allowed.front(), dim.allowed.back()};
    }
    result_.dims.push_back(std::move(dim));
    return absl::OkStatus();
  }

  absl::Status ReadCondition(LineReader& in) {
    const absl::string_view text = absl::StripTrailingAsciiWhitespace(in.Rest());
    symbolic::ExprContext context;
    const absl::StatusOr<symbolic::Expr> e = symbolic::ParseExpr(text, context);
    if (!e.ok()) {  // its column is that of the condition
      absl::string_view message = e.status().message();
      size_t column = 1;
      if (absl::ConsumePrefix(&message, "column ") &&
          absl::SimpleAtoi(message.substr(0, message.find(':')), &column)) {
        message.remove_prefix(message.find(':') + 2);
      }
      in.Skip(column - 1);
      return in.Error(message);
    }
    if (e->type() != symbolic::ExprType::kBool) return in.Error("expected a condition");
    for (const symbolic::Expr& s : symbolic::FreeSymbols(*e)) {
      if (result_.Find(s.symbol_name()) != nullptr) continue;
      return in.Error(absl::StrCat("unknown dim '", s.symbol_name(), "'"));
    }
    in.Skip(text.size());
    result_.conditions.emplace_back(text);
    return absl::OkStatus();
  }

  absl::Status ReadInput(LineReader& in) {
    InputSpec input;
    in.SkipBlanks();
    const size_t begin = in.at();
    const std::optional<std::string> name = in.Path();
    if (!name) return in.Error("expected 'dim', 'where' or the name of an input");
    for (const InputSpec& other : result_.inputs) {
      if (other.name != *name) continue;
      in.Return(begin);
      return in.Error(absl::StrCat("input '", *name, "' is there twice"));
    }
    input.name = *name;
    LATHE_RETURN_IF_ERROR(in.Expect(":"));
    input.is_scalar = !in.Take("[");
    if (input.is_scalar || !in.Take("]")) {
      do {
        LATHE_ASSIGN_OR_RETURN(DimSpec dim, ReadDimSpec(in, input.is_scalar));
        input.dims.push_back(std::move(dim));
      } while (!input.is_scalar && in.Take(","));
      if (!input.is_scalar) LATHE_RETURN_IF_ERROR(in.Expect("]"));
    }
    result_.inputs.push_back(std::move(input));
    return absl::OkStatus();
  }

  absl::StatusOr<DimSpec> ReadDimSpec(LineReader& in, bool is_scalar) {
    DimSpec dim;
    if (in.TakeWord("static")) return dim;
    const bool is_auto = in.TakeWord("auto");
    if (is_auto || in.TakeWord("dynamic")) {
      dim.kind = is_auto ? DimSpec::Kind::kAuto : DimSpec::Kind::kDynamic;
      if (!in.Take("(")) return dim;
      LATHE_ASSIGN_OR_RETURN(dim.range, ReadRange(in, is_scalar));
      LATHE_RETURN_IF_ERROR(in.Expect(")"));
      return dim;
    }
    if (in.AtInteger()) {
      LATHE_ASSIGN_OR_RETURN(dim.value, in.Integer());
      if (!in.Take("*")) {
        dim.kind = DimSpec::Kind::kValue;
        return dim.value < 0 && !is_scalar
                   ? absl::StatusOr<DimSpec>(in.Error("a size is not negative"))
                   : dim;
      }
      if (dim.value <= 0) return in.Error("a dim is multiplied by a positive integer only");
      dim.scale = dim.value;
    }
    return ReadDerived(in, std::move(dim), is_scalar);
  }

  absl::StatusOr<DimSpec> ReadDerived(LineReader& in, DimSpec dim, bool is_scalar) {
    dim.kind = DimSpec::Kind::kNamed;
    in.SkipBlanks();
    const size_t begin = in.at();
    const std::optional<std::string> name = in.Name();
    if (!name) return in.Error("expected a size: a number, a dim, auto, dynamic or static");
    const NamedDim* root = result_.Find(*name);
    if (root == nullptr) {
      in.Return(begin);
      return in.Error(absl::StrCat("unknown dim '", *name, "'"));
    }
    dim.name = *name;
    if (dim.scale == 1 && in.Take("*")) {
      LATHE_ASSIGN_OR_RETURN(dim.scale, in.Integer());
      if (dim.scale <= 0) return in.Error("a dim is multiplied by a positive integer only");
    }
    const bool minus = in.Take("-");
    if (minus || in.Take("+")) {
      LATHE_ASSIGN_OR_RETURN(dim.offset, in.Integer());
      if (dim.offset < 0) return in.Error("expected an integer without a sign");
      if (minus) dim.offset = -dim.offset;
    }
    const int64_t least = root->range.lower == Range::kMin ? 0 : root->range.lower;
    int64_t smallest;
    if (__builtin_mul_overflow(dim.scale, least, &smallest) ||
        __builtin_add_overflow(smallest, dim.offset, &smallest) || (smallest < 0 && !is_scalar)) {
      in.Return(begin);
      return in.Error(absl::StrCat("the smallest ", ToString(dim), " is negative or too large"));
    }
    return dim;
  }

  Specification result_;
};

}  // namespace

std::string RangeText(const Range& r) {
  return absl::StrCat(r.lower == Range::kMin ? "" : absl::StrCat(r.lower), "..",
                      r.upper == Range::kMax ? "" : absl::StrCat(r.upper));
}

const NamedDim* Specification::Find(absl::string_view name) const {
  for (const NamedDim& dim : dims) {
    if (dim.name == name) return &dim;
  }
  return nullptr;
}

absl::StatusOr<Specification> ParseSpecification(absl::string_view text) {
  return SpecificationParser().Parse(text);
}

std::string ToString(const DimSpec& dim) {
  const auto ranged = [&](absl::string_view word) {
    return dim.range == Range{} ? std::string(word)
                                : absl::StrCat(word, "(", RangeText(dim.range), ")");
  };
  switch (dim.kind) {
    case DimSpec::Kind::kStatic:
      return "static";
    case DimSpec::Kind::kValue:
      return absl::StrCat(dim.value);
    case DimSpec::Kind::kAuto:
      return ranged("auto");
    case DimSpec::Kind::kDynamic:
      return ranged("dynamic");
    default: {
      std::string text = dim.scale == 1 ? dim.name : absl::StrCat(dim.scale, "*", dim.name);
      if (dim.offset > 0) absl::StrAppend(&text, " + ", dim.offset);
      if (dim.offset < 0) absl::StrAppend(&text, " - ", -dim.offset);
      return text;
    }
  }
}

std::string SizeRangeText(const symbolic::Range& r) {
  return absl::StrCat(r.lower == symbolic::Range::kMin ? "0" : absl::StrCat(r.lower), "..",
                      r.upper == symbolic::Range::kMax ? "" : absl::StrCat(r.upper));
}

std::string ToString(const Specification& specification) {
  std::string text;
  for (const NamedDim& dim : specification.dims) {
    absl::StrAppend(&text, "dim ", dim.name);
    if (!dim.allowed.empty()) {
      absl::StrAppend(&text, " in {", absl::StrJoin(dim.allowed, ", "), "}");
    } else if (dim.range != Range{}) {
      absl::StrAppend(&text, " = ", RangeText(dim.range));
    }
    text += "\n";
  }
  for (const std::string& condition : specification.conditions) {
    absl::StrAppend(&text, "where ", condition, "\n");
  }
  for (const InputSpec& input : specification.inputs) {
    const std::string dims = absl::StrJoin(
        input.dims, ", ",
        [](std::string* out, const DimSpec& dim) { absl::StrAppend(out, ToString(dim)); });
    absl::StrAppend(&text, input.name, ": ", input.is_scalar ? "" : "[", dims,
                    input.is_scalar ? "" : "]", "\n");
  }
  return text;
}

}  // namespace lathe
