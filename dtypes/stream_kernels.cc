#include "dtypes/stream_kernels.h"

#include <cstring>

#include "dtypes/small_float.h"
#include "dtypes/wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dtypes/stream_kernels.cc"
#include "hwy/foreach_target.h"
// After it.
#include "dtypes/packing_vectors-inl.h"
#include "dtypes/small_float_loops-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace convert_internal {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

StreamLoop FindStreamLoopImpl(DType, DType) { return nullptr; }
StreamLoop FindLookUpStreamImpl(DType, int) { return nullptr; }

#else

namespace {
namespace packing = packing_internal::HWY_NAMESPACE;

// The processor's own prefetching stops at the ends of pages; this far ahead it need not.
constexpr int64_t kPrefetchBytes = 4096;
inline void PrefetchAfter(const void* at) {
  hwy::Prefetch(static_cast<const uint8_t*>(at) + kPrefetchBytes);
}

template <class Small>
void DecodeStream(const StreamArguments& arguments) {
  using Bits = decltype(Small::bits);
  const hn::Rebind<Bits, Ints> narrow;
  const Bits* in = reinterpret_cast<const Bits*>(arguments.in);
  float* out = reinterpret_cast<float*>(arguments.out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  for (int64_t i = 0; i < arguments.count; i += lanes) {
    PrefetchAfter(in + i);
    const IntVector bits = hn::PromoteTo(Ints(), hn::LoadU(narrow, in + i));
    hn::Stream(AsFloat(Format<Small>::Decode(bits)), Floats(), out + i);
  }
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
// Through f16, which the processor widens: with a smaller exponent range, and multiplied back.
using Halves = hn::FixedTag<int16_t, 16>;
using HalfVector = hn::Vec<Halves>;
inline HalfVector Half(int bits) { return hn::Set(Halves(), static_cast<int16_t>(bits)); }
inline HalfVector SignOr(HalfVector v, int bits) {
  return hn::Or(hn::And(v, Half(0x8000)), Half(bits));
}

// Sixteen codes, extended by their sign, as f16; and what the f16 are to be multiplied with.
template <class Small>
struct ThroughF16;
template <>
struct ThroughF16<F8E4M3FN> {
  static constexpr float kScale = 256;
  static HalfVector Widen(HalfVector v) {
    const HalfVector value = hn::And(hn::ShiftLeft<7>(v), Half(0xbf80));
    const auto is_nan = hn::Eq(hn::And(v, Half(0x7f)), Half(0x7f));
    return hn::IfThenElse(is_nan, SignOr(v, 0x7e00), value);
  }
};
template <>
struct ThroughF16<F8E4M3FNUZ> {
  static constexpr float kScale = 128;
  static HalfVector Widen(HalfVector v) {
    const HalfVector value = hn::And(hn::ShiftLeft<7>(v), Half(0xbf80));
    return hn::IfThenElse(hn::Eq(v, Half(0xff80)), Half(0x7e00), value);
  }
};
template <>
struct ThroughF16<F8E5M2> {
  static constexpr float kScale = 1;
  static HalfVector Widen(HalfVector v) {
    const auto is_nan = hn::Gt(hn::And(v, Half(0x7f)), Half(0x7c));
    return hn::IfThenElse(is_nan, SignOr(v, 0x7e00), hn::ShiftLeft<8>(v));
  }
};
template <>
struct ThroughF16<F8E5M2FNUZ> {  // its exponents are one more than f16's
  static constexpr float kScale = 1;
  static HalfVector Widen(HalfVector v) {
    const HalfVector code = hn::And(v, Half(0x7f));
    const HalfVector normal = hn::ShiftLeft<8>(hn::Sub(code, Half(4)));
    const HalfVector value = hn::IfThenElse(hn::Lt(code, Half(8)), hn::ShiftLeft<7>(code), normal);
    return hn::IfThenElse(hn::Eq(v, Half(0xff80)), Half(0x7e00),
                          hn::Or(value, hn::And(v, Half(0x8000))));
  }
};

template <class Small>
void DecodeF8Stream(const StreamArguments& arguments) {
  const hn::FixedTag<int8_t, 16> codes;
  const hn::FixedTag<float, 8> d;
  const hn::FixedTag<hwy::float16_t, 16> whole;
  const hn::FixedTag<hwy::float16_t, 8> half;
  const hn::Half<Halves> half_bits;
  const int8_t* in = reinterpret_cast<const int8_t*>(arguments.in);
  float* out = reinterpret_cast<float*>(arguments.out);
  const auto scale = hn::Set(d, ThroughF16<Small>::kScale);
  const auto store = [&](auto bits, float* to) HWY_ATTR {
    auto value = hn::PromoteTo(d, hn::BitCast(half, bits));
    if (ThroughF16<Small>::kScale != 1) value = hn::Mul(value, scale);
    hn::Stream(value, d, to);
  };
  for (int64_t i = 0; i < arguments.count; i += 16) {
    if (i % 64 == 0) PrefetchAfter(in + i);
    const HalfVector v =
        ThroughF16<Small>::Widen(hn::PromoteTo(Halves(), hn::LoadU(codes, in + i)));
    store(hn::LowerHalf(half_bits, v), out + i);
    store(hn::UpperHalf(half_bits, v), out + i + 8);
  }
}
template <>
void DecodeStream<F8E4M3FN>(const StreamArguments& arguments) {
  DecodeF8Stream<F8E4M3FN>(arguments);
}
template <>
void DecodeStream<F8E4M3FNUZ>(const StreamArguments& arguments) {
  DecodeF8Stream<F8E4M3FNUZ>(arguments);
}
template <>
void DecodeStream<F8E5M2FNUZ>(const StreamArguments& arguments) {
  DecodeF8Stream<F8E5M2FNUZ>(arguments);
}
template <>
void DecodeStream<F8E5M2>(const StreamArguments& arguments) {
  DecodeF8Stream<F8E5M2>(arguments);
}

template <>
void DecodeStream<F16>(const StreamArguments& arguments) {
  const hn::FixedTag<hwy::float16_t, 8> half;
  const hn::FixedTag<float, 8> d;
  const hwy::float16_t* in = reinterpret_cast<const hwy::float16_t*>(arguments.in);
  float* out = reinterpret_cast<float*>(arguments.out);
  for (int64_t i = 0; i < arguments.count; i += 8) {
    if (i % 32 == 0) PrefetchAfter(in + i);
    hn::Stream(hn::PromoteTo(d, hn::LoadU(half, in + i)), d, out + i);
  }
}
#endif

// Four vectors of bytes in 32-bit lanes, or two of halves, become one vector in order: each lane
// takes one element of every vector, a shuffle within blocks of 128 bits sorts by vector, and a
// permutation of lanes does across blocks.
template <class Tag>
struct Narrowing {
  using Vector = hn::Vec<Tag>;
  using Bytes = hn::Repartition<uint8_t, Tag>;
  explicit Narrowing(int parts) {
    const int lanes = static_cast<int>(hn::Lanes(Tag())), blocks = lanes / 4;
    const int part_lanes = 4 / parts;  // lanes of a block that one part fills
    alignas(16) uint8_t bytes[16];
    for (int i = 0; i < 16; ++i) {
      const int size = 4 / parts, element = i / size % 4, part = i / size / 4;
      bytes[i] = static_cast<uint8_t>(4 * element + size * part + i % size);
    }
    shuffle = hn::LoadDup128(Bytes(), bytes);
    alignas(64) int32_t order[16];
    for (int i = 0; i < lanes; ++i) {
      const int part = i / (blocks * part_lanes), rest = i % (blocks * part_lanes);
      order[i] = rest / part_lanes * 4 + part * part_lanes + rest % part_lanes;
    }
    lanes_order = hn::SetTableIndices(Tag(), order);
  }
  Vector Sort(Vector merged) const {
    const auto sorted = hn::TableLookupBytes(hn::BitCast(Bytes(), merged), shuffle);
    return hn::TableLookupLanes(hn::BitCast(Tag(), sorted), lanes_order);
  }
  Vector Four(Vector a, Vector b, Vector c, Vector d) const {
    return Sort(
        hn::Or(hn::Or(a, hn::ShiftLeft<8>(b)), hn::Or(hn::ShiftLeft<16>(c), hn::ShiftLeft<24>(d))));
  }
  Vector Two(Vector a, Vector b) const { return Sort(hn::Or(a, hn::ShiftLeft<16>(b))); }
  hn::Vec<Bytes> shuffle;
  decltype(hn::SetTableIndices(Tag(), static_cast<const int32_t*>(nullptr))) lanes_order;
};

template <class Small>
void EncodeStream(const StreamArguments& arguments) {
  const float* in = reinterpret_cast<const float*>(arguments.in);
  int32_t* out = reinterpret_cast<int32_t*>(arguments.out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  constexpr int kParts = sizeof(Small) == 1 ? 4 : 2;
  const Narrowing<Ints> narrowing(kParts);
  const auto code = [&](int64_t i) HWY_ATTR {
    return Format<Small>::Encode(AsInt(hn::LoadU(Floats(), in + i)));
  };
  for (int64_t i = 0; i < arguments.count; i += kParts * lanes, out += lanes) {
    for (int64_t k = 0; k < kParts * lanes; k += 16) PrefetchAfter(in + i + k);
    if constexpr (kParts == 4) {
      hn::Stream(narrowing.Four(code(i), code(i + lanes), code(i + 2 * lanes), code(i + 3 * lanes)),
                 Ints(), out);
    } else {
      hn::Stream(narrowing.Two(code(i), code(i + lanes)), Ints(), out);
    }
  }
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
template <>
void EncodeStream<F16>(const StreamArguments& arguments) {
  const hn::Rebind<hwy::float16_t, Floats> half;
  const hn::Rebind<uint16_t, Floats> bits;
  const float* in = reinterpret_cast<const float*>(arguments.in);
  uint16_t* out = reinterpret_cast<uint16_t*>(arguments.out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  for (int64_t i = 0; i < arguments.count; i += lanes) {
    if (i % 16 == 0) PrefetchAfter(in + i);
    hn::Stream(hn::BitCast(bits, hn::DemoteTo(half, hn::LoadU(Floats(), in + i))), bits, out + i);
  }
}
#endif

using packing::Bytes;
using packing::ByteVector;
using EightFloats = hn::FixedTag<float, 8>;
using EightInts = hn::FixedTag<int32_t, 8>;

template <int kWidth, bool kIsSigned>
void UnpackStream(const StreamArguments& arguments) {
  const packing::UnpackConstants places(packing::kPlaces<kWidth>[arguments.shift]);
  const uint8_t* in = arguments.in;
  float* out = reinterpret_cast<float*>(arguments.out);
  using Byte = std::conditional_t<kIsSigned, int8_t, uint8_t>;
  const hn::FixedTag<Byte, 8> eight_bytes;
  for (int64_t i = 0; i < arguments.count; i += 32, in += 4 * kWidth) {
    PrefetchAfter(in);
    alignas(32) uint8_t bytes[32];
    hn::Store(packing::Unpack32<kWidth, kIsSigned>(in, places), Bytes(), bytes);
    for (int k = 0; k < 32; k += 8) {
      const auto values = hn::LoadU(eight_bytes, reinterpret_cast<const Byte*>(bytes) + k);
      hn::Stream(hn::ConvertTo(EightFloats(), hn::PromoteTo(EightInts(), values)), EightFloats(),
                 out + i + k);
    }
  }
}

template <int kWidth, bool kIsSigned, int kEntryBytes>
void LookUpStream(const StreamArguments& arguments) {
  const packing::UnpackConstants places(packing::kPlaces<kWidth>[arguments.shift]);
  const Bytes d;
  const auto low = hn::LoadDup128(d, arguments.table);
  const auto high = hn::LoadDup128(d, arguments.table + 16 * (kEntryBytes - 1));
  const auto mask = hn::Set(d, 15);
  const uint8_t* in = arguments.in;
  uint8_t* out = arguments.out;
  for (int64_t i = 0; i < arguments.count; i += 32, in += 4 * kWidth, out += 32 * kEntryBytes) {
    PrefetchAfter(in);
    ByteVector codes = packing::Unpack32<kWidth, kIsSigned>(in, places);
    if (kIsSigned) codes = hn::And(codes, mask);
    const ByteVector lows = hn::TableLookupBytes(low, codes);
    if (kEntryBytes == 1) {
      hn::Stream(lows, d, out);
      continue;
    }
    const ByteVector highs = hn::TableLookupBytes(high, codes);
    const ByteVector first = hn::InterleaveLower(d, lows, highs);
    const ByteVector second = hn::InterleaveUpper(d, lows, highs);
    hn::Stream(hn::ConcatLowerLower(d, second, first), d, out);
    hn::Stream(hn::ConcatUpperUpper(d, second, first), d, out + 32);
  }
}

// The low bytes of 32 floats as integers.
inline ByteVector LowBytes(const float* in, const Narrowing<EightInts>& narrowing) {
  const EightFloats d;
  const EightInts di;
  const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + 8);
  const auto e = hn::LoadU(d, in + 16), f = hn::LoadU(d, in + 24);
  const auto limit = hn::Set(d, 0x1p30f);
  const auto fit = hn::And(hn::And(hn::Lt(hn::Abs(a), limit), hn::Lt(hn::Abs(b), limit)),
                           hn::And(hn::Lt(hn::Abs(e), limit), hn::Lt(hn::Abs(f), limit)));
  if (HWY_UNLIKELY(!hn::AllTrue(d, fit))) {
    alignas(32) uint8_t bytes[32];
    for (int i = 0; i < 32; ++i) {
      float value;
      std::memcpy(&value, in + i, sizeof value);
      bytes[i] = static_cast<uint8_t>(FloatToBits64(static_cast<double>(value)));
    }
    return hn::Load(Bytes(), bytes);
  }
  const auto mask = hn::Set(di, 0xff);
  return hn::BitCast(
      Bytes(),
      narrowing.Four(hn::And(hn::ConvertTo(di, a), mask), hn::And(hn::ConvertTo(di, b), mask),
                     hn::And(hn::ConvertTo(di, e), mask), hn::And(hn::ConvertTo(di, f), mask)));
}

template <int kWidth>
void PackStream(const StreamArguments& arguments) {
  const Bytes d;
  static constexpr packing::Compaction kCompaction(kWidth);
  const ByteVector places = hn::Load(d, kCompaction.bytes);
  const ByteVector mask = hn::Set(d, static_cast<uint8_t>((1 << kWidth) - 1));
  const Narrowing<EightInts> narrowing(4);
  const float* in = reinterpret_cast<const float*>(arguments.in);
  uint8_t* out = arguments.out;
  alignas(64) uint8_t packed[kStreamUnit / 8 * 7 + 32];
  for (int64_t i = 0; i < arguments.count; i += kStreamUnit) {
    uint8_t* at = packed;
    for (int64_t k = 0; k < kStreamUnit; k += 32, at += 4 * kWidth) {
      PrefetchAfter(in + i + k);
      PrefetchAfter(in + i + k + 16);
      packing::StoreHalves(packing::Pack32<kWidth>(LowBytes(in + i + k, narrowing), mask, places),
                           at, at + 2 * kWidth);
    }
    for (int64_t k = 0; k < kStreamUnit / 8 * kWidth; k += 32, out += 32) {
      hn::Stream(hn::Load(d, packed + k), d, out);
    }
  }
}

StreamLoop EncodeStreamTo(DType to) {
  switch (to) {
    case DType::kF16:
      return EncodeStream<F16>;
    case DType::kBF16:
      return EncodeStream<BF16>;
    case DType::kF8E4M3FN:
      return EncodeStream<F8E4M3FN>;
    case DType::kF8E5M2:
      return EncodeStream<F8E5M2>;
    case DType::kF8E4M3FNUZ:
      return EncodeStream<F8E4M3FNUZ>;
    case DType::kF8E5M2FNUZ:
      return EncodeStream<F8E5M2FNUZ>;
    case DType::kF8E8M0FNU:
      return EncodeStream<F8E8M0FNU>;
    default:
      return nullptr;
  }
}
StreamLoop DecodeStreamFrom(DType from) {
  switch (from) {
    case DType::kF16:
      return DecodeStream<F16>;
    case DType::kBF16:
      return DecodeStream<BF16>;
    case DType::kF8E4M3FN:
      return DecodeStream<F8E4M3FN>;
    case DType::kF8E5M2:
      return DecodeStream<F8E5M2>;
    case DType::kF8E4M3FNUZ:
      return DecodeStream<F8E4M3FNUZ>;
    case DType::kF8E5M2FNUZ:
      return DecodeStream<F8E5M2FNUZ>;
    case DType::kF8E8M0FNU:
      return DecodeStream<F8E8M0FNU>;
    default:
      return nullptr;
  }
}

}  // namespace

StreamLoop FindStreamLoopImpl(DType from, DType to) {
  StreamLoop loop = nullptr;
  if (from == DType::kF32 && IsSubByte(to)) {
    packing::WithWidth(BitWidth(to),
                       [&](auto width) { loop = PackStream<decltype(width)::value>; });
  } else if (IsSubByte(from) && to == DType::kF32) {
    packing::WithWidth(BitWidth(from), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      loop = IsSigned(from) ? UnpackStream<kWidth, true> : UnpackStream<kWidth, false>;
    });
  } else if (from == DType::kF32) {
    loop = EncodeStreamTo(to);
  } else if (to == DType::kF32) {
    loop = DecodeStreamFrom(from);
  }
  return loop;
}

StreamLoop FindLookUpStreamImpl(DType from, int entry_bytes) {
  StreamLoop loop = nullptr;
  packing::WithWidth(BitWidth(from), [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    if constexpr (kWidth <= 4) {
      if (entry_bytes == 1) {
        loop = IsSigned(from) ? LookUpStream<kWidth, true, 1> : LookUpStream<kWidth, false, 1>;
      } else {
        loop = IsSigned(from) ? LookUpStream<kWidth, true, 2> : LookUpStream<kWidth, false, 2>;
      }
    }
  });
  return loop;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace convert_internal
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::convert_internal {
HWY_EXPORT(FindStreamLoopImpl);
HWY_EXPORT(FindLookUpStreamImpl);
StreamLoop FindStreamLoop(DType from, DType to) {
  return HWY_DYNAMIC_DISPATCH(FindStreamLoopImpl)(from, to);
}
StreamLoop FindLookUpStream(DType from, int entry_bytes) {
  return HWY_DYNAMIC_DISPATCH(FindLookUpStreamImpl)(from, entry_bytes);
}
}  // namespace lathe::convert_internal
#endif
