#include "ir/ops/pointwise/special_functions.h"

#include <cmath>
#include <limits>

namespace lathe::special {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = 1e-17;

// Bernoulli numbers B(2k) for k = 1..12.
constexpr double kBernoulli[] = {
    1.0 / 6, -1.0 / 30,     1.0 / 42,      -1.0 / 30,       5.0 / 66,       -691.0 / 2730,
    7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

}  // namespace

// DLMF 5.5.2, 5.5.4, 5.11.2.
double Digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0 && x == std::floor(x)) return kNan;
  if (x < 0) {
    double whole;
    double fraction = std::modf(x, &whole);
    return Digamma(1 - x) - kPi / std::tan(kPi * fraction);
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  double tail = 0, power = 1 / (x * x), scale = power;
  for (int k = 0; k < 8; ++k, scale *= power) tail += kBernoulli[k] / (2 * (k + 1)) * scale;
  return sum + std::log(x) - 0.5 / x - tail;
}

// DLMF 25.11.28: Euler-Maclaurin after ten terms.
double HurwitzZeta(double s, double q) {
  if (s == 1) return kInfinity;
  if (s < 1) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity;
    if (s != std::floor(s)) return kNan;
  }
  double sum = std::pow(q, -s), a = q;
  for (int k = 0; k < 9 || a <= 9; ++k) {
    a += 1;
    double term = std::pow(a, -s);
    sum += term;
    if (std::fabs(term) < kEpsilon * std::fabs(sum)) return sum;
  }
  double term = std::pow(a, -s);
  sum += term * a / (s - 1) - 0.5 * term;
  double rising = s, power = term / a, factorial = 2;
  for (int k = 0; k < 12; ++k) {
    sum += kBernoulli[k] / factorial * rising * power;
    rising *= (s + 2 * k + 1) * (s + 2 * k + 2);
    power /= a * a;
    factorial *= (2 * k + 3) * (2 * k + 4);
  }
  return sum;
}

// DLMF 5.15.1.
double Polygamma(int64_t n, double x) {
  if (n == 0) return Digamma(x);
  double sign = n % 2 == 0 ? -1 : 1;
  return sign * std::tgamma(static_cast<double>(n) + 1) *
         HurwitzZeta(static_cast<double>(n) + 1, x);
}

namespace {

// DLMF 5.5.4 differentiated, and 5.15.8.
template <typename T>
T TrigammaOf(T x) {
  T sign = 1, result = 0;
  if (x < T(0.5)) {
    sign = -1;
    const T sine = std::sin(static_cast<T>(kPi) * x);
    result -= static_cast<T>(kPi * kPi) / (sine * sine);
    x = 1 - x;
  }
  for (int k = 0; k < 6; ++k, x += 1) result += 1 / (x * x);
  const T square = 1 / (x * x);
  const T tail = square * (T(1) / 6 - square * (T(1) / 30 - square * (T(1) / 42)));
  return sign * (result + (1 + 1 / (2 * x) + tail) / x);
}

}  // namespace

float Trigamma(float x) { return TrigammaOf(x); }
double Trigamma(double x) { return TrigammaOf(x); }

namespace {

// x^a e^-x / Gamma(a)
double GammaFactor(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a)); }

// DLMF 8.11.4.
double GammaSeries(double a, double x) {
  double sum = 1 / a, term = sum;
  for (int n = 1; n < 2000; ++n) {
    term *= x / (a + n);
    sum += term;
    if (std::fabs(term) < kEpsilon * std::fabs(sum)) break;
  }
  return sum * GammaFactor(a, x);
}

// DLMF 8.9.2, by Lentz's method.
double GammaFraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int n = 1; n < 5000; ++n) {
    double step = -n * (n - a);
    b += 2;
    d = step * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + step / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-16) break;
  }
  return h * GammaFactor(a, x);
}

}  // namespace

double GammaP(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNan;
  if (a == 0) return x > 0 ? 1 : kNan;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 0;
  if (std::isinf(x)) return 1;
  return x < a + 1 ? GammaSeries(a, x) : 1 - GammaFraction(a, x);
}

double GammaQ(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNan;
  if (a == 0) return x > 0 ? 0 : kNan;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1;
  if (std::isinf(x)) return 0;
  return x < a + 1 ? 1 - GammaSeries(a, x) : GammaFraction(a, x);
}

// DLMF 7.12.1 for large x.
double Erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  double sum = 1, term = 1;
  for (int k = 1; k < 8; ++k) {
    term *= -(2 * k - 1) / (2 * x * x);
    sum += term;
  }
  return sum / (x * std::sqrt(kPi));
}

// Newton's method on erf, or on erfc where 1 - |y| is small.
double Erfinv(double y) {
  if (std::isnan(y) || y < -1 || y > 1) return kNan;
  if (y == 1 || y == -1) return std::copysign(kInfinity, y);
  if (y == 0) return y;
  double magnitude = std::fabs(y);
  // Winitzki's approximation starts it.
  double l = std::log1p(-y * y), half = 2 / (kPi * 0.147) + l / 2;
  double x = std::sqrt(std::sqrt(half * half - l / 0.147) - half);
  for (int k = 0; k < 4; ++k) {
    double error = magnitude < 0.5 ? std::erf(x) - magnitude : (1 - magnitude) - std::erfc(x);
    double slope = 2 / std::sqrt(kPi) * std::exp(-x * x);
    if (slope == 0) break;
    double step = error / slope;
    x -= step / (1 + x * step);
  }
  return std::copysign(x, y);
}

double Ndtri(double p) {
  if (std::isnan(p) || p < 0 || p > 1) return kNan;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  if (p > 0.5) return -Ndtri(1 - p);
  if (p > 0.02) return std::sqrt(2.0) * Erfinv(2 * p - 1);
  // Newton on the logarithm of the lower tail.
  double x = -std::sqrt(-2 * std::log(p));
  for (int k = 0; k < 20; ++k) {
    double tail = 0.5 * std::erfc(-x / std::sqrt(2.0));
    double density = std::exp(-x * x / 2) / std::sqrt(2 * kPi);
    double step = (std::log(tail) - std::log(p)) * tail / density;
    x -= step;
    if (std::fabs(step) < 1e-15 * std::fabs(x)) break;
  }
  return x;
}

double LogNdtr(double x) {
  double t = x / std::sqrt(2.0);
  if (x < -1) return std::log(Erfcx(-t) / 2) - t * t;
  return std::log1p(-std::erfc(t) / 2);
}

double Entr(double x) {
  if (std::isnan(x)) return x;
  if (x > 0) return -x * std::log(x);
  return x == 0 ? 0 : -kInfinity;
}

namespace {

// exp(-x) I_order(x) for x >= 0: DLMF 10.25.2, and 10.40.1 for large x.
double ScaledI(int order, double x) {
  double mu = 4.0 * order * order;
  if (x > 40) {
    double sum = 1, term = 1;
    for (int k = 1; k < 20; ++k) {
      term *= -(mu - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
      sum += term;
    }
    return sum / std::sqrt(2 * kPi * x);
  }
  double quarter = x * x / 4, term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 500; ++k) {
    term *= quarter / (static_cast<double>(k) * (k + order));
    sum += term;
    if (term < kEpsilon * sum) break;
  }
  return sum * std::exp(-x);
}

// exp(x) K_order(x) for x > 0: DLMF 10.40.2 for large x.
double ScaledK(int order, double x) {
  if (std::isnan(x)) return x;
  if (x < 0) return kNan;
  if (x == 0) return kInfinity;
  if (x < 40) return std::exp(x) * std::cyl_bessel_k(static_cast<double>(order), x);
  double mu = 4.0 * order * order, sum = 1, term = 1;
  for (int k = 1; k < 20; ++k) {
    term *= (mu - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
    sum += term;
  }
  return sum * std::sqrt(kPi / (2 * x));
}

}  // namespace

double BesselI0e(double x) { return ScaledI(0, std::fabs(x)); }
double BesselI1e(double x) { return std::copysign(ScaledI(1, std::fabs(x)), x); }
double BesselI0(double x) { return BesselI0e(x) * std::exp(std::fabs(x)); }
double BesselI1(double x) { return BesselI1e(x) * std::exp(std::fabs(x)); }
double BesselK0e(double x) { return ScaledK(0, x); }
double BesselK1e(double x) { return ScaledK(1, x); }
double BesselK0(double x) { return ScaledK(0, x) * std::exp(-x); }
double BesselK1(double x) { return ScaledK(1, x) * std::exp(-x); }

// DLMF 9.6.2 and 9.6.6.
double AiryAi(double x) {
  if (std::isinf(x) || std::isnan(x)) return std::isnan(x) ? x : 0;
  if (x == 0) return 0.355028053887817239;
  double z = 2.0 / 3 * std::pow(std::fabs(x), 1.5);
  if (x > 0) return z > 700 ? 0 : std::sqrt(x / 3) / kPi * std::cyl_bessel_k(1.0 / 3, z);
  double j = std::cyl_bessel_j(1.0 / 3, z), y = std::cyl_neumann(1.0 / 3, z);
  double j_minus = std::cos(kPi / 3) * j - std::sin(kPi / 3) * y;
  return std::sqrt(-x) / 3 * (j + j_minus);
}

double SphericalJ0(double x) {
  if (std::isinf(x)) return 0;
  return std::fabs(x) < 1e-8 ? 1 : std::sin(x) / x;
}

namespace {

// p(0) = 1, p(1) = first, p(k+1) = 2 x p(k) - p(k-1).
double Chebyshev(double x, int64_t n, double first) {
  if (n < 0) return 0;
  double before = 1, current = first;
  if (n == 0) return before;
  for (int64_t k = 1; k < n; ++k) {
    double next = 2 * x * current - before;
    before = current;
    current = next;
  }
  return current;
}

}  // namespace

double ChebyshevT(double x, int64_t n) { return Chebyshev(x, n, x); }
double ChebyshevU(double x, int64_t n) { return Chebyshev(x, n, 2 * x); }
double ChebyshevV(double x, int64_t n) { return Chebyshev(x, n, 2 * x - 1); }
double ChebyshevW(double x, int64_t n) { return Chebyshev(x, n, 2 * x + 1); }

double HermiteH(double x, int64_t n) {
  if (n < 0) return 0;
  double before = 0, current = 1;
  for (int64_t k = 0; k < n; ++k) {
    double next = 2 * x * current - 2 * static_cast<double>(k) * before;
    before = current;
    current = next;
  }
  return current;
}

double HermiteHe(double x, int64_t n) {
  if (n < 0) return 0;
  double before = 0, current = 1;
  for (int64_t k = 0; k < n; ++k) {
    double next = x * current - static_cast<double>(k) * before;
    before = current;
    current = next;
  }
  return current;
}

double Laguerre(double x, int64_t n) {
  if (n < 0) return 0;
  double before = 0, current = 1;
  for (int64_t k = 0; k < n; ++k) {
    double next = ((2 * k + 1 - x) * current - k * before) / (k + 1);
    before = current;
    current = next;
  }
  return current;
}

double Legendre(double x, int64_t n) {
  if (n < 0) return 0;
  double before = 0, current = 1;
  for (int64_t k = 0; k < n; ++k) {
    double next = ((2 * k + 1) * x * current - k * before) / (k + 1);
    before = current;
    current = next;
  }
  return current;
}

}  // namespace lathe::special
