#include "dtypes/convert_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dtypes/base/check.h"
#include "dtypes/convert_steps.h"
#include "dtypes/small_float.h"
#include "dtypes/visit.h"

namespace lathe::convert_internal {
namespace {

using Int128 = __int128;

Int128 Least(DType d) { return IsSigned(d) ? -(Int128{1} << (BitWidth(d) - 1)) : 0; }
Int128 Greatest(DType d) { return (Int128{1} << (BitWidth(d) - (IsSigned(d) ? 1 : 0))) - 1; }

bool IsSmallFloat(DType d) { return IsFloat(d) && BitWidth(d) <= 16; }

// The f32 farthest from 0 that a small float holds as a finite number, after rounding.
template <typename Small>
float LastFinite() {
  uint32_t fits = 0, too_big = 0x7f800000;  // bits of floats, which ascend as their values do
  while (too_big - fits > 1) {
    const uint32_t middle = fits + (too_big - fits) / 2;
    const float rounded = Small::FromFloat(std::bit_cast<float>(middle)).ToFloat();
    (std::isfinite(rounded) ? fits : too_big) = middle;
  }
  return std::bit_cast<float>(fits);
}

bool HoldsInfinity(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF8E5M2 ||
         dtype == DType::kF32 || dtype == DType::kF64;
}

Bounds SmallFloatBounds(DType to) {
  Bounds bounds;
  VisitPlain(to, [&]<typename T>(TypeTag<T>) {
    if constexpr (requires(T small) { small.ToFloat(); }) {
      static const float kLast = LastFinite<T>();
      bounds.float_high = static_cast<double>(kLast);
    }
  });
  bounds.float_low = to == DType::kF8E8M0FNU ? 0x1p-127 : -bounds.float_high;
  bounds.infinities_fit = HoldsInfinity(to);
  bounds.nan_fits = true;
  return bounds;
}

// The doubles on this side of the middle between f32's last number and 2^128.
Bounds F32Bounds() {
  Bounds bounds;
  bounds.float_high = 0x1.fffffefffffffp127;
  bounds.float_low = -bounds.float_high;
  bounds.infinities_fit = bounds.nan_fits = true;
  return bounds;
}

// Of the numbers whose whole part is in the range of `to`, the least and the greatest of the
// carrier. An end that the carrier rounds is a float with no digits after the point.
template <typename Float>
void SetFloatBounds(DType to, Bounds& bounds) {
  const Float infinity = std::numeric_limits<Float>::infinity();
  const Float past_low = static_cast<Float>(Least(to) - 1);
  const Float low = static_cast<Float>(Least(to));
  bounds.float_low =
      static_cast<double>(past_low == low ? low : std::nextafter(past_low, infinity));
  bounds.float_high =
      static_cast<double>(std::nextafter(static_cast<Float>(Greatest(to) + 1), Float{0}));
}

Bounds IntegerBounds(DType carrier, DType to) {
  Bounds bounds;
  if (carrier == DType::kF32) {
    SetFloatBounds<float>(to, bounds);
  } else if (carrier == DType::kF64) {
    SetFloatBounds<double>(to, bounds);
  } else {
    const Int128 low = std::max(Least(to), Least(carrier));
    const Int128 high = std::min(Greatest(to), Greatest(carrier));
    bounds.signed_low = static_cast<int64_t>(low);
    bounds.signed_high = static_cast<int64_t>(high);
    bounds.unsigned_low = static_cast<uint64_t>(low);
    bounds.unsigned_high = static_cast<uint64_t>(high);
  }
  return bounds;
}

bool AlwaysFits(DType carrier, DType integer) {
  return IsInteger(carrier) && Least(integer) <= Least(carrier) &&
         Greatest(integer) >= Greatest(carrier);
}

// Collects steps, and knows in which type the elements are.
class Planner {
 public:
  Planner(DType from, ConvertMode mode)
      : loops_(ConvertLoops()), mode_(mode), carrier_(Unpacked(from)) {
    const Loop widen = loops_.widen[static_cast<int>(from)];
    if (widen == nullptr) return;
    plan_.Add({.loop = widen, .in = from});
    carrier_ = IsBool(from) ? DType::kU8 : DType::kF32;
  }

  ConvertPlan To(DType to) {
    if (IsBool(to)) {
      ToBool();
    } else if (IsSmallFloat(to)) {
      ToSmallFloat(to);
    } else if (IsInteger(to)) {
      ToInteger(to);
    } else {
      if (to == DType::kF32 && carrier_ == DType::kF64) AddBounds(F32Bounds());
      Become(to);
    }
    return plan_;
  }

 private:
  // By the core loop, which integers of one width do not need.
  void Become(DType to) {
    const bool same = carrier_ == to ||
                      (IsInteger(carrier_) && IsInteger(to) && BitWidth(carrier_) == BitWidth(to));
    if (!same) Run(loops_.core[Index(carrier_)][Index(to)]);
    carrier_ = to;
  }
  void Run(Loop loop) { plan_.Add({.loop = loop, .in = carrier_}); }

  void AddBounds(const Bounds& bounds) {
    plan_.bounds = bounds;
    if (mode_ == ConvertMode::kSaturate) {
      plan_.Add({.clamp = loops_.clamp[Index(carrier_)], .in = carrier_});
    } else if (mode_ == ConvertMode::kChecked) {
      plan_.Add({.fits = loops_.fits[Index(carrier_)], .in = carrier_});
    }
  }

  void ToBool() {
    if (mode_ == ConvertMode::kChecked) {
      plan_.Add({.are_bits = loops_.are_bits[Index(carrier_)], .in = carrier_});
    }
    Become(DType::kBool);
  }

  void ToSmallFloat(DType to) {
    if (carrier_ != DType::kF32) Run(loops_.to_odd_f32[Index(carrier_)]);
    carrier_ = DType::kF32;
    AddBounds(SmallFloatBounds(to));
    Run(loops_.narrow[Index(to)]);
  }

  void ToInteger(DType to) {
    const bool from_float = IsFloat(carrier_);
    if (mode_ != ConvertMode::kWrap && !AlwaysFits(carrier_, to)) {
      // f32 cannot hold the ends of wide ranges, nor f64 those of 64 bits.
      const bool saturates = mode_ == ConvertMode::kSaturate;
      if (saturates && carrier_ == DType::kF32 && BitWidth(to) > 24) Become(DType::kF64);
      if (saturates && from_float && BitWidth(to) == 64) {
        return Run(IsSigned(to) ? loops_.f64_to_i64_saturated : loops_.f64_to_u64_saturated);
      }
      AddBounds(IntegerBounds(carrier_, to));
    }
    Become(Unpacked(to));
  }

  static int Index(DType dtype) { return static_cast<int>(dtype); }

  const Loops& loops_;
  const ConvertMode mode_;
  DType carrier_;
  ConvertPlan plan_;
};

}  // namespace

void ConvertPlan::Add(const Step& step) {
  LATHE_CHECK(count < kMaxSteps);
  steps[count++] = step;
}

DType Unpacked(DType dtype) {
  if (!IsSubByte(dtype)) return dtype;
  return IsSigned(dtype) ? DType::kI8 : DType::kU8;
}

ConvertPlan PlanConversion(DType from, DType to, ConvertMode mode) {
  LATHE_CHECK(!IsComplex(from) && !IsComplex(to) && !IsStorageOnly(from) && !IsStorageOnly(to));
  return Planner(from, mode).To(to);
}

}  // namespace lathe::convert_internal

namespace lathe {

std::vector<ConvertStep> ConvertSteps(DType from, DType to) {
  const convert_internal::ConvertPlan plan =
      convert_internal::PlanConversion(from, to, ConvertMode::kWrap);
  std::vector<ConvertStep> steps;
  for (int k = 0; k < plan.count; ++k) {
    const bool is_last = k + 1 == plan.count;
    steps.push_back(
        {plan.steps[k].loop, is_last ? convert_internal::Unpacked(to) : plan.steps[k + 1].in});
  }
  return steps;
}

}  // namespace lathe
