#include "ir/ops/lowering.h"

namespace lathe {

DType LoadedDType(DType storage) {
  if (IsSubByte(storage)) return IsSigned(storage) ? DType::kI8 : DType::kU8;
  return IsFloat(storage) ? ComputeType(storage) : storage;
}

}  // namespace lathe
