#ifndef LATHE_IR_OPS_RESAMPLE_AXIS_TAPS_H_
#define LATHE_IR_OPS_RESAMPLE_AXIS_TAPS_H_

// Which input places one output place reads along one dimension, and with what weights. Once for
// loops, once for the host.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/loops/ops_handler.h"
#include "symbolic/expr.h"

namespace lathe {

enum class Interpolation : uint8_t { kNearest, kNearestExact, kLinear, kCubic };

struct Axis {
  Interpolation mode = Interpolation::kNearest;
  bool align_corners = false;
  std::optional<double> scale;  // output over input, where the call gives it
  DType dtype = DType::kF32;    // that eager keeps weights in
};

// A weight that is invalid stands for 1.
struct LoopTap {
  Expr index;
  OpsValue weight;
};
// `dtype` is what weights are computed in: f32 or f64. Nearest places are computed in f32, as eager
// does.
std::vector<LoopTap> LoopTaps(OpsHandler& ops, const Axis& axis, const Expr& in, const Expr& out,
                              const Expr& place, DType dtype);

struct HostTap {
  int64_t index;
  double weight;
};
std::vector<HostTap> HostTapsAt(const Axis& axis, int64_t in, int64_t out, int64_t place,
                                bool in_double);

}  // namespace lathe

#endif  // LATHE_IR_OPS_RESAMPLE_AXIS_TAPS_H_
