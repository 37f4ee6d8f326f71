#ifndef LATHE_DTYPES_CONVERT_STEPS_H_
#define LATHE_DTYPES_CONVERT_STEPS_H_

// The vector loops that a wrapping conversion is made of, for a caller that converts many short
// runs between the same two dtypes: it looks them up once. ConvertBuffer (convert.h) is for
// everybody else.
//
//   for (const ConvertStep& step : ConvertSteps(DType::kU8, DType::kBF16)) {   // u8, f32, bf16
//     step.loop(in, out, count);
//     std::swap(in, out);
//   }

#include <cstdint>
#include <vector>

#include "dtypes/dtype.h"

namespace lathe {

struct ConvertStep {
  // out[k] = in[k] converted, for k < count; no address needs alignment. `out` may be `in` where
  // the elements of both have the same size, and overlaps it in no other way.
  void (*loop)(const void* in, void* out, int64_t count);
  DType out;  // what the loop writes
};

// What takes elements of `from` to `to`, the last step's result: nothing where the bytes stay as
// they are. Elements of sub-byte types lie in whole bytes (packing.h), of which a step to such a
// type writes all the bits: they are those of i8 or u8. The loops are the present processor's.
// Neither dtype is complex or storage-only.
std::vector<ConvertStep> ConvertSteps(DType from, DType to);

}  // namespace lathe

#endif  // LATHE_DTYPES_CONVERT_STEPS_H_
