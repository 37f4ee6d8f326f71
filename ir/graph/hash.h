#ifndef LATHE_IR_GRAPH_HASH_H_
#define LATHE_IR_GRAPH_HASH_H_

#include <cstddef>

#include "ir/graph/graph.h"

namespace lathe {

// Equal arguments have equal hashes.
size_t HashOf(const Argument& argument, size_t seed);

}  // namespace lathe

#endif  // LATHE_IR_GRAPH_HASH_H_
