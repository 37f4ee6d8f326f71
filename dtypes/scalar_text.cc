#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/scalar.h"
#include "dtypes/visit.h"

namespace lathe {
namespace {

// Shortest text of a float or double that reads back; whole numbers come without a point.
template <typename T>
std::string Shortest(T value) {
  if (std::isnan(value)) return "nan";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

double ReadDouble(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A parser reads text as f64 and rounds then, which goes wrong for the few texts that lie within
// half an f64 step of the middle between two f32. Nine digits never do.
std::string ShortestF32(float value) {
  std::string text = Shortest(value);
  if (!std::isfinite(value) || static_cast<float>(ReadDouble(text)) == value) return text;
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 8);
  return std::string(buffer, end.ptr);
}

double RoundToDigits(double value, int digits) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 std::chars_format::scientific, digits - 1);
  return ReadDouble(std::string(buffer, end.ptr));
}

// Of the roundings of `value` to some digits that read back, the one of the shortest text; of
// equally long ones the one of most digits, so that 16 does not print as 20.
template <typename T>
std::string ShortestSmall(double value) {
  std::string best = Shortest(value);
  if (!std::isfinite(value) || value == 0) return best;
  const auto bits = T::FromDouble(value).bits;
  // f16 needs five digits, the others fewer.
  for (int digits = 5; digits >= 1; --digits) {
    const double rounded = RoundToDigits(value, digits);
    if (T::FromDouble(rounded).bits != bits) continue;
    std::string text = Shortest(rounded);
    if (text.size() < best.size()) best = std::move(text);
  }
  return best;
}

std::string ShortestOf(double value, DType dtype) {
  if (dtype == DType::kF64) return Shortest(value);
  if (dtype == DType::kF32) return ShortestF32(static_cast<float>(value));
  return VisitPlain(dtype, [&]<typename T>(TypeTag<T>) -> std::string {
    if constexpr (requires(T small) { small.ToFloat(); }) {
      return ShortestSmall<T>(value);
    } else {
      LATHE_UNREACHABLE();
    }
  });
}

std::string WithPoint(std::string text) {
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string ComplexText(const std::string& real, const std::string& imaginary) {
  return absl::StrCat(real, imaginary[0] == '-' ? "" : "+", imaginary, "j");
}

absl::Status NotANumber(absl::string_view text) {
  constexpr size_t kShown = 60;
  return InvalidArgument("not a number: \"", absl::CEscape(text.substr(0, kShown)),
                         text.size() > kShown ? "...\"" : "\"");
}

struct SignedText {
  bool negative;
  absl::string_view digits;
};
SignedText SplitSign(absl::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  return {negative, text};
}

absl::StatusOr<double> ParseReal(absl::string_view text) {
  const auto [negative, digits] = SplitSign(text);
  double value = 0;
  if (digits == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (digits == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    // from_chars alone would also take "infinity" and "nan(1)".
    if (digits.empty() || !(absl::ascii_isdigit(digits[0]) || digits[0] == '.')) {
      return NotANumber(text);
    }
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ptr != end || read.ec == std::errc::invalid_argument) return NotANumber(text);
    if (read.ec == std::errc::result_out_of_range) {
      return InvalidArgument("float outside the range of f64: ", text);
    }
  }
  return negative ? -value : value;
}

absl::StatusOr<Scalar> ParseInteger(absl::string_view text) {
  auto [negative, digits] = SplitSign(text);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, magnitude, base);
  if (read.ptr != end || read.ec == std::errc::invalid_argument) return NotANumber(text);
  const bool too_big = negative && magnitude > uint64_t{1} << 63;
  if (too_big || read.ec == std::errc::result_out_of_range) {
    return InvalidArgument("integer outside [-2^63, 2^64): ", text);
  }
  if (negative) return Scalar(static_cast<int64_t>(uint64_t{0} - magnitude));
  return Scalar(magnitude);
}

absl::StatusOr<Scalar> ParseComplex(absl::string_view text) {
  const absl::string_view parts = text.substr(0, text.size() - 1);
  size_t split = parts.size();
  while (split > 0) {
    --split;
    const bool is_sign = parts[split] == '+' || parts[split] == '-';
    if (is_sign && (split == 0 || absl::ascii_tolower(parts[split - 1]) != 'e')) break;
  }
  const absl::StatusOr<double> real = split == 0 ? 0.0 : ParseReal(parts.substr(0, split));
  const absl::StatusOr<double> imaginary = ParseReal(parts.substr(split));
  if (!real.ok() || !imaginary.ok()) return NotANumber(text);
  return Scalar(std::complex<double>(*real, *imaginary));
}

bool LooksLikeInteger(absl::string_view text) {
  const absl::string_view digits = SplitSign(text).digits;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) return true;
  for (char c : digits) {
    if (!absl::ascii_isdigit(c)) return false;
  }
  return !digits.empty();
}

}  // namespace

std::string Scalar::ToString() const {
  switch (kind()) {
    case Kind::kBool:
      return ToBool() ? "true" : "false";
    case Kind::kInt:
      return absl::StrCat(ToInt());
    case Kind::kUInt:
      return absl::StrCat(ToUInt());
    case Kind::kFloat:
      return WithPoint(Shortest(ToDouble()));
    case Kind::kComplex:
      return ComplexText(Shortest(ToComplex().real()), Shortest(ToComplex().imag()));
  }
  LATHE_UNREACHABLE();
}

absl::StatusOr<Scalar> ParseScalar(absl::string_view text) {
  if (text == "true") return Scalar(true);
  if (text == "false") return Scalar(false);
  if (LooksLikeInteger(text)) return ParseInteger(text);
  if (!text.empty() && text.back() == 'j') return ParseComplex(text);
  LATHE_ASSIGN_OR_RETURN(const double value, ParseReal(text));
  return Scalar(value);
}

std::string FormatElement(const Scalar& value, DType dtype) {
  const Scalar element = Convert(value, dtype);
  if (IsFloat(dtype)) return WithPoint(ShortestOf(element.ToDouble(), dtype));
  if (!IsComplex(dtype)) return element.ToString();
  const std::complex<double> parts = element.ToComplex();
  const DType part = ComplexPart(dtype);
  return ComplexText(ShortestOf(parts.real(), part), ShortestOf(parts.imag(), part));
}

}  // namespace lathe
