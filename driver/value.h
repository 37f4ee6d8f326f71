#ifndef LATHE_DRIVER_VALUE_H_
#define LATHE_DRIVER_VALUE_H_

#include <variant>

#include "dtypes/scalar.h"
#include "runtime/tensor/tensor.h"

namespace lathe::driver {

// An input or output of a program, the executor's RunValue: a tensor (undefined for none) or a
// number.
using Value = std::variant<Tensor, Scalar>;

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_VALUE_H_
