#ifndef LATHE_IR_OPS_UNUSED_DRAW_H_
#define LATHE_IR_OPS_UNUSED_DRAW_H_

#include "ir/graph/graph.h"

namespace lathe {

// A node that draws random numbers which nobody looks at: exporters keep it, as it moves eager's
// generator on; a program has no generator of its own.
bool IsUnusedDraw(const Node& node);

}  // namespace lathe

#endif  // LATHE_IR_OPS_UNUSED_DRAW_H_
