#ifndef LATHE_IR_OPS_POOL_WINDOW_H_
#define LATHE_IR_OPS_POOL_WINDOW_H_

// The windows of a pooling call over the last dimensions of its input.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/loops/ops_handler.h"
#include "ir/ops/op_row.h"

namespace lathe {

// One entry a spatial dimension. Kernel, stride, padding and dilation are constants.
struct Window {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode = false;
  int count() const { return static_cast<int>(kernel.size()); }
  int64_t area() const;
};

// Where the arguments of a pooling schema stand; -1: absent.
struct WindowArguments {
  int kernel = 1, stride = 2, padding = 3, dilation = -1, ceil_mode = -1;
};
absl::StatusOr<Window> WindowOf(const OpArgs& args, int spatial, const WindowArguments& where);

// The input's sizes with the last ones replaced by the numbers of windows. InvalidArgument when no
// window fits or the rank is neither spatial + 1 nor spatial + 2.
absl::StatusOr<std::vector<Expr>> PooledSizes(const OpArgs& args, const Window& window,
                                              const ShapeEnv& shapes);

// One place of a window of the output element at `index`: its input index, and the mask that says
// whether it lies inside (invalid: always).
struct Tap {
  std::vector<Expr> index;
  OpsValue inside;
};
// Calls `visit` for every place of the window, last dimension fastest.
void ForEachTap(OpsHandler& ops, const Window& window, const std::vector<Expr>& input_sizes,
                Index index, const std::function<void(const Tap&)>& visit);
// The place `tap` (one expression a spatial dimension) of the window.
Tap TapAt(OpsHandler& ops, const Window& window, const std::vector<Expr>& input_sizes, Index index,
          Index tap);

// The result types of a pooling op: sizes as given, channels last when the input is.
TensorType PooledType(const TensorType& input, std::vector<Expr> sizes, DType dtype,
                      const ShapeEnv& shapes);

// What every element is at least: -inf, or the smallest integer.
Scalar SmallestOf(DType dtype);

// Windows longer than this are loops of their own instead of unrolled.
inline constexpr int64_t kUnrolledTaps = 64;

// On the host: the input positions (row-major numbers within one channel) of a window that lie
// inside, in order.
std::vector<int64_t> HostTaps(const Window& window, const std::vector<int64_t>& input_sizes,
                              const std::vector<int64_t>& output);

}  // namespace lathe

#endif  // LATHE_IR_OPS_POOL_WINDOW_H_
