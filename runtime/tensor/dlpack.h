#ifndef LATHE_RUNTIME_TENSOR_DLPACK_H_
#define LATHE_RUNTIME_TENSOR_DLPACK_H_

// Tensors to and from other libraries without a copy: the C structs of DLPack 1.x and its older
// unversioned form (https://dmlc.github.io/dlpack/latest/c_api.html). The layouts are the
// standard's: a pointer to one of these may be cast to the struct of the same name in dlpack.h.
//
//   absl::StatusOr<Tensor> tensor = FromDLPack(managed);        // owns `managed` from now on
//   absl::StatusOr<DLManagedTensor*> out = ToDLPack(*tensor);   // the consumer calls its deleter

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLDevice {
  int32_t device_type;  // 1: CPU, 2: CUDA
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;  // bit 0: read-only, bit 1: copied
  DLTensor dl_tensor;
};

// The result keeps the tensor's storage alive until its deleter is called. Unimplemented for
// dtypes that DLPack lacks: packed ones and f4e2m1fn_x2.
absl::StatusOr<DLManagedTensor*> ToDLPack(const Tensor& tensor);
absl::StatusOr<DLManagedTensorVersioned*> ToDLPackVersioned(const Tensor& tensor);

// A tensor over the foreign memory; the deleter is called when its last reference goes. After an
// error the caller still owns `managed`. InvalidArgument for sizes and strides that make no sense,
// Unimplemented for devices, dtypes and versions that are not known. Read-only memory is copied.
absl::StatusOr<Tensor> FromDLPack(DLManagedTensor* managed);
absl::StatusOr<Tensor> FromDLPack(DLManagedTensorVersioned* managed);

}  // namespace lathe

#endif  // LATHE_RUNTIME_TENSOR_DLPACK_H_
