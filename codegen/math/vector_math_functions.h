#ifndef LATHE_CODEGEN_MATH_VECTOR_MATH_FUNCTIONS_H_
#define LATHE_CODEGEN_MATH_VECTOR_MATH_FUNCTIONS_H_

// Vector math as functions over arrays, for tests: the target that Highway has chosen runs.

#include <cstddef>
#include <string>
#include <vector>

namespace lathe {

template <typename T>
struct MathFunction {
  std::string name;
  void (*run)(const T* x, const T* y, T* out, size_t n);  // n a multiple of 16
};

std::vector<MathFunction<float>> MathFunctionsF32();
std::vector<MathFunction<double>> MathFunctionsF64();

}  // namespace lathe

#endif  // LATHE_CODEGEN_MATH_VECTOR_MATH_FUNCTIONS_H_
