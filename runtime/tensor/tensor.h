#ifndef LATHE_RUNTIME_TENSOR_TENSOR_H_
#define LATHE_RUNTIME_TENSOR_TENSOR_H_

// Host-only tensor data: a reference-counted Storage seen through sizes, strides and an offset.
// A Tensor is a handle: copies share the storage.
//
//   Tensor t = Tensor::FromSpan<float>({2, 3}, values);
//   Tensor row = t.AsStrided({3}, {1}, 3);      // shares t's storage

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dtypes/dtype.h"
#include "dtypes/scalar.h"
#include "dtypes/small_float.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/dims.h"

namespace lathe {

// Bytes on a device. Freed by its deleter when the last reference goes; std::weak_ptr<Storage> is
// the weak handle.
class Storage {
 public:
  // Uninitialised host bytes, 64-byte aligned, padded so that a 64-byte read at the last element
  // stays inside.
  static std::shared_ptr<Storage> Allocate(int64_t size_bytes);
  // Foreign memory; `deleter` runs once, may be empty.
  static std::shared_ptr<Storage> Wrap(void* data, int64_t size_bytes,
                                       std::function<void()> deleter,
                                       Device device = Device::Cpu());
  ~Storage();
  void* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }
  const Device& device() const { return device_; }

 private:
  Storage() = default;
  void* data_ = nullptr;
  int64_t size_bytes_ = 0;
  Device device_;
  std::function<void()> deleter_;
};

// Row-major strides in elements: f32[2,3,4] -> {12, 4, 1}. Sizes 0 and 1 count as 1 would.
Dims ContiguousStrides(const Dims& sizes);

template <typename T>
struct DTypeOf;  // DTypeOf<float>::value == DType::kF32; defined below

class Tensor {
 public:
  Tensor() = default;  // undefined: is_defined() is false
  // A view of `storage`. The caller makes sure that sizes, strides and offset stay inside; use
  // Checked for sizes from outside.
  Tensor(DType dtype, Dims sizes, Dims strides, int64_t offset, std::shared_ptr<Storage> storage);
  // InvalidArgument when an element lies outside the storage, a size is negative, or a count
  // overflows.
  static absl::StatusOr<Tensor> Checked(DType dtype, Dims sizes, Dims strides, int64_t offset,
                                        std::shared_ptr<Storage> storage);
  // Uninitialised, contiguous (or with the given dense strides).
  static Tensor Empty(DType dtype, const Dims& sizes);
  static Tensor EmptyStrided(DType dtype, const Dims& sizes, const Dims& strides);
  static Tensor Zeros(DType dtype, const Dims& sizes);
  static Tensor FromScalar(DType dtype, const Scalar& value);  // 0-dim
  template <typename T>
  static Tensor FromSpan(const Dims& sizes, absl::Span<const T> values);

  bool is_defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Dims& sizes() const { return sizes_; }
  const Dims& strides() const { return strides_; }  // in elements
  int64_t offset() const { return offset_; }        // in elements
  int rank() const { return static_cast<int>(sizes_.size()); }
  int64_t numel() const;
  const Device& device() const { return storage_->device(); }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  bool is_contiguous() const;

  // First element; for sub-byte dtypes the storage's first byte (elements count from offset()).
  void* data() const;
  template <typename T>
  T* data_as() const {
    return static_cast<T*>(data());
  }

  Tensor AsStrided(const Dims& sizes, const Dims& strides, int64_t offset) const;
  // A contiguous copy with its own storage, in row-major order.
  Tensor Clone() const;
  // This tensor if contiguous, else a contiguous copy.
  Tensor Contiguous() const;
  // Copies the elements of `source` (same sizes and dtype) into this tensor's places.
  void CopyFrom(const Tensor& source) const;
  // Converts every element as dtypes' Convert does, into a new contiguous tensor.
  Tensor To(DType dtype) const;

  // Element at a multi-index, or at the k-th place in row-major order.
  Scalar At(absl::Span<const int64_t> index) const;
  Scalar AtLinear(int64_t k) const;
  void SetLinear(int64_t k, const Scalar& value) const;
  // Storage position (in elements) of the k-th element in row-major order.
  int64_t PositionOf(int64_t k) const;

 private:
  DType dtype_ = DType::kF32;
  Dims sizes_, strides_;
  int64_t offset_ = 0;
  std::shared_ptr<Storage> storage_;
};

// "f32[2, 3]{1, 2}+4 @cuda:0": the type as the text form writes it.
std::string TypeString(const Tensor& tensor);

template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kU8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::kU16;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::kU32;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::kU64;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::kI8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::kI16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kI32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kI64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kF64;
};
template <>
struct DTypeOf<F16> {
  static constexpr DType value = DType::kF16;
};
template <>
struct DTypeOf<BF16> {
  static constexpr DType value = DType::kBF16;
};

template <typename T>
Tensor Tensor::FromSpan(const Dims& sizes, absl::Span<const T> values) {
  Tensor result = Empty(DTypeOf<T>::value, sizes);
  std::copy(values.begin(), values.end(), result.data_as<T>());
  return result;
}

}  // namespace lathe

#endif  // LATHE_RUNTIME_TENSOR_TENSOR_H_
