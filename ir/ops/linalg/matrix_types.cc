#include "ir/ops/linalg/matrix_types.h"

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/result_rules.h"
#include "symbolic/assumed.h"

namespace lathe::linalg {

TensorType ColumnMajor(DType dtype, std::vector<Expr> sizes, Device device) {
  TensorType type = ContiguousType(dtype, std::move(sizes), device);
  const int rank = type.rank();
  if (rank >= 2) {
    type.strides[rank - 2] = 1;
    type.strides[rank - 1] = symbolic::Max(type.sizes[rank - 2], 1);
  }
  return type;
}

std::vector<Expr> LeadingSizes(const TensorType& type, int n) {
  return {type.sizes.begin(), type.sizes.end() - n};
}

std::vector<Expr> Extended(std::vector<Expr> leading, std::vector<Expr> more) {
  leading.insert(leading.end(), more.begin(), more.end());
  return leading;
}

absl::Status CheckMatrix(const InferContext& c, int i) {
  const TensorType& type = c.args.Type(i);
  const std::string& name = c.args.schema().arguments[i].name;
  if (type.rank() < 2) {
    return InvalidArgument(c.args.schema().name, ": the input tensor ", name,
                           " must have at least 2 dimensions, got ", ToString(type));
  }
  if (type.dtype != DType::kF32 && type.dtype != DType::kF64 && !IsComplex(type.dtype)) {
    return InvalidArgument(c.args.schema().name, ": expected f32, f64 or complex numbers, got ",
                           ToString(type));
  }
  return absl::OkStatus();
}

absl::Status CheckSquare(const InferContext& c, int i) {
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, i));
  const TensorType& type = c.args.Type(i);
  if (symbolic::IsRefused(c.shapes,
                          symbolic::Ne(type.sizes[type.rank() - 1], type.sizes[type.rank() - 2]))) {
    return InvalidArgument(c.args.schema().name, ": ", c.args.schema().arguments[i].name,
                           " must be batches of square matrices, got ", ToString(type));
  }
  return absl::OkStatus();
}

DType RealType(DType dtype) {
  if (dtype == DType::kC64) return DType::kF32;
  return dtype == DType::kC128 ? DType::kF64 : dtype;
}

}  // namespace lathe::linalg
