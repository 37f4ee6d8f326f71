#include "runtime/tensor/dlpack.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "dtypes/base/status.h"

namespace lathe {
namespace {

constexpr int32_t kCpu = 1, kCuda = 2;
constexpr uint64_t kReadOnly = 1;
constexpr int32_t kRankLimit = 64;

struct DTypeCode {
  DType dtype;
  uint8_t code;
  uint8_t bits;
};

// Codes of the standard: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 10.. the f8 kinds.
constexpr DTypeCode kCodes[] = {
    {DType::kBool, 6, 8},    {DType::kI8, 0, 8},          {DType::kI16, 0, 16},
    {DType::kI32, 0, 32},    {DType::kI64, 0, 64},        {DType::kU8, 1, 8},
    {DType::kU16, 1, 16},    {DType::kU32, 1, 32},        {DType::kU64, 1, 64},
    {DType::kF16, 2, 16},    {DType::kF32, 2, 32},        {DType::kF64, 2, 64},
    {DType::kBF16, 4, 16},   {DType::kC32, 5, 32},        {DType::kC64, 5, 64},
    {DType::kC128, 5, 128},  {DType::kF8E4M3FN, 10, 8},   {DType::kF8E4M3FNUZ, 11, 8},
    {DType::kF8E5M2, 12, 8}, {DType::kF8E5M2FNUZ, 13, 8}, {DType::kF8E8M0FNU, 14, 8},
};

absl::StatusOr<DLDataType> CodeOf(DType dtype) {
  for (const DTypeCode& entry : kCodes) {
    if (entry.dtype == dtype) return DLDataType{entry.code, entry.bits, 1};
  }
  return Unimplemented("DLPack has no dtype for ", Name(dtype));
}

absl::StatusOr<DType> DTypeOfCode(const DLDataType& type) {
  for (const DTypeCode& entry : kCodes) {
    if (entry.code == type.code && entry.bits == type.bits && type.lanes == 1) return entry.dtype;
  }
  return Unimplemented("DLPack dtype of code ", int{type.code}, ", ", int{type.bits}, " bits and ",
                       int{type.lanes}, " lanes");
}

// What an exported tensor points into.
template <typename Managed>
struct Export {
  Managed managed = {};
  Tensor tensor;
  Dims sizes, strides;
};

template <typename Managed>
absl::StatusOr<Managed*> MakeExport(const Tensor& tensor) {
  if (!tensor.is_defined()) return InvalidArgument("an undefined tensor has no DLPack form");
  LATHE_ASSIGN_OR_RETURN(DLDataType dtype, CodeOf(tensor.dtype()));
  auto made = std::make_unique<Export<Managed>>();
  made->tensor = tensor;
  made->sizes = tensor.sizes();
  made->strides = tensor.strides();
  DLTensor& out = made->managed.dl_tensor;
  const Device& device = tensor.device();
  out.data = tensor.storage()->data();
  out.device = {device.type == Device::Type::kCpu ? kCpu : kCuda, device.index};
  out.ndim = tensor.rank();
  out.dtype = dtype;
  out.shape = made->sizes.data();
  out.strides = made->strides.data();
  out.byte_offset = static_cast<uint64_t>(tensor.offset()) * (dtype.bits / 8);
  made->managed.manager_ctx = made.get();
  made->managed.deleter = [](Managed* self) {
    delete static_cast<Export<Managed>*>(self->manager_ctx);
  };
  return &made.release()->managed;
}

absl::StatusOr<Device> DeviceOf(const DLDevice& device) {
  if (device.device_type == kCpu) return Device::Cpu();
  if (device.device_type == kCuda && device.device_id >= 0) return Device::Cuda(device.device_id);
  return Unimplemented("DLPack device of type ", device.device_type);
}

// Bytes from the first element to behind the last one; nullopt when that makes no sense.
std::optional<int64_t> ReachBytes(DType dtype, const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    int64_t reach;
    if (strides[d] < 0 || __builtin_mul_overflow(sizes[d] - 1, strides[d], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return std::nullopt;
    }
  }
  return last == INT64_MAX ? std::nullopt : ByteSize(dtype, last + 1);
}

template <typename Managed>
absl::StatusOr<Tensor> Import(Managed* managed) {
  const DLTensor& in = managed->dl_tensor;
  LATHE_ASSIGN_OR_RETURN(DType dtype, DTypeOfCode(in.dtype));
  LATHE_ASSIGN_OR_RETURN(Device device, DeviceOf(in.device));
  if (in.ndim < 0 || in.ndim > kRankLimit || (in.ndim > 0 && in.shape == nullptr)) {
    return InvalidArgument("DLPack tensor of ", in.ndim, " dimensions");
  }
  const Dims sizes(in.shape, in.ndim);
  if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; })) {
    return InvalidArgument("DLPack tensor with a negative size");
  }
  const Dims strides = in.strides == nullptr ? ContiguousStrides(sizes) : Dims(in.strides, in.ndim);
  const std::optional<int64_t> bytes = ReachBytes(dtype, sizes, strides);
  if (!bytes.has_value()) {
    return InvalidArgument("DLPack tensor whose strides are negative or overflow");
  }
  if (in.data == nullptr && *bytes > 0) return InvalidArgument("DLPack tensor without data");
  char* data = static_cast<char*>(in.data) + in.byte_offset;
  // The deleter is set last: after an error the caller still owns `managed`.
  LATHE_RETURN_IF_ERROR(
      Tensor::Checked(dtype, sizes, strides, 0, Storage::Wrap(data, *bytes, nullptr, device))
          .status());
  auto storage = Storage::Wrap(
      data, *bytes,
      [managed] {
        if (managed->deleter != nullptr) managed->deleter(managed);
      },
      device);
  return Tensor(dtype, sizes, strides, 0, std::move(storage));
}

}  // namespace

absl::StatusOr<DLManagedTensor*> ToDLPack(const Tensor& tensor) {
  return MakeExport<DLManagedTensor>(tensor);
}

absl::StatusOr<DLManagedTensorVersioned*> ToDLPackVersioned(const Tensor& tensor) {
  LATHE_ASSIGN_OR_RETURN(DLManagedTensorVersioned * managed,
                         MakeExport<DLManagedTensorVersioned>(tensor));
  managed->version = {1, 1};
  return managed;
}

absl::StatusOr<Tensor> FromDLPack(DLManagedTensor* managed) { return Import(managed); }

absl::StatusOr<Tensor> FromDLPack(DLManagedTensorVersioned* managed) {
  if (managed->version.major != 1) {
    return Unimplemented("DLPack version ", managed->version.major, ".", managed->version.minor);
  }
  const bool read_only = (managed->flags & kReadOnly) != 0;
  if (read_only && managed->dl_tensor.device.device_type != kCpu) {
    return Unimplemented("read-only DLPack memory of a device");
  }
  LATHE_ASSIGN_OR_RETURN(Tensor tensor, Import(managed));
  return read_only ? tensor.Clone() : tensor;
}

}  // namespace lathe
