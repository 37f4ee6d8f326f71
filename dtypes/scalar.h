#ifndef LATHE_DTYPES_SCALAR_H_
#define LATHE_DTYPES_SCALAR_H_

// One number of any kind, without loss: i64, u64, f64, bool or complex. What ATen calls `Scalar`,
// a constant of a graph, and the element type of the reference evaluator's slow path.
//
//   Scalar a = 3, b = 2.5, c = true, d = uint64_t{1} << 63;
//   Scalar e = Convert(d, DType::kF32);      // converted as a tensor element would be

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dtypes/dtype.h"

namespace lathe {

class Scalar {
 public:
  enum class Kind : uint8_t { kBool, kInt, kUInt, kFloat, kComplex };

  Scalar() : value_(int64_t{0}) {}
  template <std::same_as<bool> B>                // exactly bool: no pointer converts
  Scalar(B v) : value_(v) {}                     // NOLINT: a literal converts
  Scalar(int v) : value_(int64_t{v}) {}          // NOLINT
  Scalar(uint32_t v) : value_(int64_t{v}) {}     // NOLINT
  Scalar(int64_t v) : value_(v) {}               // NOLINT
  Scalar(uint64_t v);                            // NOLINT: kInt when it fits, kUInt otherwise
  Scalar(double v) : value_(v) {}                // NOLINT
  Scalar(std::complex<double> v) : value_(v) {}  // NOLINT

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_bool() const { return kind() == Kind::kBool; }
  // An integer of either signedness, not bool.
  bool is_int() const { return kind() == Kind::kInt || kind() == Kind::kUInt; }
  bool is_float() const { return kind() == Kind::kFloat; }
  bool is_complex() const { return kind() == Kind::kComplex; }

  // Conversions by C++'s value rules; integers wrap, floats to integers follow design §6:
  // NaN gives 0, else truncate, clamp to [-2^63, 2^64), wrap.
  bool ToBool() const;
  int64_t ToInt() const;
  uint64_t ToUInt() const;
  double ToDouble() const;  // of a complex: its real part
  std::complex<double> ToComplex() const;

  // The dtype PyTorch gives a Python scalar of this kind: bool, i64 (u64 past 2^63-1), f32, c64.
  DType DefaultDType() const;

  // Equality and order by value across kinds (1 == 1.0 == true), never by a rounding cast.
  // NaN equals nothing. Order of complex numbers is an error of the caller (LATHE_CHECK).
  friend bool operator==(const Scalar& a, const Scalar& b);
  friend bool operator<(const Scalar& a, const Scalar& b);
  // Same kind and same bits (-0.0 differs from 0.0; every NaN is the same one): for CSE.
  bool Identical(const Scalar& other) const;
  // Equal scalars have equal hashes, whatever their kind; so have identical ones.
  template <typename H>
  friend H AbslHashValue(H h, const Scalar& s) {
    return H::combine(std::move(h), s.HashCode());
  }

  // Shortest text that reads back to the identical scalar: "3", "2.5", "1.0", "true", "1+2j",
  // "inf", "nan", "-0.0". Floats always with point or exponent, the parts of a complex not.
  std::string ToString() const;

 private:
  uint64_t HashCode() const;
  std::variant<bool, int64_t, uint64_t, double, std::complex<double>> value_;
};

// Parses what ToString writes (and "-inf", "1e5", "0x10", "+3", "2j"). InvalidArgument otherwise,
// when an integer is outside [-2^63, 2^64), or a float outside what f64 can hold ("1e999").
absl::StatusOr<Scalar> ParseScalar(absl::string_view text);

// The value as an element of `dtype` would hold it: wraps integers to their width, rounds floats
// once (f64 -> bf16 directly, not through f32), takes the real part of a complex for a real dtype.
// Every dtype but f4e2m1fn_x2, whose element is a pair.
Scalar Convert(const Scalar& value, DType dtype);

// The element rounded to few decimal digits, such that the text reads back to the same element of
// `dtype` (f16, bf16 and f8 values through rounding to their own type) and is as short as that
// allows: "1.1" for the f32 nearest to 1.1, "3.14" for the bf16 3.140625.
std::string FormatElement(const Scalar& value, DType dtype);

// Element k of a packed or plain buffer (design §3: sub-byte element k lies at bits [k*w, k*w+w),
// little-endian in the byte). `data` is the storage's first byte, k counts elements from there.
// Needs no alignment. Every dtype but f4e2m1fn_x2.
Scalar LoadElement(const void* data, DType dtype, int64_t k);
// Stores Convert(value, dtype). A sub-byte store leaves its neighbours in the byte alone.
void StoreElement(void* data, DType dtype, int64_t k, const Scalar& value);

}  // namespace lathe

#endif  // LATHE_DTYPES_SCALAR_H_
