// What the stages of a kernel share: constants, and where locals lie.

#include <algorithm>

#include "codegen/tile/stage_compiler.h"

namespace lathe::tile {

int32_t ConstantPool::OffsetOf(const Scalar& value, DType storage) {
  std::string block(kScalarBytes, '\0');
  const int64_t count = kScalarBytes / LayoutOf(storage).bytes;
  for (int64_t k = 0; k < count; ++k) StoreElement(block.data(), storage, k, value);
  auto [it, is_new] = offsets_.try_emplace(block, static_cast<int32_t>(bytes_.size()));
  if (is_new) bytes_ += block;
  return it->second;
}

DType StorageOf(DType dtype) {
  if (!IsSubByte(dtype)) return dtype;
  return IsSigned(dtype) ? DType::kI8 : DType::kU8;
}

std::vector<int> LocalAxesInOrder(const KernelSpec& spec, int l) {
  std::vector<int> axes = spec.locals[l].axes;
  std::stable_partition(axes.begin(), axes.end(), [](int axis) { return axis == 0; });
  return axes;
}

AffineForm LocalPlace(const KernelContext& kernel, int l) {
  AffineForm form;
  const std::vector<int> axes = LocalAxesInOrder(kernel.spec, l);
  Expr stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    form.coefficients[*axis] = stride;
    stride = stride * kernel.spec.axes[*axis].extent;
  }
  if (kernel.batched_axis >= 0) form.coefficients[kernel.batched_axis] = stride;
  return form;
}

}  // namespace lathe::tile
