#include "ir/ops/resample/axis_taps.h"

#include <algorithm>
#include <cmath>

namespace lathe {
namespace {

// The cubic convolution kernel's parameter.
constexpr double kCubic = -0.75;

bool IsNearest(Interpolation mode) {
  return mode == Interpolation::kNearest || mode == Interpolation::kNearestExact;
}

bool IsNarrow(DType dtype) { return ComputeType(dtype) != dtype; }

// ---- Loops ----

struct LoopAxis {
  OpsHandler& ops;
  const Axis& axis;
  Expr in, out;
  DType dtype;

  OpsValue Number(double v) const { return ops.Constant(Scalar(v), dtype); }
  OpsValue Size(const Expr& e) const { return ops.IndexExpr(e, dtype); }

  // Input places per output place.
  OpsValue Ratio() const {
    if (axis.align_corners) {
      if (out == 1) return Number(0);
      return ops.Div(Size(in - 1), Size(symbolic::Max(out - 1, 1)));
    }
    if (axis.scale && *axis.scale > 0) return Number(1.0 / *axis.scale);
    return ops.Div(Size(in), Size(out));
  }

  // A float place as an index, brought into the input.
  Expr Clamped(OpsValue place) const {
    OpsValue i = ops.Cast(place, DType::kI64);
    i = ops.Minimum(i, ops.IndexExpr(in - 1, DType::kI64));
    i = ops.Maximum(i, ops.IndexExpr(0, DType::kI64));
    return ops.Indirect(i, in);
  }

  OpsValue Source(const Expr& place, bool is_cubic) const {
    if (axis.align_corners) return ops.Mul(Ratio(), Size(place));
    OpsValue half = Number(0.5);
    OpsValue source = ops.Sub(ops.Mul(Ratio(), ops.Add(Size(place), half)), half);
    return is_cubic ? source : ops.Maximum(source, Number(0));
  }

  // a * x^3 ... of the cubic kernel, near (|x| <= 1) and far.
  OpsValue Near(OpsValue x) const {
    OpsValue inner = ops.Sub(ops.Mul(Number(kCubic + 2), x), Number(kCubic + 3));
    return ops.Add(ops.Mul(ops.Mul(inner, x), x), Number(1));
  }
  OpsValue Far(OpsValue x) const {
    OpsValue inner = ops.Sub(ops.Mul(Number(kCubic), x), Number(5 * kCubic));
    inner = ops.Add(ops.Mul(inner, x), Number(8 * kCubic));
    return ops.Sub(ops.Mul(inner, x), Number(4 * kCubic));
  }
};

// ---- The host ----

template <typename R>
R HostRatio(const Axis& axis, int64_t in, int64_t out) {
  if (axis.align_corners) {
    return out > 1 ? static_cast<R>(in - 1) / static_cast<R>(out - 1) : R(0);
  }
  if (axis.scale && *axis.scale > 0) return static_cast<R>(1.0 / *axis.scale);
  return static_cast<R>(in) / static_cast<R>(out);
}

int64_t Inside(int64_t i, int64_t in) { return std::min(std::max<int64_t>(i, 0), in - 1); }

template <typename R>
std::vector<HostTap> WeightedTaps(const Axis& axis, int64_t in, int64_t out, int64_t place) {
  const bool is_cubic = axis.mode == Interpolation::kCubic;
  if (!is_cubic && in == out) return {{place, 1}};
  const R ratio = HostRatio<R>(axis, in, out);
  R source = axis.align_corners ? ratio * static_cast<R>(place)
                                : ratio * (static_cast<R>(place) + R(0.5)) - R(0.5);
  if (!is_cubic) {
    source = std::max(source, R(0));
    const int64_t first = std::min<int64_t>(static_cast<int64_t>(source), in - 1);
    R far = std::min(std::max(source - static_cast<R>(first), R(0)), R(1));
    if (IsNarrow(axis.dtype)) far = static_cast<R>(Convert(Scalar(far), axis.dtype).ToDouble());
    return {{first, 1 - far}, {first + (first < in - 1 ? 1 : 0), far}};
  }
  const R base = std::floor(source), t = source - base, a = R(kCubic);
  auto near = [&](R x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [&](R x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const int64_t first = static_cast<int64_t>(base);
  return {{Inside(first - 1, in), far(t + 1)},
          {Inside(first, in), near(t)},
          {Inside(first + 1, in), near(1 - t)},
          {Inside(first + 2, in), far(2 - t)}};
}

std::vector<LoopTap> ExactLoopTaps(OpsHandler& ops, const Axis& axis, const Expr& in,
                                   const Expr& out, const Expr& place, DType dtype) {
  if (IsNearest(axis.mode)) {
    const LoopAxis a{ops, axis, in, out, DType::kF32};
    const bool exact = axis.mode == Interpolation::kNearestExact;
    if (in == out && !exact) return {{place, {}}};
    if (out == in * 2 && !exact) return {{symbolic::FloorDiv(place, 2), {}}};
    OpsValue at = a.Size(place);
    if (exact) at = ops.Add(at, a.Number(0.5));
    return {{a.Clamped(ops.Floor(ops.Mul(at, a.Ratio()))), {}}};
  }
  const LoopAxis a{ops, axis, in, out, dtype};
  if (axis.mode == Interpolation::kLinear) {
    if (in == out) return {{place, {}}};
    OpsValue source = a.Source(place, false), base = ops.Floor(source);
    OpsValue far = ops.Minimum(ops.Maximum(ops.Sub(source, base), a.Number(0)), a.Number(1));
    // The near weight is what is missing from the far one once that is rounded.
    if (IsNarrow(axis.dtype)) far = ops.Cast(ops.Cast(far, axis.dtype), dtype);
    OpsValue near = ops.Sub(a.Number(1), far);
    return {{a.Clamped(base), near}, {a.Clamped(ops.Add(base, a.Number(1))), far}};
  }
  OpsValue source = a.Source(place, true), base = ops.Floor(source), t = ops.Sub(source, base);
  const OpsValue weights[] = {a.Far(ops.Add(t, a.Number(1))), a.Near(t),
                              a.Near(ops.Sub(a.Number(1), t)), a.Far(ops.Sub(a.Number(2), t))};
  std::vector<LoopTap> taps;
  for (int k = 0; k < 4; ++k) {
    taps.push_back({a.Clamped(ops.Add(base, a.Number(k - 1))), weights[k]});
  }
  return taps;
}

}  // namespace

std::vector<LoopTap> LoopTaps(OpsHandler& ops, const Axis& axis, const Expr& in, const Expr& out,
                              const Expr& place, DType dtype) {
  std::vector<LoopTap> taps = ExactLoopTaps(ops, axis, in, out, place, dtype);
  for (LoopTap& tap : taps) {
    if (!tap.weight.is_valid() || !IsNarrow(axis.dtype)) continue;
    tap.weight = ops.Cast(ops.Cast(tap.weight, axis.dtype), dtype);
  }
  return taps;
}

std::vector<HostTap> HostTapsAt(const Axis& axis, int64_t in, int64_t out, int64_t place,
                                bool in_double) {
  if (IsNearest(axis.mode)) {
    const bool exact = axis.mode == Interpolation::kNearestExact;
    if (in == out && !exact) return {{place, 1}};
    if (out == 2 * in && !exact) return {{place / 2, 1}};
    const float at = static_cast<float>(place) + (exact ? 0.5f : 0.0f);
    const float source = std::floor(at * HostRatio<float>(axis, in, out));
    return {{Inside(static_cast<int64_t>(source), in), 1}};
  }
  std::vector<HostTap> taps = in_double ? WeightedTaps<double>(axis, in, out, place)
                                        : WeightedTaps<float>(axis, in, out, place);
  for (HostTap& tap : taps) {
    if (IsNarrow(axis.dtype)) tap.weight = Convert(Scalar(tap.weight), axis.dtype).ToDouble();
  }
  return taps;
}

}  // namespace lathe
