#ifndef LATHE_IR_OPS_RESAMPLE_RESAMPLE_ROWS_H_
#define LATHE_IR_OPS_RESAMPLE_RESAMPLE_ROWS_H_

// Images at another resolution, or read at given places.

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> UpsampleRows();    // upsample_nearest, _linear, _bilinear, _bicubic
std::vector<OpRow> AntialiasRows();   // _upsample_bilinear2d_aa, _upsample_bicubic2d_aa
std::vector<OpRow> GridSampleRows();  // grid_sampler, affine_grid_generator

}  // namespace lathe

#endif  // LATHE_IR_OPS_RESAMPLE_RESAMPLE_ROWS_H_
