#include "ir/ops/resample/grid_sampler.h"

#include <vector>

#include "dtypes/dtype.h"
#include "ir/loops/ops_handler.h"

namespace lathe {
namespace {

struct Tap {
  OpsValue place;   // a whole number
  OpsValue weight;  // invalid: 1
};

// The reading of one element. Eager computes in the tensor's own dtype: in halves every operation
// rounds.
class Reader {
 public:
  Reader(OpsHandler& ops, const GridSampling& sampling, DType dtype)
      : ops_(ops), s_(sampling), dtype_(dtype), compute_(LoadedDType(dtype)) {}

  // The places along one dimension that a coordinate reads.
  std::vector<Tap> Taps(OpsValue coordinate, const Expr& size) {
    OpsValue x = Unnormalized(coordinate, size);
    if (s_.mode != kGridBicubic) x = Padded(x, size);
    if (s_.mode == kGridNearest) return {{ops_.Round(x), {}}};
    const OpsValue base = ops_.Floor(x), t = Sub(x, base);
    if (s_.mode == kGridBilinear) {
      return {{base, Sub(Number(1), t)}, {ops_.Add(base, Number(1)), t}};
    }
    const OpsValue weights[] = {Far(Add(t, Number(1))), Near(t), Near(Sub(Number(1), t)),
                                Far(Sub(Number(2), t))};
    std::vector<Tap> taps;
    for (int k = 0; k < 4; ++k) {
      taps.push_back({Padded(ops_.Add(base, Number(k - 1)), size), weights[k]});
    }
    return taps;
  }

  // The element at one tap of each dimension; 0 outside.
  OpsValue At(TensorReader& in, Value* input, std::vector<Expr> place,
              const std::vector<OpsValue>& taps) {
    const std::vector<Expr>& sizes = input->type.tensor().sizes;
    OpsValue inside;
    for (size_t d = 0; d < taps.size(); ++d) {
      const OpsValue is_low = ops_.Ge(taps[d], Number(0));
      const OpsValue is_high = ops_.Le(taps[d], Size(sizes[d + 2] - 1));
      const OpsValue both = ops_.And(is_low, is_high);
      inside = inside.is_valid() ? ops_.And(inside, both) : both;
    }
    return ops_.Masked(
        inside,
        [&] {
          for (size_t d = 0; d < taps.size(); ++d) {
            place[d + 2] = ops_.Indirect(ops_.Cast(taps[d], DType::kI64), sizes[d + 2]);
          }
          return in.Load(ops_, input, place);
        },
        Scalar(0));
  }

  OpsValue Add(OpsValue a, OpsValue b) { return Rounded(ops_.Add(a, b)); }
  OpsValue Sub(OpsValue a, OpsValue b) { return Rounded(ops_.Sub(a, b)); }
  OpsValue Mul(OpsValue a, OpsValue b) { return Rounded(ops_.Mul(a, b)); }
  OpsValue Div(OpsValue a, OpsValue b) { return Rounded(ops_.Div(a, b)); }
  OpsValue Number(double v) { return ops_.Constant(Scalar(v), compute_); }

 private:
  OpsValue Rounded(OpsValue v) {
    return dtype_ == compute_ ? v : ops_.Cast(ops_.Cast(v, dtype_), compute_);
  }
  OpsValue Size(const Expr& size) { return ops_.IndexExpr(size, compute_); }

  // In two dimensions eager scales before it shifts, in three it divides at the end.
  OpsValue Unnormalized(OpsValue x, const Expr& size) {
    const OpsValue shifted = Add(x, Number(1));
    const bool is_flat = s_.spatial == 2;
    if (s_.align) {
      const OpsValue span = Size(size - 1);
      return is_flat ? Mul(shifted, Div(span, Number(2))) : Mul(Div(shifted, Number(2)), span);
    }
    const OpsValue n = Size(size);
    return is_flat ? Sub(Mul(shifted, Div(n, Number(2))), Number(0.5))
                   : Div(Sub(Mul(shifted, n), Number(1)), Number(2));
  }

  // Mirrored between the edges.
  OpsValue Reflected(OpsValue x, const Expr& size) {
    const OpsValue low = Number(s_.align ? 0 : -0.5);
    const OpsValue span = Size(s_.align ? size - 1 : size);
    const OpsValue distance = ops_.Abs(Sub(x, low));
    OpsValue result;
    if (s_.spatial == 2) {
      // A whole period is there and back.
      const OpsValue period = ops_.Mul(span, Number(2));
      const OpsValue extra = Sub(distance, Mul(ops_.Trunc(Div(distance, period)), period));
      result = Add(ops_.Minimum(extra, Sub(period, extra)), low);
    } else {
      const OpsValue extra = Rounded(ops_.Fmod(distance, span));
      const OpsValue turns = ops_.Floor(Div(distance, span));
      const OpsValue is_back = ops_.Ne(ops_.Fmod(turns, Number(2)), Number(0));
      result = ops_.Where(is_back, Add(Sub(span, extra), low), Add(extra, low));
    }
    return ops_.Where(ops_.Eq(span, Number(0)), Number(0), result);
  }

  // NaN becomes 0 where coordinates are kept inside.
  OpsValue Padded(OpsValue x, const Expr& size) {
    if (s_.padding == kGridZeros) return x;
    if (s_.padding == kGridReflection) x = Reflected(x, size);
    x = ops_.Where(ops_.Gt(x, Number(0)), x, Number(0));
    return ops_.Minimum(x, Size(size - 1));
  }

  // The cubic convolution kernel, near (|x| <= 1) and far.
  OpsValue Near(OpsValue x) {
    const OpsValue inner = Sub(Mul(Number(kCubic + 2), x), Number(kCubic + 3));
    return Add(Mul(Mul(inner, x), x), Number(1));
  }
  OpsValue Far(OpsValue x) {
    OpsValue inner = Sub(Mul(Number(kCubic), x), Number(5 * kCubic));
    inner = Add(Mul(inner, x), Number(8 * kCubic));
    return Sub(Mul(inner, x), Number(4 * kCubic));
  }

  static constexpr double kCubic = -0.75;

  OpsHandler& ops_;
  const GridSampling& s_;
  DType dtype_, compute_;
};

// The sum over all combinations of taps, each with the product of its weights, the last
// dimension's first.
OpsValue Linear(Reader& reader, TensorReader& in, Value* input, const std::vector<Expr>& place,
                const std::vector<std::vector<Tap>>& taps) {
  std::vector<size_t> at(taps.size(), 0);
  OpsValue sum;
  for (;;) {
    std::vector<OpsValue> places;
    OpsValue weight;
    for (size_t d = 0; d < taps.size(); ++d) places.push_back(taps[d][at[d]].place);
    for (size_t d = taps.size(); d-- > 0;) {
      const OpsValue w = taps[d][at[d]].weight;
      if (w.is_valid()) weight = weight.is_valid() ? reader.Mul(weight, w) : w;
    }
    OpsValue v = reader.At(in, input, place, places);
    if (weight.is_valid()) v = reader.Mul(v, weight);
    sum = sum.is_valid() ? reader.Add(sum, v) : v;
    size_t d = taps.size();
    while (d > 0 && ++at[d - 1] == taps[d - 1].size()) at[--d] = 0;
    if (d == 0) return sum;
  }
}

// Rows first, then their sum.
OpsValue Cubic(Reader& reader, TensorReader& in, Value* input, const std::vector<Expr>& place,
               const std::vector<std::vector<Tap>>& taps) {
  OpsValue sum;
  for (const Tap& y : taps[0]) {
    OpsValue row;
    for (const Tap& x : taps[1]) {
      const OpsValue v = reader.Mul(x.weight, reader.At(in, input, place, {y.place, x.place}));
      row = row.is_valid() ? reader.Add(row, v) : v;
    }
    row = reader.Mul(y.weight, row);
    sum = sum.is_valid() ? reader.Add(sum, row) : row;
  }
  return sum;
}

}  // namespace

ElementBody GridSampleBody(const GridSampling& sampling, Value* input, Value* grid) {
  return [=](OpsHandler& ops, TensorReader& in, Index index) {
    const TensorType type = input->type.tensor();
    Reader reader(ops, sampling, type.dtype);
    std::vector<Expr> at = {index[0]};
    at.insert(at.end(), index.begin() + 2, index.end());
    at.push_back(0);
    std::vector<std::vector<Tap>> taps;
    for (int d = 0; d < sampling.spatial; ++d) {
      at.back() = sampling.spatial - 1 - d;  // the grid names the last dimension first
      taps.push_back(reader.Taps(in.Load(ops, grid, at), type.sizes[d + 2]));
    }
    const std::vector<Expr> place(index.begin(), index.end());
    return sampling.mode == kGridBicubic ? Cubic(reader, in, input, place, taps)
                                         : Linear(reader, in, input, place, taps);
  };
}

}  // namespace lathe
