#include "ir/ops/pool/window.h"

#include <limits>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/loop_masks.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {

// Sums of a few such numbers and of sizes fit 64 bits.
constexpr int64_t kLargestReach = int64_t{1} << 60;

Scalar SmallestOf(DType dtype) {
  if (IsFloat(dtype)) return Scalar(-std::numeric_limits<double>::infinity());
  if (IsUnsigned(dtype) || IsBool(dtype)) return Scalar(0);
  return Scalar(std::numeric_limits<int64_t>::min() >> (64 - BitWidth(dtype)));
}

int64_t Window::area() const {
  int64_t area = 1;
  for (int64_t k : kernel) area *= k;
  return area;
}

absl::StatusOr<Window> WindowOf(const OpArgs& args, int spatial, const WindowArguments& where) {
  Window window;
  auto read = [&](int i, int64_t fill, std::vector<int64_t>& out) -> absl::Status {
    out.assign(spatial, fill);
    if (i < 0) return absl::OkStatus();
    LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> given, args.ConstantInts(i));
    if (given.empty()) {
      out = window.kernel;  // an absent stride is the kernel's size
      return absl::OkStatus();
    }
    if (given.size() == 1) given.resize(spatial, given[0]);
    if (static_cast<int>(given.size()) != spatial) {
      return InvalidArgument(args.schema().name, ": ", args.schema().arguments[i].name,
                             " must be one or ", spatial, " integers, got ", given.size());
    }
    out = std::move(given);
    return absl::OkStatus();
  };
  LATHE_RETURN_IF_ERROR(read(where.kernel, 1, window.kernel));
  LATHE_RETURN_IF_ERROR(read(where.stride, 1, window.stride));
  LATHE_RETURN_IF_ERROR(read(where.padding, 0, window.padding));
  LATHE_RETURN_IF_ERROR(read(where.dilation, 1, window.dilation));
  window.ceil_mode = where.ceil_mode >= 0 && args.Bool(where.ceil_mode);
  for (int d = 0; d < spatial; ++d) {
    if (window.kernel[d] <= 0 || window.stride[d] <= 0 || window.dilation[d] <= 0) {
      return InvalidArgument(args.schema().name,
                             ": kernel size, stride and dilation should be "
                             "greater than zero");
    }
    int64_t reach;
    if (__builtin_mul_overflow(window.kernel[d] - 1, window.dilation[d], &reach) ||
        reach > kLargestReach || window.stride[d] > kLargestReach) {
      return OutOfRange(args.schema().name, ": a window reaches further than 64 bits can count");
    }
    ++reach;
    if (window.padding[d] < 0 || window.padding[d] > reach / 2) {
      return InvalidArgument(args.schema().name,
                             ": pad should be at most half of effective kernel "
                             "size, but got pad=",
                             window.padding[d], ", kernel_size=", window.kernel[d]);
    }
  }
  return window;
}

absl::StatusOr<std::vector<Expr>> PooledSizes(const OpArgs& args, const Window& window,
                                              const ShapeEnv& shapes) {
  const TensorType& input = args.Type(0);
  const int spatial = window.count(), first = input.rank() - spatial;
  if (first != 1 && first != 2) {
    return InvalidArgument(args.schema().name, ": expected ", spatial + 1, "D or ", spatial + 2,
                           "D input, got ", ToString(input));
  }
  std::vector<Expr> sizes = input.sizes;
  for (int d = 0; d < spatial; ++d) {
    const Expr in = input.sizes[first + d];
    const int64_t reach = (window.kernel[d] - 1) * window.dilation[d] + 1;
    Expr span = in + (2 * window.padding[d] - reach);
    Expr out =
        symbolic::FloorDiv(span + (window.ceil_mode ? window.stride[d] - 1 : 0), window.stride[d]) +
        1;
    if (window.ceil_mode) {
      // The last window must start inside the input or its left padding.
      Expr starts_outside = symbolic::Ge((out - 1) * window.stride[d], in + window.padding[d]);
      if (shapes.IsKnownTrue(starts_outside)) {
        out = out - 1;
      } else if (!shapes.IsKnownFalse(starts_outside)) {
        out = symbolic::Where(starts_outside, out - 1, out);
      }
    }
    sizes[first + d] = shapes.Simplify(out);
    if (symbolic::IsRefused(shapes, symbolic::Lt(sizes[first + d], 1))) {
      return InvalidArgument(args.schema().name, ": given input size ", ToString(input.sizes),
                             ", calculated output size is too small");
    }
  }
  return sizes;
}

Tap TapAt(OpsHandler& ops, const Window& window, const std::vector<Expr>& input_sizes, Index index,
          Index tap) {
  Tap result;
  result.index.assign(index.begin(), index.end());
  const size_t first = index.size() - window.count();
  auto require = [&](OpsValue condition) {
    result.inside = result.inside.is_valid() ? ops.And(result.inside, condition) : condition;
  };
  for (int d = 0; d < window.count(); ++d) {
    Expr& i = result.index[first + d];
    i = i * window.stride[d] + tap[d] * window.dilation[d] - window.padding[d];
    if (window.padding[d] > 0) require(IsAtLeast(ops, i, 0));
    if (window.padding[d] > 0 || window.ceil_mode) {
      require(IsBelow(ops, i, input_sizes[first + d]));
    }
  }
  return result;
}

void ForEachTap(OpsHandler& ops, const Window& window, const std::vector<Expr>& input_sizes,
                Index index, const std::function<void(const Tap&)>& visit) {
  std::vector<int64_t> at(window.count(), 0);
  for (;;) {
    std::vector<Expr> tap(at.begin(), at.end());
    visit(TapAt(ops, window, input_sizes, index, tap));
    int d = window.count() - 1;
    while (d >= 0 && ++at[d] == window.kernel[d]) at[d--] = 0;
    if (d < 0) return;
  }
}

TensorType PooledType(const TensorType& input, std::vector<Expr> sizes, DType dtype,
                      const ShapeEnv& shapes) {
  TensorType type = ContiguousType(dtype, std::move(sizes), input.device);
  if (IsChannelsLast(input, shapes)) type.strides = StridesOfChannelsLast(type.sizes);
  return type;
}

std::vector<int64_t> HostTaps(const Window& window, const std::vector<int64_t>& input_sizes,
                              const std::vector<int64_t>& output) {
  std::vector<int64_t> places;
  std::vector<int64_t> at(window.count(), 0);
  for (;;) {
    int64_t place = 0;
    bool inside = true;
    for (int d = 0; d < window.count(); ++d) {
      int64_t i = output[d] * window.stride[d] - window.padding[d] + at[d] * window.dilation[d];
      inside &= i >= 0 && i < input_sizes[d];
      place = place * input_sizes[d] + i;
    }
    if (inside) places.push_back(place);
    int d = window.count() - 1;
    while (d >= 0 && ++at[d] == window.kernel[d]) at[d--] = 0;
    if (d < 0) return places;
  }
}

}  // namespace lathe
