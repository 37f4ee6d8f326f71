// Integer operations that no instruction does: division, powers, shifts by any count.
namespace hwy {
namespace HWY_NAMESPACE {

// The divisors are not 0. min / -1 = min and min % -1 = 0.
template <class V>
LATHE_INLINE V TruncQuotient(V a, V b) {
  if constexpr (kIsSignedLane<LaneOf<V>>) {
    const auto minus_one = b == -1;
    const V q = a / (minus_one ? V{} + 1 : b);
    return minus_one ? -a : q;
  } else {
    return a / b;
  }
}
template <class V>
LATHE_INLINE V TruncRemainder(V a, V b) {
  if constexpr (kIsSignedLane<LaneOf<V>>) return a % (b == -1 ? V{} + 1 : b);
  return a % b;
}
template <class V>
LATHE_INLINE V FloorQuotient(V a, V b) {
  const V q = TruncQuotient(a, b);
  if constexpr (!kIsSignedLane<LaneOf<V>>) return q;
  const auto down = (TruncRemainder(a, b) != 0) & ((a ^ b) < 0);
  return q + (V)down;
}
template <class V>
LATHE_INLINE V FloorRemainder(V a, V b) {
  const V r = TruncRemainder(a, b);
  if constexpr (!kIsSignedLane<LaneOf<V>>) return r;
  return (r != 0) & ((r ^ b) < 0) ? r + b : r;
}

// A count below 0 or past the width: left 0, right the sign fill.
template <class V>
LATHE_INLINE V ShiftLeftBy(V a, V count) {
  constexpr int kBits = 8 * sizeof(LaneOf<V>);
  using U = decltype(BitCast(RebindToUnsigned<FixedTag<LaneOf<V>, kLanesOf<V>>>(), a));
  const auto inside = (U)count < static_cast<LaneOf<U>>(kBits);
  return IfThenElseZero(inside, (V)((U)a << ((U)count & static_cast<LaneOf<U>>(kBits - 1))));
}
template <class V>
LATHE_INLINE V ShiftRightBy(V a, V count) {
  constexpr int kBits = 8 * sizeof(LaneOf<V>);
  using U = decltype(BitCast(RebindToUnsigned<FixedTag<LaneOf<V>, kLanesOf<V>>>(), a));
  const auto inside = (U)count < static_cast<LaneOf<U>>(kBits);
  if constexpr (kIsSignedLane<LaneOf<V>>) {
    return a >> (inside ? count : V{} + static_cast<LaneOf<V>>(kBits - 1));
  } else {
    return IfThenElseZero(inside, a >> (count & static_cast<LaneOf<V>>(kBits - 1)));
  }
}

// Wrapping; a negative exponent gives 1 or -1 for these bases, else 0.
template <class T>
static T PowerOf(T base, T exponent) {
  using U = typename IntOf<sizeof(T)>::Unsigned;
  if constexpr (kIsSignedLane<T>) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  U result = 1, factor = static_cast<U>(base);
  for (U e = static_cast<U>(exponent); e != 0; e >>= 1) {
    if (e & 1) result = static_cast<U>(result * factor);
    factor = static_cast<U>(factor * factor);
  }
  return static_cast<T>(result);
}
template <class D, class V>
static inline V IntPow(D d, V a, V b) {
  return FromLanes(d, Full(), [=](int l) { return PowerOf<TFromD<D>>(a[l], b[l]); });
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
