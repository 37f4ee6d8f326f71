#ifndef LATHE_DRIVER_PRINT_VALUE_H_
#define LATHE_DRIVER_PRINT_VALUE_H_

#include <string>

#include "driver/value.h"

namespace lathe::driver {

// "f32[2, 2] [[1.0, 2.5], [0.1, nan]]": each element in the shortest form that reads back exactly.
// Of a tensor of more than 1 000 elements the first and last 500 are shown. A number is itself,
// an undefined tensor "none".
std::string PrintValue(const Value& value);

// "f32[2, 2]"; "int", "float" or "bool" for a number.
std::string TypeOf(const Value& value);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_PRINT_VALUE_H_
