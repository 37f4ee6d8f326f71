// Loads and stores of some lanes: the first n, or those of a mask. Nothing goes by way of the
// stack: a vector loaded from where narrower stores went would wait for them.
namespace hwy {
namespace HWY_NAMESPACE {

// Of a vector wider than a register.
template <class V>
struct HalvesOf {
  typedef LaneOf<V> Half __attribute__((vector_size(sizeof(V) / 2)));
  Half low, high;
};
template <class D>
using HalfTag = FixedTag<TFromD<D>, D::kLanes / 2>;
template <class D>
LATHE_INLINE Part LowPart(D, Part n) {
  return {n.count < D::kLanes / 2 ? n.count : D::kLanes / 2};
}
template <class D>
LATHE_INLINE Part HighPart(D, Part n) {
  return {n.count > D::kLanes / 2 ? n.count - D::kLanes / 2 : 0};
}

// The first k bytes, at most 8, as a number.
LATHE_INLINE uint64_t FirstBytes(const void* from, int k) {
  const uint8_t* p = static_cast<const uint8_t*>(from);
  const auto read = [](const uint8_t* p, auto x) {
    __builtin_memcpy(&x, p, sizeof x);
    return static_cast<uint64_t>(x);
  };
  if (k >= 8) return read(p, uint64_t());
  if (k >= 4) return read(p, uint32_t()) | read(p + k - 4, uint32_t()) << (8 * (k - 4));
  if (k >= 2) return read(p, uint16_t()) | read(p + k - 2, uint16_t()) << (8 * (k - 2));
  return k > 0 ? *p : 0;
}
LATHE_INLINE void StoreFirstBytes(uint64_t bytes, void* to, int k) {
  uint8_t* p = static_cast<uint8_t*>(to);
  const auto write = [](uint8_t* p, auto x) { __builtin_memcpy(p, &x, sizeof x); };
  if (k >= 8) return write(p, bytes);
  if (k >= 4) {
    write(p, static_cast<uint32_t>(bytes));
    write(p + k - 4, static_cast<uint32_t>(bytes >> (8 * (k - 4))));
  } else if (k >= 2) {
    write(p, static_cast<uint16_t>(bytes));
    write(p + k - 2, static_cast<uint16_t>(bytes >> (8 * (k - 2))));
  } else if (k > 0) {
    *p = static_cast<uint8_t>(bytes);
  }
}

// The machine's instructions that leave out lanes, by bytes of a lane and of a vector.
template <int kLane, int kVector>
struct Masked {
  static constexpr bool kExists = false;
};
#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__BMI2__)
#define LATHE_MASKED(kLane, T, letters, letter, kBytes, kBits)                                  \
  template <>                                                                                   \
  struct Masked<kLane, kBytes> {                                                                \
    typedef T V __attribute__((vector_size(kBytes)));                                           \
    static constexpr bool kExists = true;                                                       \
    LATHE_INLINE uint64_t Of(V mask) { return __builtin_ia32_cvt##letter##2mask##kBits(mask); } \
    LATHE_INLINE uint64_t First(Full) { return ~uint64_t{0}; }                                  \
    LATHE_INLINE uint64_t First(Part n) {                                                       \
      return __builtin_ia32_bzhi_di(~uint64_t{0}, static_cast<uint64_t>(n.count));              \
    }                                                                                           \
    LATHE_INLINE V Load(const void* p, uint64_t lanes) {                                        \
      return __builtin_ia32_loaddqu##letters##kBits##_mask((const T*)p, V{}, lanes);            \
    }                                                                                           \
    LATHE_INLINE void Store(V v, void* p, uint64_t lanes) {                                     \
      __builtin_ia32_storedqu##letters##kBits##_mask((T*)p, v, lanes);                          \
    }                                                                                           \
  };
#define LATHE_MASKED_ALL(kLane, T, letters, letter) \
  LATHE_MASKED(kLane, T, letters, letter, 16, 128)  \
  LATHE_MASKED(kLane, T, letters, letter, 32, 256)  \
  LATHE_MASKED(kLane, T, letters, letter, 64, 512)
LATHE_MASKED_ALL(1, char, qi, b)
LATHE_MASKED_ALL(2, short, hi, w)
LATHE_MASKED_ALL(4, int, si, d)
LATHE_MASKED_ALL(8, long long, di, q)
#elif defined(__AVX2__)
#define LATHE_MASKED(kLane, T, letter, kBytes, suffix)                    \
  template <>                                                             \
  struct Masked<kLane, kBytes> {                                          \
    typedef T V __attribute__((vector_size(kBytes)));                     \
    static constexpr bool kExists = true;                                 \
    LATHE_INLINE V Of(V mask) { return mask; }                            \
    template <class N>                                                    \
    LATHE_INLINE V First(N n) {                                           \
      return FirstN(V{}, n);                                              \
    }                                                                     \
    LATHE_INLINE V Load(const void* p, V lanes) {                         \
      return __builtin_ia32_maskload##letter##suffix((const V*)p, lanes); \
    }                                                                     \
    LATHE_INLINE void Store(V v, void* p, V lanes) {                      \
      __builtin_ia32_maskstore##letter##suffix((V*)p, lanes, v);          \
    }                                                                     \
  };
LATHE_MASKED(4, int, d, 16, )
LATHE_MASKED(4, int, d, 32, 256)
LATHE_MASKED(8, long long, q, 16, )
LATHE_MASKED(8, long long, q, 32, 256)
#endif
template <class D>
using MaskedOf = Masked<sizeof(TFromD<D>), sizeof(Vec<D>)>;
// The same of a vector shorter than a register.
template <class D>
using MaskedPaddedOf = Masked<sizeof(TFromD<D>), sizeof(Vec<D>) < 16 ? 16 : 0>;

template <class D>
LATHE_INLINE Vec<D> LoadN(D d, const TFromD<D>* p, Full) {
  return LoadU(d, p);
}
template <class D>
LATHE_INLINE Vec<D> LoadN(D d, const TFromD<D>* p, Part n) {
  using V = Vec<D>;
  using Machine = MaskedOf<D>;
  using Padding = MaskedPaddedOf<D>;
  if constexpr (Machine::kExists) {
    return (V)Machine::Load(p, Machine::First(n));
  } else if constexpr (sizeof(V) > 16) {
    const HalfTag<D> half;
    return __builtin_bit_cast(V, HalvesOf<V>{LoadN(half, p, LowPart(d, n)),
                                             LoadN(half, p + D::kLanes / 2, HighPart(d, n))});
  } else if constexpr (Padding::kExists) {
    return CutTo<V>(Padding::Load(p, Padding::First(n)));
  } else {
    const int bytes = n.count * static_cast<int>(sizeof(TFromD<D>));
    const long long low = static_cast<long long>(FirstBytes(p, bytes));
    const long long high =
        sizeof(V) < 16 ? 0 : FirstBytes(reinterpret_cast<const uint8_t*>(p) + 8, bytes - 8);
    return CutTo<V>(I64x2{low, high});
  }
}
template <class V, class D>
LATHE_INLINE void StoreN(V v, D d, TFromD<D>* p, Full) {
  StoreU(v, d, p);
}
template <class V, class D>
LATHE_INLINE void StoreN(V v, D d, TFromD<D>* p, Part n) {
  using Machine = MaskedOf<D>;
  using Padding = MaskedPaddedOf<D>;
  if constexpr (Machine::kExists) {
    Machine::Store((typename Machine::V)v, p, Machine::First(n));
  } else if constexpr (sizeof(V) > 16) {
    const auto halves = __builtin_bit_cast(HalvesOf<V>, v);
    const HalfTag<D> half;
    StoreN(halves.low, half, p, LowPart(d, n));
    StoreN(halves.high, half, p + D::kLanes / 2, HighPart(d, n));
  } else if constexpr (Padding::kExists) {
    Padding::Store(Padded<typename Padding::V>(v), p, Padding::First(n));
  } else {
    const int bytes = n.count * static_cast<int>(sizeof(TFromD<D>));
    const I64x2 words = Padded<I64x2>(v);
    StoreFirstBytes(words[0], p, bytes);
    if (sizeof(V) == 16) StoreFirstBytes(words[1], reinterpret_cast<uint8_t*>(p) + 8, bytes - 8);
  }
}

// Lane-wise f(0), f(1)...; f is called for the lanes that exist alone.
template <class D, class F, int... I>
LATHE_INLINE Vec<D> LanesOfPack(F f, Ints<I...>) {
  return Vec<D>{f(I)...};
}
template <class D, class F>
LATHE_INLINE Vec<D> FromLanes(D, Full, F f) {
  if constexpr (D::kLanes <= 8) {
    return LanesOfPack<D>(f, Ints<__integer_pack(D::kLanes)...>());
  } else {
    TFromD<D> lanes[D::kLanes];
    for (int l = 0; l < D::kLanes; ++l) lanes[l] = f(l);
    return LoadU(D(), lanes);
  }
}
template <class D, class F>
static inline Vec<D> FromLanes(D, Part n, F f) {
  TFromD<D> lanes[D::kLanes] = {};
  for (int l = 0; l < n.count; ++l) lanes[l] = f(l);
  return LoadU(D(), lanes);
}
template <class D, class F>
LATHE_INLINE void ForLanes(D, Full, F f) {
  for (int l = 0; l < D::kLanes; ++l) f(l);
}
template <class D, class F>
LATHE_INLINE void ForLanes(D, Part n, F f) {
  for (int l = 0; l < n.count; ++l) f(l);
}

// Where the mask is true; loads give 0 elsewhere.
template <class M, class D, class N>
LATHE_INLINE Vec<D> MaskedLoadN(M mask, D d, const TFromD<D>* p, N n) {
  using V = Vec<D>;
  using Machine = MaskedOf<D>;
  using Padding = MaskedPaddedOf<D>;
  if constexpr (Machine::kExists) {
    return (V)Machine::Load(p, Machine::Of((typename Machine::V)mask) & Machine::First(n));
  } else if constexpr (Padding::kExists) {
    using W = typename Padding::V;
    return CutTo<V>(Padding::Load(p, Padding::Of(Padded<W>(mask)) & Padding::First(n)));
  } else {
    if (N::kFull && AllTrue(d, mask)) return LoadU(d, p);
    if (AllFalse(d, mask)) return Zero(d);
    return FromLanes(d, n, [=](int l) { return mask[l] ? p[l] : TFromD<D>(); });
  }
}
template <class M, class V, class D, class N>
LATHE_INLINE void MaskedStoreN(V v, M mask, D d, TFromD<D>* p, N n) {
  using Machine = MaskedOf<D>;
  using Padding = MaskedPaddedOf<D>;
  if constexpr (Machine::kExists) {
    using W = typename Machine::V;
    Machine::Store((W)v, p, Machine::Of((W)mask) & Machine::First(n));
  } else if constexpr (Padding::kExists) {
    using W = typename Padding::V;
    Padding::Store(Padded<W>(v), p, Padding::Of(Padded<W>(mask)) & Padding::First(n));
  } else {
    if (N::kFull && AllTrue(d, mask)) return StoreU(v, d, p);
    if (AllFalse(d, mask)) return;
    ForLanes(d, n, [=](int l) {
      if (mask[l]) p[l] = v[l];
    });
  }
}

template <class V, class D, class N>
LATHE_INLINE void StreamN(V v, D d, TFromD<D>* p, N n, bool stream) {
  if constexpr (N::kFull) {
    if (stream && reinterpret_cast<size_t>(p) % sizeof(V) == 0) return Stream(v, d, p);
  }
  StoreN(v, d, p, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
