#ifndef LATHE_DRIVER_SHOW_SHAPES_H_
#define LATHE_DRIVER_SHOW_SHAPES_H_

// lathe show --stage shapes: symbols with what is known of them, preconditions, guards and
// assertions with their reasons, and the types at the program's borders.

#include <string>

#include "ir/graph/program.h"

namespace lathe::driver {

// Either learns what a call must meet: the program's shapes know more afterwards.
std::string ShapesText(const Program& program);
std::string ShapesJson(const Program& program);  // one JSON object

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_SHOW_SHAPES_H_
