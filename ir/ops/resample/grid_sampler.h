#ifndef LATHE_IR_OPS_RESAMPLE_GRID_SAMPLER_H_
#define LATHE_IR_OPS_RESAMPLE_GRID_SAMPLER_H_

// How grid_sampler reads an image, and that as loops.

#include <cstdint>

#include "absl/status/statusor.h"
#include "ir/ops/op_row.h"

namespace lathe {

enum GridMode : int64_t { kGridBilinear, kGridNearest, kGridBicubic };
enum GridPadding : int64_t { kGridZeros, kGridBorder, kGridReflection };

// The arguments (input, grid, mode, padding, align_corners); `spatial` dimensions, two or three.
struct GridSampling {
  int64_t mode = kGridBilinear;
  int64_t padding = kGridZeros;
  bool align = false;
  int spatial = 2;
};

// One element of the result.
ElementBody GridSampleBody(const GridSampling& sampling, Value* input, Value* grid);

}  // namespace lathe

#endif  // LATHE_IR_OPS_RESAMPLE_GRID_SAMPLER_H_
