#ifndef LATHE_DTYPES_CONVERT_PLAN_H_
#define LATHE_DTYPES_CONVERT_PLAN_H_

// Which loops take a real dtype to another, and in which order: f8e5m2 to i3, saturating, is
//
//   widen f8e5m2 to f32; clamp f32 to [-4, 3]; f32 to i8       (and packing, which is convert.cc's)

#include <cstdint>

#include "dtypes/convert.h"
#include "dtypes/convert_kernels.h"
#include "dtypes/dtype.h"

namespace lathe::convert_internal {

// One of the loops, the others null. `fits` and `are_bits` look at elements of `in` and leave them.
struct Step {
  Loop loop = nullptr;
  ClampLoop clamp = nullptr;
  FitsLoop fits = nullptr;
  bool (*are_bits)(const void* in, int64_t count) = nullptr;
  DType in = DType::kBool;  // a carrier
};

struct ConvertPlan {
  static constexpr int kMaxSteps = 8;
  Step steps[kMaxSteps];
  int count = 0;
  Bounds bounds;  // of the one step that has any

  void Add(const Step& step);
};

// From unpacked elements to unpacked ones: a sub-byte type is held in u8 or i8. Neither dtype is
// complex or storage-only. No steps when the bytes stay as they are.
ConvertPlan PlanConversion(DType from, DType to, ConvertMode mode);

// The integer type that holds an unpacked sub-byte element; other dtypes are themselves.
DType Unpacked(DType dtype);

}  // namespace lathe::convert_internal

#endif  // LATHE_DTYPES_CONVERT_PLAN_H_
