#include "driver/parse_value.h"

#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "dtypes/convert.h"

namespace lathe::driver {
namespace {

// Lists are read by recursion, a level a dimension.
constexpr size_t kLargestRank = 64;

int64_t MemoryBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

// The number as an element, which has to hold it: an integer type takes no other number for it.
absl::StatusOr<Scalar> AsElement(const Scalar& value, DType dtype) {
  if (!IsInteger(dtype)) return value;
  LATHE_ASSIGN_OR_RETURN(Scalar element, ConvertAs(value, dtype, ConvertMode::kChecked));
  if (element == value) return element;
  return OutOfRange(value.ToString(), " is no whole number, as ", Name(dtype), " has them");
}

// "2x3xf32" -> an uninitialised tensor.
absl::StatusOr<Tensor> ParseType(absl::string_view text, int64_t largest_bytes) {
  std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
  std::optional<DType> dtype = ParseDType(absl::StripAsciiWhitespace(parts.back()));
  if (!dtype) return InvalidArgument("'", parts.back(), "' is not a dtype");
  if (parts.size() > kLargestRank) return OutOfRange("more than ", kLargestRank - 1, " dimensions");
  Dims sizes;
  int64_t count = 1;
  for (size_t k = 0; k + 1 < parts.size(); ++k) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(parts[k], &size) || size < 0) {
      return InvalidArgument("'", parts[k], "' is not a size");
    }
    if (__builtin_mul_overflow(count, size, &count)) return OutOfRange("too many elements");
    sizes.push_back(size);
  }
  std::optional<int64_t> bytes = ByteSize(*dtype, count);
  if (!bytes || *bytes > largest_bytes) {
    return ResourceExhausted("'", text, "' is larger than this machine's memory");
  }
  return Tensor::Empty(*dtype, sizes);
}

// Fills in row-major order from "[[1, 2], [3, 4]]": brackets must nest as the sizes say.
class ListReader {
 public:
  ListReader(absl::string_view text, const Tensor& target) : rest_(text), target_(target) {}

  absl::Status Read() {
    // An empty tensor may leave out what is around its nothing.
    if (target_.numel() == 0 && rest_ == "[]") return absl::OkStatus();
    LATHE_RETURN_IF_ERROR(ReadLevel(0));
    Skip();
    if (!rest_.empty()) return InvalidArgument("unexpected '", rest_.substr(0, 20), "'");
    return absl::OkStatus();
  }

 private:
  void Skip() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  absl::Status ReadLevel(int dimension) {
    Skip();
    if (dimension == target_.rank()) return ReadElement();
    if (!absl::ConsumePrefix(&rest_, "[")) {
      return InvalidArgument("expected '[' before '", rest_.substr(0, 20), "'");
    }
    int64_t size = target_.sizes()[dimension];
    for (int64_t i = 0; i < size; ++i) {
      Skip();
      if (i > 0 && !absl::ConsumePrefix(&rest_, ",")) {
        return InvalidArgument("a list of ", size, " is expected to have more than ", i, " items");
      }
      LATHE_RETURN_IF_ERROR(ReadLevel(dimension + 1));
    }
    Skip();
    if (absl::ConsumePrefix(&rest_, "]")) return absl::OkStatus();
    return InvalidArgument("expected ']' after ", size, " items, before '", rest_.substr(0, 20),
                           "'");
  }

  absl::Status ReadElement() {
    size_t end = rest_.find_first_of(",]");
    absl::string_view word = absl::StripAsciiWhitespace(rest_.substr(0, end));
    LATHE_ASSIGN_OR_RETURN(Scalar value, ParseScalar(word));
    LATHE_ASSIGN_OR_RETURN(value, AsElement(value, target_.dtype()));
    target_.SetLinear(next_++, value);
    rest_.remove_prefix(end == absl::string_view::npos ? rest_.size() : end);
    return absl::OkStatus();
  }

  absl::string_view rest_;
  const Tensor& target_;
  int64_t next_ = 0;
};

}  // namespace

absl::StatusOr<Value> ParseValue(absl::string_view text) { return ParseValue(text, MemoryBytes()); }

absl::StatusOr<Value> ParseValue(absl::string_view text, int64_t largest_bytes) {
  std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (parts.second.empty()) {
    LATHE_ASSIGN_OR_RETURN(Scalar number, ParseScalar(text));
    return Value(number);
  }
  LATHE_ASSIGN_OR_RETURN(Tensor tensor, ParseType(parts.first, largest_bytes));
  if (IsStorageOnly(tensor.dtype())) {
    return Unimplemented("values of ", Name(tensor.dtype()), " cannot be written");
  }
  if (parts.second[0] == '[') {
    LATHE_RETURN_IF_ERROR(ListReader(parts.second, tensor).Read());
    return Value(tensor);
  }
  LATHE_ASSIGN_OR_RETURN(Scalar fill, ParseScalar(parts.second));
  LATHE_ASSIGN_OR_RETURN(fill, AsElement(fill, tensor.dtype()));
  for (int64_t k = 0, n = tensor.numel(); k < n; ++k) tensor.SetLinear(k, fill);
  return Value(tensor);
}

}  // namespace lathe::driver
