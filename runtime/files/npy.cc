#include "runtime/files/npy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "dtypes/base/status.h"
#include "runtime/files/mapped_file.h"
#include "runtime/memory/pool.h"

namespace lathe {
namespace {

constexpr char kMagic[] = "\x93NUMPY";

// Python's {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
struct Header {
  std::string descr;
  std::optional<bool> fortran_order;
  std::optional<Dims> shape;
};

class HeaderParser {
 public:
  explicit HeaderParser(absl::string_view text) : rest_(text) {}

  // False where the text is something else.
  bool Parse(Header& header) {
    if (!Eat('{')) return false;
    while (!Eat('}')) {
      std::string key;
      if (!ParseText(&key) || !Eat(':')) return false;
      if (key == "descr") {
        if (!ParseText(&header.descr)) return false;
      } else if (key == "fortran_order") {
        if (!ParseBool(&header.fortran_order)) return false;
      } else if (key != "shape" || !ParseShape(&header.shape)) {
        return false;
      }
      if (!Eat(',') && Peek() != '}') return false;
    }
    Skip();
    return rest_.empty() && !header.descr.empty() && header.fortran_order && header.shape;
  }

 private:
  void Skip() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  char Peek() {
    Skip();
    return rest_.empty() ? '\0' : rest_[0];
  }
  bool Eat(char c) {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool ParseText(std::string* text) {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return false;
    const size_t end = rest_.find(quote, 1);
    if (end == absl::string_view::npos) return false;
    *text = std::string(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool ParseBool(std::optional<bool>* value) {
    Skip();
    for (const bool candidate : {true, false}) {
      const absl::string_view word = candidate ? "True" : "False";
      if (rest_.substr(0, word.size()) != word) continue;
      *value = candidate;
      rest_.remove_prefix(word.size());
      return true;
    }
    return false;
  }
  bool ParseShape(std::optional<Dims>* shape) {
    if (!Eat('(')) return false;
    Dims sizes;
    while (!Eat(')')) {
      Skip();
      size_t digits = 0;
      while (digits < rest_.size() &&
             absl::ascii_isdigit(static_cast<unsigned char>(rest_[digits]))) {
        ++digits;
      }
      int64_t size = 0;
      if (digits == 0 || !absl::SimpleAtoi(rest_.substr(0, digits), &size)) return false;
      rest_.remove_prefix(digits);
      if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // files of Python 2
      if (sizes.size() >= 64) return false;
      sizes.push_back(size);
      if (!Eat(',') && Peek() != ')') return false;
    }
    *shape = sizes;
    return true;
  }

  absl::string_view rest_;
};

std::optional<DType> DTypeOfDescr(absl::string_view kind_and_bytes) {
  static constexpr std::pair<const char*, DType> kTypes[] = {
      {"b1", DType::kBool}, {"u1", DType::kU8},   {"u2", DType::kU16}, {"u4", DType::kU32},
      {"u8", DType::kU64},  {"i1", DType::kI8},   {"i2", DType::kI16}, {"i4", DType::kI32},
      {"i8", DType::kI64},  {"f2", DType::kF16},  {"f4", DType::kF32}, {"f8", DType::kF64},
      {"c8", DType::kC64},  {"c16", DType::kC128}};
  for (const auto& [text, dtype] : kTypes) {
    if (kind_and_bytes == text) return dtype;
  }
  return std::nullopt;
}

void SwapBytes(char* data, int64_t count, int64_t number_bytes) {
  for (int64_t k = 0; k < count; ++k) {
    std::reverse(data + k * number_bytes, data + (k + 1) * number_bytes);
  }
}

Dims FortranStrides(const Dims& sizes) {
  Dims strides(sizes.size(), 1);
  for (size_t d = 1; d < sizes.size(); ++d) {
    strides[d] = strides[d - 1] * std::max<int64_t>(sizes[d - 1], 1);
  }
  return strides;
}

// The header's text and what follows it.
absl::StatusOr<std::pair<absl::string_view, absl::string_view>> Split(absl::string_view bytes,
                                                                      absl::string_view name) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != kMagic) {
    return InvalidArgument(name, ": not a .npy file");
  }
  const auto byte = [&](size_t k) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[k])); };
  const uint32_t version = byte(6);
  if (version < 1 || version > 3) return InvalidArgument(name, ": .npy version ", version);
  const size_t prefix = version == 1 ? 10 : 12;
  if (bytes.size() < prefix) return DataLoss(name, ": cut short");
  uint32_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - prefix) return DataLoss(name, ": cut short in its header");
  return std::pair(bytes.substr(prefix, length), bytes.substr(prefix + length));
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes, absl::string_view name) {
  absl::string_view text, data;
  LATHE_ASSIGN_OR_RETURN(std::tie(text, data), Split(bytes, name));
  Header header;
  if (!HeaderParser(text).Parse(header)) {
    return InvalidArgument(name, ": a header that describes no plain array: ", text.substr(0, 200));
  }
  const char order = header.descr[0];
  const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  const absl::string_view kind = absl::string_view(header.descr).substr(has_order ? 1 : 0);
  if (kind.substr(0, 1) == "O") {
    return InvalidArgument(name, ": holds pickled Python objects, which are not read");
  }
  const std::optional<DType> dtype = DTypeOfDescr(kind);
  if (!dtype) return Unimplemented(name, ": elements of type ", header.descr);
  int64_t count = 1;
  std::optional<int64_t> size_bytes;
  bool overflow = false;
  for (const int64_t size : *header.shape) overflow |= __builtin_mul_overflow(count, size, &count);
  if (!overflow) size_bytes = ByteSize(*dtype, count);
  if (!size_bytes) return InvalidArgument(name, ": the number of elements overflows");
  if (*size_bytes > static_cast<int64_t>(data.size())) {
    return DataLoss(name, ": cut short, ", data.size(), " of ", *size_bytes, " bytes");
  }
  std::shared_ptr<Storage> storage = PoolAllocate(*size_bytes);
  if (storage == nullptr) return ResourceExhausted(name, ": no memory for ", *size_bytes, " bytes");
  if (*size_bytes > 0) std::memcpy(storage->data(), data.data(), static_cast<size_t>(*size_bytes));
  if (order == '>') {
    const int64_t number_bytes = BitWidth(*dtype) / 8 / (IsComplex(*dtype) ? 2 : 1);
    SwapBytes(static_cast<char*>(storage->data()), *size_bytes / number_bytes, number_bytes);
  }
  const Dims& sizes = *header.shape;
  return Tensor::Checked(*dtype, sizes,
                         *header.fortran_order ? FortranStrides(sizes) : ContiguousStrides(sizes),
                         0, std::move(storage));
}

absl::StatusOr<Tensor> ReadNpy(const std::string& path) {
  LATHE_ASSIGN_OR_RETURN(const std::shared_ptr<MappedFile> file, MappedFile::Open(path));
  return ParseNpy(file->bytes(), path);
}

}  // namespace lathe
