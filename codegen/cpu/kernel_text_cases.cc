// The functions of kernel_text, lane by lane, against C++'s own on scalars. Compiled once with the
// machine's instructions and once without: LATHE_CASES names the function.

// The texts declare the integer types themselves, as <cstdint> does; the kernels' flags apply.
#include "codegen/cpu/kernel_text_cases.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "codegen/cpu/kernel_text_cases.h"
// In the order in which they stand before a kernel.
// clang-format off
#include "codegen/cpu/kernel_text/core.h"
#include "codegen/cpu/kernel_text/parts.h"
#include "codegen/cpu/kernel_text/instructions.h"
#include "codegen/cpu/kernel_text/lanes.h"
#include "codegen/cpu/kernel_text/integers.h"
#include "codegen/cpu/kernel_text/sub_byte.h"
#include "codegen/cpu/kernel_text/octets.h"
// clang-format on

namespace lathe::cpu {
namespace {

class Random {
 public:
  uint64_t Bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ ^ (state_ >> 29);
  }
  // Small and large numbers, their signs, and bits that mean NaN or infinity.
  template <class T>
  T Value() {
    const uint64_t bits = Bits() >> (Bits() % 60);
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if (hn::kIsFloat<T> && Bits() % 3 == 0) value = static_cast<T>(static_cast<int64_t>(bits)) / 8;
    return value;
  }
  template <class V>
  V Vector() {
    V v;
    for (int l = 0; l < hn::kLanesOf<V>; ++l) v[l] = Value<hn::LaneOf<V>>();
    return v;
  }

 private:
  uint64_t state_ = 1;
};

template <class T>
bool SameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

std::string faults;

template <class T, class Vector, class Scalar>
void Expect(const char* name, Vector vector, Scalar scalar) {
  typedef typename hn::VecOf<T, 64 / sizeof(T)>::type Wide;
  typedef typename hn::VecOf<T, 16 / sizeof(T)>::type Narrow;
  Random random;
  const auto check = [&](auto a, auto b, auto c) {
    const auto result = vector(a, b, c);
    for (int l = 0; l < hn::kLanesOf<decltype(a)>; ++l) {
      if (!SameBits<T>(result[l], scalar(T(a[l]), T(b[l]), T(c[l])))) {
        faults += std::string(name) + " of " + std::to_string(a[l]) + ", " + std::to_string(b[l]) +
                  " in " + std::to_string(sizeof a) + " bytes\n";
        return;
      }
    }
  };
  for (int k = 0; k < 2000; ++k) {
    check(random.Vector<Wide>(), random.Vector<Wide>(), random.Vector<Wide>());
    check(random.Vector<Narrow>(), random.Vector<Narrow>(), random.Vector<Narrow>());
  }
}

template <class T>
void Floats() {
#define LATHE_EXPECT(name, vector, scalar)                                    \
  Expect<T>(                                                                  \
      #name, [](auto a, auto b, auto c) { return (void)b, (void)c, vector; }, \
      [](T a, T b, T c) -> T { return (void)b, (void)c, scalar; })
  LATHE_EXPECT(Sqrt, hn::Sqrt(a), std::sqrt(a));
  LATHE_EXPECT(Round, hn::Round(a), std::nearbyint(a));
  LATHE_EXPECT(Floor, hn::Floor(a), std::floor(a));
  LATHE_EXPECT(Ceil, hn::Ceil(a), std::ceil(a));
  LATHE_EXPECT(Trunc, hn::Trunc(a), std::trunc(a));
  LATHE_EXPECT(Abs, hn::Abs(a), std::fabs(a));
  LATHE_EXPECT(Neg, hn::Neg(a), -a);
  LATHE_EXPECT(CopySign, hn::CopySign(a, b), std::copysign(a, b));
  LATHE_EXPECT(MulAdd, hn::MulAdd(a, b, c), std::fma(a, b, c));
  LATHE_EXPECT(MulSub, hn::MulSub(a, b, c), std::fma(a, b, -c));
  LATHE_EXPECT(NegMulAdd, hn::NegMulAdd(a, b, c), std::fma(-a, b, c));
  LATHE_EXPECT(Max, hn::Max(a, b), a > b ? a : b);
  LATHE_EXPECT(Min, hn::Min(a, b), a < b ? a : b);
  LATHE_EXPECT(Maximum, hn::Maximum(a, b), a != a ? a : a > b ? a : b);
  LATHE_EXPECT(Minimum, hn::Minimum(a, b), a != a ? a : a < b ? a : b);
  LATHE_EXPECT(Fmax, hn::Fmax(a, b), b != b ? a : a > b ? a : b);
  LATHE_EXPECT(Fmin, hn::Fmin(a, b), b != b ? a : a < b ? a : b);
  LATHE_EXPECT(Sign, hn::Sign(a), a > 0 ? T(1) : a < 0 ? T(-1) : T(0));
#undef LATHE_EXPECT
}

template <class From, class To, int kLanes>
void Resizes() {
  typedef typename hn::VecOf<From, kLanes>::type Source;
  typedef typename hn::VecOf<To, kLanes>::type Target;
  Random random;
  for (int k = 0; k < 200; ++k) {
    const Source v = random.Vector<Source>();
    const Target resized = hn::Resize<Target>(v);
    for (int l = 0; l < kLanes; ++l) {
      if (resized[l] == static_cast<To>(v[l])) continue;
      faults += "Resize of " + std::to_string(v[l]) + " from " + std::to_string(sizeof(From)) +
                " to " + std::to_string(sizeof(To)) + " bytes in " + std::to_string(kLanes) +
                " lanes\n";
      return;
    }
  }
}
template <class From, int kLanes>
void ResizesFrom() {
  Resizes<From, int8_t, kLanes>();
  Resizes<From, uint8_t, kLanes>();
  Resizes<From, int16_t, kLanes>();
  Resizes<From, uint16_t, kLanes>();
  Resizes<From, int32_t, kLanes>();
  Resizes<From, uint32_t, kLanes>();
  Resizes<From, int64_t, kLanes>();
  Resizes<From, uint64_t, kLanes>();
}
template <int kLanes>
void ResizesOf() {
  ResizesFrom<int8_t, kLanes>();
  ResizesFrom<uint8_t, kLanes>();
  ResizesFrom<int16_t, kLanes>();
  ResizesFrom<uint16_t, kLanes>();
  ResizesFrom<int32_t, kLanes>();
  ResizesFrom<uint32_t, kLanes>();
  ResizesFrom<int64_t, kLanes>();
  ResizesFrom<uint64_t, kLanes>();
}

template <int kWidth, bool kSigned, class T, int kLanes>
void Packed() {
  Random random;
  uint8_t bytes[512];
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Bits());
  const hn::FixedTag<T, kLanes> d;
  for (int64_t first = 0; first < 64; ++first) {
    const auto all = hn::LoadBitsN<kWidth, kSigned>(d, bytes, first, hn::Full());
    const auto some = hn::LoadBitsN<kWidth, kSigned>(d, bytes, first, hn::Part{kLanes - 1});
    for (int l = 0; l < kLanes; ++l) {
      // Bit by bit.
      int64_t value = 0;
      for (int b = 0; b < kWidth; ++b) {
        const int64_t at = (first + l) * kWidth + b;
        value |= static_cast<int64_t>(bytes[at / 8] >> (at % 8) & 1) << b;
      }
      if (kSigned && (value >> (kWidth - 1)) != 0) value -= int64_t{1} << kWidth;
      const T expected = static_cast<T>(value);
      if (all[l] == expected && (l == kLanes - 1 || some[l] == expected)) continue;
      faults += "LoadBitsN of " + std::to_string(kWidth) + " bits in " + std::to_string(kLanes) +
                " lanes of " + std::to_string(sizeof(T)) + " bytes from " + std::to_string(first) +
                "\n";
      return;
    }
  }
}
// 64 elements in the octets' order, as numbers and looked up in a table, and brought out of it.
template <int kWidth, bool kSigned, int kLanes>
void OctetsInLanes() {
  typedef typename hn::VecOf<int32_t, kLanes>::type Numbers;
  typedef typename hn::VecOf<float, kLanes>::type Floats;
  Random random;
  // As long as the octets: no byte past them may matter.
  std::string bytes(8 * kWidth, 0);
  for (char& byte : bytes) byte = static_cast<char>(random.Bits());
  const uint8_t* p = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto words = hn::Octets<kWidth>(hn::FixedTag<uint32_t, kLanes>(), p);
  const auto codes = hn::Codes<kWidth, kSigned>(hn::FixedTag<int8_t, kLanes>(), 0);
  const auto high = hn::Codes<kWidth, kSigned>(hn::FixedTag<int8_t, kLanes>(), kLanes);
  const Floats table = __builtin_convertvector(codes, Floats) * 0.5f;
  const hn::TableOfTwo<Floats> two = {table, __builtin_convertvector(high, Floats) * 0.5f};
  Numbers numbers[64 / kLanes];
  Floats found[64 / kLanes];
  for (int k = 0; k < 64 / kLanes; ++k) {
    numbers[k] = hn::OctetLanes<kWidth, kSigned>(words, k);
    const auto places = hn::OctetPlaces<kWidth>(words, k);
    if constexpr (1 << kWidth == 2 * kLanes) {
      found[k] = hn::Lookup(two, places);
    } else {
      found[k] = hn::Lookup(table, places);
    }
  }
  const auto fault = [](const char* what) {
    faults += std::string(what) + " of " + std::to_string(kWidth) + " bits in " +
              std::to_string(kLanes) + " lanes\n";
  };
  const auto element = [&](int e) { return static_cast<int>(hn::LoadBits<kWidth, kSigned>(p, e)); };
  for (int k = 0; k < 64 / kLanes; ++k) {
    for (int l = 0; l < kLanes; ++l) {
      const int e = 8 * (l % 8) + kLanes / 8 * k + l / 8;
      if (numbers[k][l] != element(e)) return fault("OctetLanes");
      if (found[k][l] != element(e) * 0.5f) return fault("Lookup");
    }
  }
  hn::OctetOrder(numbers);
  for (int e = 0; e < 64; ++e) {
    if (numbers[e / kLanes][e % kLanes] != element(e)) return fault("OctetOrder");
  }
}
template <int kWidth>
void OctetsOf() {
  OctetsInLanes<kWidth, false, 8>();
  OctetsInLanes<kWidth, true, 8>();
  OctetsInLanes<kWidth, false, 16>();
  OctetsInLanes<kWidth, true, 16>();
}

template <int kWidth>
void PackedOf() {
  Packed<kWidth, false, uint8_t, 8>();
  Packed<kWidth, true, int8_t, 8>();
  Packed<kWidth, false, uint8_t, 32>();
  Packed<kWidth, true, int8_t, 64>();
  Packed<kWidth, false, int32_t, 4>();
  Packed<kWidth, false, int32_t, 8>();
  Packed<kWidth, true, int32_t, 8>();
  Packed<kWidth, false, int32_t, 16>();
  Packed<kWidth, true, int32_t, 16>();
}

// The bytes that end where memory which must not be touched begins.
uint8_t* EndOfMemory() {
  static uint8_t* const end = [] {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* p = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(static_cast<uint8_t*>(p) + page, page, PROT_NONE) != 0) abort();
    return static_cast<uint8_t*>(p) + page;
  }();
  return end;
}

// The first n lanes, and some of these, where the memory ends behind them.
template <class T, int kLanes>
void PartsIn() {
  const hn::FixedTag<T, kLanes> d;
  using V = hn::Vec<decltype(d)>;
  Random random;
  const auto fault = [&](const char* name, int n) {
    faults += std::string(name) + " of " + std::to_string(n) + " of " + std::to_string(kLanes) +
              " lanes of " + std::to_string(sizeof(T)) + " bytes\n";
  };
  for (int n = 1; n <= kLanes; ++n) {
    T* const p = reinterpret_cast<T*>(EndOfMemory()) - n;
    const V all = random.Vector<V>(), other = random.Vector<V>();
    const auto mask = (hn::MaskOf<V>)(random.Vector<V>() < random.Vector<V>());
    const auto is = [&](const V& v, auto expected) {
      for (int l = 0; l < kLanes; ++l) {
        if (!SameBits<T>(v[l], expected(l))) return false;
      }
      return true;
    };
    const auto holds = [&](auto expected) {
      for (int l = 0; l < n; ++l) {
        if (!SameBits<T>(p[l], expected(l))) return false;
      }
      return true;
    };
    hn::StoreN(all, d, p, hn::Part{n});
    if (!holds([&](int l) { return T(all[l]); })) fault("StoreN", n);
    const V read = hn::LoadN(d, p, hn::Part{n});
    if (!is(read, [&](int l) { return l < n ? T(all[l]) : T(); })) fault("LoadN", n);
    const V masked = hn::MaskedLoadN(mask, d, p, hn::Part{n});
    if (!is(masked, [&](int l) { return l < n && mask[l] ? T(all[l]) : T(); })) {
      fault("MaskedLoadN", n);
    }
    hn::MaskedStoreN(other, mask, d, p, hn::Part{n});
    if (!holds([&](int l) { return mask[l] ? T(other[l]) : T(all[l]); })) fault("MaskedStoreN", n);
    if (n == kLanes) {
      const V full = hn::MaskedLoadN(mask, d, p, hn::Full());
      if (!is(full, [&](int l) { return mask[l] ? T(other[l]) : T(); })) fault("MaskedLoadN", n);
    }
  }
  T before[2 * kLanes];
  for (int n = 0; n <= kLanes; ++n) {
    for (T& x : before) x = T(7);
    hn::StoreN(V{}, d, before, hn::Part{n});
    for (int l = 0; l < 2 * kLanes; ++l) {
      if (before[l] != (l < n ? T(0) : T(7))) return fault("StoreN outside", n);
    }
  }
}
template <class T>
void PartsOf() {
  PartsIn<T, 2>();
  PartsIn<T, 4>();
  PartsIn<T, 8>();
  PartsIn<T, 16>();
  if constexpr (sizeof(T) < 4) PartsIn<T, 32>();
}

}  // namespace

std::string LATHE_CASES() {
  faults.clear();
  Floats<float>();
  Floats<double>();
  PartsOf<int8_t>();
  PartsOf<uint16_t>();
  PartsOf<int32_t>();
  PartsOf<float>();
  PartsOf<uint64_t>();
  PartsOf<double>();
  ResizesOf<4>();
  ResizesOf<8>();
  ResizesOf<16>();
  PackedOf<1>();
  PackedOf<2>();
  PackedOf<3>();
  PackedOf<4>();
  PackedOf<5>();
  PackedOf<6>();
  PackedOf<7>();
  OctetsOf<1>();
  OctetsOf<2>();
  OctetsOf<3>();
  OctetsOf<4>();
  return faults;
}

}  // namespace lathe::cpu
