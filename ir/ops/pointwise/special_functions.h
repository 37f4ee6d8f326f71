#ifndef LATHE_IR_OPS_POINTWISE_SPECIAL_FUNCTIONS_H_
#define LATHE_IR_OPS_POINTWISE_SPECIAL_FUNCTIONS_H_

// Special functions in double that the C++ library lacks, or has with a narrower domain.
// Formulas: NIST Digital Library of Mathematical Functions, numbers given at each.

#include <cstdint>

namespace lathe::special {

double Digamma(double x);
double HurwitzZeta(double s, double q);  // sum over k >= 0 of (q + k)^-s
double Polygamma(int64_t n, double x);
// The derivative of digamma, by eager's reflection formula: near the poles its value depends on the
// type that it is computed in.
float Trigamma(float x);
double Trigamma(double x);
double GammaP(double a, double x);  // regularised lower incomplete gamma
double GammaQ(double a, double x);  // upper
double Erfcx(double x);             // exp(x^2) erfc(x)
double Erfinv(double y);
double Ndtri(double p);    // quantile of the normal distribution
double LogNdtr(double x);  // log of its distribution function
double Entr(double x);     // -x log x

double BesselI0(double x);
double BesselI0e(double x);  // times exp(-|x|)
double BesselI1(double x);
double BesselI1e(double x);
double BesselK0(double x);
double BesselK0e(double x);  // times exp(x)
double BesselK1(double x);
double BesselK1e(double x);
double AiryAi(double x);
double SphericalJ0(double x);

double ChebyshevT(double x, int64_t n);
double ChebyshevU(double x, int64_t n);
double ChebyshevV(double x, int64_t n);
double ChebyshevW(double x, int64_t n);
double HermiteH(double x, int64_t n);
double HermiteHe(double x, int64_t n);
double Laguerre(double x, int64_t n);
double Legendre(double x, int64_t n);

}  // namespace lathe::special

#endif  // LATHE_IR_OPS_POINTWISE_SPECIAL_FUNCTIONS_H_
