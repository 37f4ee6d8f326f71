#include "dtypes/scalar.h"

#include <bit>
#include <cmath>
#include <compare>
#include <cstring>
#include <limits>

#include "dtypes/base/check.h"
#include "dtypes/element.h"
#include "dtypes/sub_byte.h"
#include "dtypes/visit.h"

namespace lathe {
namespace {

using Complex = std::complex<double>;

// `f` of the value in the widest type of its kind; bool counts as an integer.
template <typename F>
auto VisitWide(const Scalar& value, F&& f) {
  switch (value.kind()) {
    case Scalar::Kind::kBool:
    case Scalar::Kind::kInt:
      return f(value.ToInt());
    case Scalar::Kind::kUInt:
      return f(value.ToUInt());
    case Scalar::Kind::kFloat:
      return f(value.ToDouble());
    case Scalar::Kind::kComplex:
      return f(value.ToComplex());
  }
  LATHE_UNREACHABLE();
}

Scalar ScalarOf(bool, int64_t wide) { return wide != 0; }
template <typename T, typename Wide>
Scalar ScalarOf(T, Wide wide) {
  return wide;
}

std::partial_ordering CompareIntToFloat(__int128 a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= 0x1p64) return std::partial_ordering::less;
  if (b < -0x1p63) return std::partial_ordering::greater;
  const double whole = std::trunc(b);
  if (a != static_cast<__int128>(whole)) return a <=> static_cast<__int128>(whole);
  return whole <=> b;
}

std::partial_ordering Reverse(std::partial_ordering order) { return 0 <=> order; }

bool IsExactInt(const Scalar& s) { return s.is_int() || s.is_bool(); }
__int128 ExactInt(const Scalar& s) {
  if (s.kind() == Scalar::Kind::kUInt) return s.ToUInt();
  return s.ToInt();
}

// By value and without rounding; neither is complex.
std::partial_ordering CompareReal(const Scalar& a, const Scalar& b) {
  if (IsExactInt(a) && IsExactInt(b)) return ExactInt(a) <=> ExactInt(b);
  if (IsExactInt(a)) return CompareIntToFloat(ExactInt(a), b.ToDouble());
  if (IsExactInt(b)) return Reverse(CompareIntToFloat(ExactInt(b), a.ToDouble()));
  return a.ToDouble() <=> b.ToDouble();
}

bool SameBits(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// Whole numbers hash as integers do, since they may equal one.
uint64_t HashOfDouble(double value) {
  if (std::isnan(value)) return 0x7ff8;
  if (value >= -0x1p63 && value < 0x1p64 && std::trunc(value) == value) {
    return FloatToBits64(value);
  }
  return std::bit_cast<uint64_t>(value);
}

template <typename T>
T Read(const void* data, int64_t k) {
  T element;
  std::memcpy(&element, static_cast<const char*>(data) + k * int64_t{sizeof(T)}, sizeof(T));
  return element;
}
template <>
bool Read<bool>(const void* data, int64_t k) {
  return static_cast<const uint8_t*>(data)[k] != 0;
}

template <typename T>
void Write(void* data, int64_t k, T element) {
  std::memcpy(static_cast<char*>(data) + k * int64_t{sizeof(T)}, &element, sizeof(T));
}

double RoundToF16(double value) { return F16::FromDouble(value).ToFloat(); }

}  // namespace

Scalar::Scalar(uint64_t v) {
  if (v <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    value_ = static_cast<int64_t>(v);
  } else {
    value_ = v;
  }
}

bool Scalar::ToBool() const {
  return std::visit([](auto v) { return v != decltype(v)(); }, value_);
}

uint64_t Scalar::ToUInt() const {
  if (const double* v = std::get_if<double>(&value_)) return FloatToBits64(*v);
  if (const Complex* v = std::get_if<Complex>(&value_)) return FloatToBits64(v->real());
  if (const uint64_t* v = std::get_if<uint64_t>(&value_)) return *v;
  if (const int64_t* v = std::get_if<int64_t>(&value_)) return static_cast<uint64_t>(*v);
  return std::get<bool>(value_);
}

int64_t Scalar::ToInt() const { return static_cast<int64_t>(ToUInt()); }

double Scalar::ToDouble() const { return ToComplex().real(); }

Complex Scalar::ToComplex() const {
  if (const Complex* v = std::get_if<Complex>(&value_)) return *v;
  if (const double* v = std::get_if<double>(&value_)) return *v;
  if (const uint64_t* v = std::get_if<uint64_t>(&value_)) return static_cast<double>(*v);
  return static_cast<double>(ToInt());
}

DType Scalar::DefaultDType() const {
  switch (kind()) {
    case Kind::kBool:
      return DType::kBool;
    case Kind::kInt:
      return DType::kI64;
    case Kind::kUInt:
      return DType::kU64;
    case Kind::kFloat:
      return DType::kF32;
    case Kind::kComplex:
      return DType::kC64;
  }
  LATHE_UNREACHABLE();
}

bool operator==(const Scalar& a, const Scalar& b) {
  if (!a.is_complex() && !b.is_complex()) return CompareReal(a, b) == 0;
  if (a.is_complex() && b.is_complex()) return a.ToComplex() == b.ToComplex();
  const Scalar& real = a.is_complex() ? b : a;
  const Complex other = (a.is_complex() ? a : b).ToComplex();
  return other.imag() == 0 && CompareReal(real, other.real()) == 0;
}

bool operator<(const Scalar& a, const Scalar& b) {
  LATHE_CHECK(!a.is_complex() && !b.is_complex())
      << "complex numbers have no order: " << a.ToString() << " < " << b.ToString();
  return CompareReal(a, b) < 0;
}

bool Scalar::Identical(const Scalar& other) const {
  if (kind() != other.kind()) return false;
  if (is_float()) return SameBits(ToDouble(), other.ToDouble());
  if (!is_complex()) return value_ == other.value_;
  const Complex a = ToComplex(), b = other.ToComplex();
  return SameBits(a.real(), b.real()) && SameBits(a.imag(), b.imag());
}

uint64_t Scalar::HashCode() const {
  if (is_int() || is_bool()) return ToUInt();
  const Complex value = ToComplex();
  const uint64_t real = HashOfDouble(value.real());
  if (value.imag() == 0) return real;
  return real * 0x9e3779b97f4a7c15u + HashOfDouble(value.imag());
}

Scalar Convert(const Scalar& value, DType dtype) {
  LATHE_CHECK(dtype != DType::kF4E2M1FNx2) << "an element of f4e2m1fn_x2 is a pair of numbers";
  if (dtype == DType::kC32) {
    const Complex parts = value.ToComplex();
    return Complex(RoundToF16(parts.real()), RoundToF16(parts.imag()));
  }
  if (IsSubByte(dtype)) return WrapInt(value.ToInt(), dtype);
  return VisitPlain(dtype, [&]<typename T>(TypeTag<T>) {
    return VisitWide(value, [](auto wide) {
      const T element = Narrow<T>(wide);
      return ScalarOf(element, Widen(element));
    });
  });
}

Scalar LoadElement(const void* data, DType dtype, int64_t k) {
  LATHE_CHECK(dtype != DType::kF4E2M1FNx2) << "an element of f4e2m1fn_x2 is a pair of numbers";
  if (dtype == DType::kC32) {
    return Complex(Read<F16>(data, 2 * k).ToFloat(), Read<F16>(data, 2 * k + 1).ToFloat());
  }
  if (IsSubByte(dtype)) return WrapInt(int64_t{LoadBits(data, BitWidth(dtype), k)}, dtype);
  return VisitPlain(dtype, [&]<typename T>(TypeTag<T>) {
    const T element = Read<T>(data, k);
    return ScalarOf(element, Widen(element));
  });
}

void StoreElement(void* data, DType dtype, int64_t k, const Scalar& value) {
  LATHE_CHECK(dtype != DType::kF4E2M1FNx2) << "an element of f4e2m1fn_x2 is a pair of numbers";
  if (dtype == DType::kC32) {
    const Complex parts = value.ToComplex();
    Write(data, 2 * k, F16::FromDouble(parts.real()));
    Write(data, 2 * k + 1, F16::FromDouble(parts.imag()));
  } else if (IsSubByte(dtype)) {
    StoreBits(data, BitWidth(dtype), k, static_cast<uint32_t>(value.ToUInt()));
  } else {
    VisitPlain(dtype, [&]<typename T>(TypeTag<T>) {
      Write(data, k, VisitWide(value, [](auto wide) { return Narrow<T>(wide); }));
    });
  }
}

}  // namespace lathe
