#include "runtime/tensor/tensor.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/convert.h"
#include "runtime/tensor/copy_elements.h"

namespace lathe {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kTailPadding = 64;

bool MulOverflows(int64_t a, int64_t b, int64_t* result) {
  return __builtin_mul_overflow(a, b, result);
}
bool AddOverflows(int64_t a, int64_t b, int64_t* result) {
  return __builtin_add_overflow(a, b, result);
}

// Lowest and highest storage position of any element; false when that overflows. Requires no size
// of 0.
bool PositionBounds(const Dims& sizes, const Dims& strides, int64_t offset, int64_t* low,
                    int64_t* high) {
  *low = *high = offset;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t reach;
    if (MulOverflows(sizes[d] - 1, strides[d], &reach)) return false;
    int64_t* end = reach < 0 ? low : high;
    if (AddOverflows(*end, reach, end)) return false;
  }
  return true;
}

// Positions that a storage must have: 1 + the highest.
int64_t SpanOf(const Dims& sizes, const Dims& strides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  int64_t low, high;
  LATHE_CHECK(PositionBounds(sizes, strides, 0, &low, &high)) << "tensor sizes overflow";
  LATHE_CHECK(low == 0) << "negative stride";
  return high + 1;
}

}  // namespace

std::shared_ptr<Storage> Storage::Allocate(int64_t size_bytes) {
  LATHE_CHECK(size_bytes >= 0 && size_bytes <= INT64_MAX - 2 * kAlignment) << size_bytes;
  const int64_t rounded = (size_bytes + kAlignment - 1) / kAlignment * kAlignment + kTailPadding;
  void* data = std::aligned_alloc(kAlignment, rounded);
  LATHE_CHECK(data != nullptr) << "out of memory: " << size_bytes << " bytes";
  return Wrap(data, size_bytes, [data] { std::free(data); });
}

std::shared_ptr<Storage> Storage::Wrap(void* data, int64_t size_bytes,
                                       std::function<void()> deleter, Device device) {
  std::shared_ptr<Storage> storage(new Storage());
  storage->data_ = data;
  storage->size_bytes_ = size_bytes;
  storage->device_ = device;
  storage->deleter_ = std::move(deleter);
  return storage;
}

Storage::~Storage() {
  if (deleter_) deleter_();
}

Dims ContiguousStrides(const Dims& sizes) {
  Dims strides(sizes.size(), 1);
  for (int d = static_cast<int>(sizes.size()) - 2; d >= 0; --d) {
    strides[d] = strides[d + 1] * std::max<int64_t>(sizes[d + 1], 1);
  }
  return strides;
}

Tensor::Tensor(DType dtype, Dims sizes, Dims strides, int64_t offset,
               std::shared_ptr<Storage> storage)
    : dtype_(dtype),
      sizes_(std::move(sizes)),
      strides_(std::move(strides)),
      offset_(offset),
      storage_(std::move(storage)) {}

absl::StatusOr<Tensor> Tensor::Checked(DType dtype, Dims sizes, Dims strides, int64_t offset,
                                       std::shared_ptr<Storage> storage) {
  if (storage == nullptr) return InvalidArgument("tensor without a storage");
  if (sizes.size() != strides.size()) {
    return InvalidArgument("tensor of ", sizes.size(), " sizes and ", strides.size(), " strides");
  }
  int64_t count = 1;
  bool empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0) return InvalidArgument("size ", d, " is negative: ", sizes[d]);
    if (sizes[d] == 0) empty = true;
    if (MulOverflows(count, std::max<int64_t>(sizes[d], 1), &count)) {
      return InvalidArgument("the number of elements overflows");
    }
  }
  if (offset < 0) return InvalidArgument("storage offset is negative: ", offset);
  if (!empty) {
    int64_t low, high;
    if (!PositionBounds(sizes, strides, offset, &low, &high) || high == INT64_MAX) {
      return InvalidArgument("tensor strides overflow");
    }
    const std::optional<int64_t> bytes = ByteSize(dtype, high + 1);
    if (low < 0 || !bytes.has_value() || *bytes > storage->size_bytes()) {
      return InvalidArgument("tensor reaches outside its storage: elements ", low, " to ", high,
                             " of ", Name(dtype), " in ", storage->size_bytes(), " bytes");
    }
  }
  return Tensor(dtype, std::move(sizes), std::move(strides), offset, std::move(storage));
}

Tensor Tensor::Empty(DType dtype, const Dims& sizes) {
  return EmptyStrided(dtype, sizes, ContiguousStrides(sizes));
}

Tensor Tensor::EmptyStrided(DType dtype, const Dims& sizes, const Dims& strides) {
  const std::optional<int64_t> bytes = ByteSize(dtype, SpanOf(sizes, strides));
  LATHE_CHECK(bytes.has_value()) << "tensor sizes overflow";
  return Tensor(dtype, sizes, strides, 0, Storage::Allocate(*bytes));
}

Tensor Tensor::Zeros(DType dtype, const Dims& sizes) {
  Tensor result = Empty(dtype, sizes);
  std::memset(result.storage()->data(), 0, result.storage()->size_bytes());
  return result;
}

Tensor Tensor::FromScalar(DType dtype, const Scalar& value) {
  Tensor result = Zeros(dtype, {});
  StoreElement(result.storage()->data(), dtype, 0, value);
  return result;
}

int64_t Tensor::numel() const {
  int64_t count = 1;
  for (int64_t size : sizes_) count *= size;
  return count;
}

bool Tensor::is_contiguous() const {
  int64_t expected = 1;
  bool dense = true;
  for (int d = rank() - 1; d >= 0; --d) {
    if (sizes_[d] == 0) return true;
    if (sizes_[d] == 1) continue;
    dense &= strides_[d] == expected;
    expected *= sizes_[d];
  }
  return dense;
}

void* Tensor::data() const {
  if (IsSubByte(dtype_)) return storage_->data();
  return static_cast<char*>(storage_->data()) + offset_ * (BitWidth(dtype_) / 8);
}

Tensor Tensor::AsStrided(const Dims& sizes, const Dims& strides, int64_t offset) const {
  return Tensor(dtype_, sizes, strides, offset, storage_);
}

Tensor Tensor::Clone() const {
  Tensor result = Empty(dtype_, sizes_);
  result.CopyFrom(*this);
  return result;
}

Tensor Tensor::Contiguous() const { return is_contiguous() ? *this : Clone(); }

void Tensor::CopyFrom(const Tensor& source) const {
  LATHE_CHECK(source.dtype_ == dtype_ && source.sizes_ == sizes_)
      << "copy of " << TypeString(source) << " into " << TypeString(*this);
  if (source.storage_ == storage_) {
    if (source.offset_ == offset_ && source.strides_ == strides_) return;
    return CopyFrom(source.Clone());  // the places may overlap
  }
  CopyElements(BitWidth(dtype_), sizes_, {storage_->data(), strides_, offset_},
               {source.storage_->data(), source.strides_, source.offset_});
}

Tensor Tensor::To(DType dtype) const {
  if (dtype == dtype_) return Clone();
  const Tensor source = Contiguous();
  Tensor result = Empty(dtype, sizes_);
  const absl::Status status = ConvertBuffer(source.storage_->data(), dtype_, source.offset_,
                                            result.storage_->data(), dtype, 0, numel());
  LATHE_CHECK(status.ok()) << status.message();
  return result;
}

Scalar Tensor::At(absl::Span<const int64_t> index) const {
  LATHE_CHECK(index.size() == sizes_.size());
  int64_t position = offset_;
  for (size_t d = 0; d < index.size(); ++d) {
    LATHE_CHECK(index[d] >= 0 && index[d] < sizes_[d]) << "index " << index[d];
    position += index[d] * strides_[d];
  }
  return LoadElement(storage_->data(), dtype_, position);
}

Scalar Tensor::AtLinear(int64_t k) const {
  return LoadElement(storage_->data(), dtype_, PositionOf(k));
}

void Tensor::SetLinear(int64_t k, const Scalar& value) const {
  StoreElement(storage_->data(), dtype_, PositionOf(k), value);
}

int64_t Tensor::PositionOf(int64_t k) const {
  int64_t position = offset_;
  for (int d = rank() - 1; d >= 0; --d) {
    position += k % sizes_[d] * strides_[d];
    k /= sizes_[d];
  }
  return position;
}

std::string TypeString(const Tensor& tensor) {
  if (!tensor.is_defined()) return "undefined";
  std::string text =
      absl::StrCat(absl::string_view(Name(tensor.dtype())), "[",
                   absl::StrJoin(tensor.sizes().begin(), tensor.sizes().end(), ", "), "]");
  if (!(tensor.strides() == ContiguousStrides(tensor.sizes()))) {
    absl::StrAppend(&text, "{",
                    absl::StrJoin(tensor.strides().begin(), tensor.strides().end(), ", "), "}");
  }
  if (tensor.offset() != 0) absl::StrAppend(&text, "+", tensor.offset());
  if (tensor.device() != Device::Cpu()) {
    absl::StrAppend(&text, " @", ToString(tensor.device()));
  }
  return text;
}

}  // namespace lathe
