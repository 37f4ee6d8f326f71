// Reductions in the order of ir/loops/kernel_spec.h: lanes from the first element they meet (an
// identity that changes no bits stands before it), blocks, both folded pairwise.
namespace hwy {
namespace HWY_NAMESPACE {

template <class T>
constexpr T LowestOf() {
  if constexpr (kIsFloat<T>) {
    return -static_cast<T>(__builtin_inf());
  } else if constexpr (kIsSignedLane<T>) {
    return static_cast<T>(static_cast<T>(1) << (8 * sizeof(T) - 1));
  } else {
    return 0;
  }
}
template <class T>
constexpr T HighestOf() {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(__builtin_inf());
  } else {
    return static_cast<T>(~LowestOf<T>());
  }
}

// Start: changes nothing, -0.0 and NaN included. Empty: the result over nothing.
struct SumOf {
  template <class T>
  static constexpr T Start() {
    return kIsFloat<T> ? static_cast<T>(-0.0) : 0;
  }
  template <class T>
  static constexpr T Empty() {
    return 0;
  }
  template <class V>
  static V Join(V a, V b) {
    return a + b;
  }
};
struct ProductOf {
  template <class T>
  static constexpr T Start() {
    return 1;
  }
  template <class T>
  static constexpr T Empty() {
    return 1;
  }
  template <class V>
  static V Join(V a, V b) {
    return a * b;
  }
};
struct MaxOf {
  template <class T>
  static constexpr T Start() {
    return LowestOf<T>();
  }
  template <class T>
  static constexpr T Empty() {
    return LowestOf<T>();
  }
  template <class V>
  static V Join(V a, V b) {
    if constexpr (sizeof(V) >= 16) return Maximum(a, b);
    return a != a ? a : (a > b ? a : b);
  }
};
struct MinOf {
  template <class T>
  static constexpr T Start() {
    return HighestOf<T>();
  }
  template <class T>
  static constexpr T Empty() {
    return HighestOf<T>();
  }
  template <class V>
  static V Join(V a, V b) {
    if constexpr (sizeof(V) >= 16) return Minimum(a, b);
    return a != a ? a : (a < b ? a : b);
  }
};
// Of bool as bytes.
struct AnyOf {
  template <class T>
  static constexpr T Start() {
    return 0;
  }
  template <class T>
  static constexpr T Empty() {
    return 0;
  }
  template <class V>
  static V Join(V a, V b) {
    return a | b;
  }
};
struct AllOf {
  template <class T>
  static constexpr T Start() {
    return 1;
  }
  template <class T>
  static constexpr T Empty() {
    return 1;
  }
  template <class V>
  static V Join(V a, V b) {
    return a & b;
  }
};

template <class Kind, class T>
LATHE_INLINE void FoldPairs(T* values, int64_t n) {
  while (n > 1) {
    const int64_t half = (n + 1) / 2;
    for (int64_t i = 0; i + half < n; ++i) values[i] = Kind::Join(values[i], values[i + half]);
    n = half;
  }
}
// The lanes of a vector; its upper lanes are joined with anything.
template <class Kind, int kCount, class V>
LATHE_INLINE LaneOf<V> FoldVector(V v) {
  if constexpr (kCount == 1) return v[0];
  typedef MaskOf<V> Places;
  const auto upper = (Iota(FixedTag<LaneOf<Places>, kLanesOf<V>>()) + kCount / 2) &
                     static_cast<LaneOf<Places>>(kLanesOf<V> - 1);
  if constexpr (kCount > 1) {
    return FoldVector<Kind, kCount / 2>(Kind::Join(v, __builtin_shuffle(v, upper)));
  }
}
// The first n lanes of 64. Every step folds whole vectors as long as there are any: its targets
// lie before its sources, and lanes past the sum stay as they were.
template <class Kind, class V>
static inline LaneOf<V> FoldLanes(V* lanes, int64_t count) {
  constexpr int kCount = kLanesOf<V>, kVectors = 64 / kCount;
  if (count == 64) {
#pragma GCC unroll 4
    for (int vectors = kVectors; vectors > 1; vectors /= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < vectors / 2; ++i) {
        lanes[i] = Kind::Join(lanes[i], lanes[i + vectors / 2]);
      }
    }
    return FoldVector<Kind, kCount>(lanes[0]);
  }
  const FixedTag<LaneOf<V>, kCount> d;
  LaneOf<V> values[64 + kCount];
  int n = static_cast<int>(count);
  for (int i = 0; i < kVectors; ++i) StoreU(lanes[i], d, values + i * kCount);
  StoreU(V{}, d, values + 64);
  while (n > kCount) {
    const int half = (n + 1) / 2, pairs = n - half;
    for (int i = 0; i < pairs; i += kCount) {
      const V a = LoadU(d, values + i);
      const V joined = Kind::Join(a, LoadU(d, values + i + half));
      const Part rest = {pairs - i < kCount ? pairs - i : kCount};
      StoreU(IfThenElse(FirstN(MaskOf<V>(), rest), joined, a), d, values + i);
    }
    n = half;
  }
  FoldPairs<Kind>(values, n);
  return values[0];
}

// A value with its position, for argmax and argmin: NaN beats all, among equals the smaller one.
template <bool kMax, class V, class I>
LATHE_INLINE void JoinPositions(V& value, I& index, V other, I other_index) {
  const auto better = kMax ? other > value : other < value;
  const auto nan = value != value, other_nan = other != other;
  const auto tie = (other == value) | (nan & other_nan);
  const auto earlier = ResizeMask<sizeof(LaneOf<V>)>(other_index < index);
  const auto take = (tie & earlier) | (~tie & ~nan & (better | other_nan));
  value = take ? other : value;
  index = ResizeMask<8>(take) ? other_index : index;
}
template <bool kMax, class T>
LATHE_INLINE void JoinPosition(T& value, int64_t& index, T other, int64_t other_index) {
  const bool better = kMax ? other > value : other < value;
  const bool nan = value != value, other_nan = other != other;
  const bool tie = other == value || (nan && other_nan);
  if (tie ? other_index < index : !nan && (better || other_nan)) {
    value = other;
    index = other_index;
  }
}
constexpr int64_t kNoPosition = 0x7fffffffffffffff;
template <bool kMax, class T>
constexpr T WorstOf() {
  return kMax ? LowestOf<T>() : HighestOf<T>();
}
template <bool kMax, class T>
LATHE_INLINE void FoldPositionPairs(T* values, int64_t* indexes, int64_t n) {
  while (n > 1) {
    const int64_t half = (n + 1) / 2;
    for (int64_t i = 0; i + half < n; ++i) {
      JoinPosition<kMax>(values[i], indexes[i], values[i + half], indexes[i + half]);
    }
    n = half;
  }
}

template <bool kMax, class V, class I>
static inline int64_t FoldPositionLanes(V* lanes, I* lane_indexes, LaneOf<V>* value, int64_t n) {
  LaneOf<V> values[64];
  int64_t indexes[64];
  __builtin_memcpy(values, lanes, sizeof values);
  __builtin_memcpy(indexes, lane_indexes, sizeof indexes);
  FoldPositionPairs<kMax>(values, indexes, n);
  *value = values[0];
  return indexes[0];
}

// a[k] joined with what a chunk of n lanes brings.
template <class Kind, class V, class N>
LATHE_INLINE void Accumulate(V& sum, V value, N n) {
  const V joined = Kind::Join(sum, value);
  sum = N::kFull ? joined : IfThenElse(FirstN(MaskOf<V>(), n), joined, sum);
}
template <class V, class N>
LATHE_INLINE void AccumulateProduct(V& sum, V a, V b, N n) {
  const V joined = MulAdd(a, b, sum);
  sum = N::kFull ? joined : IfThenElse(FirstN(MaskOf<V>(), n), joined, sum);
}
template <bool kMax, class V, class I, class N>
LATHE_INLINE void AccumulatePosition(V& best, I& index, V value, I value_index, N n) {
  V joined = best;
  I joined_index = index;
  JoinPositions<kMax>(joined, joined_index, value, value_index);
  best = N::kFull ? joined : IfThenElse(FirstN(MaskOf<V>(), n), joined, best);
  index = N::kFull ? joined_index : IfThenElse(FirstN(MaskOf<I>(), n), joined_index, index);
}

// Blocks of kVectors vectors each, folded pairwise into `result`.
template <class Kind, int kVectors, class V>
static inline void FoldBlocks(V* blocks, int64_t count, V* result) {
  for (int64_t n = count; n > 1;) {
    const int64_t half = (n + 1) / 2;
    for (int64_t i = 0; i < (n - half) * kVectors; ++i) {
      blocks[i] = Kind::Join(blocks[i], blocks[i + half * kVectors]);
    }
    n = half;
  }
  for (int k = 0; k < kVectors; ++k) result[k] = blocks[k];
}
template <bool kMax, int kVectors, class V, class I>
static inline void FoldPositionBlocks(V* blocks, I* indexes, int64_t count, V* result,
                                      I* result_index) {
  for (int64_t n = count; n > 1;) {
    const int64_t half = (n + 1) / 2;
    for (int64_t i = 0; i < (n - half) * kVectors; ++i) {
      const int64_t j = i + half * kVectors;
      JoinPositions<kMax>(blocks[i], indexes[i], blocks[j], indexes[j]);
    }
    n = half;
  }
  for (int k = 0; k < kVectors; ++k) {
    result[k] = blocks[k];
    result_index[k] = indexes[k];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
