#ifndef LATHE_RUNTIME_MEMORY_POOL_H_
#define LATHE_RUNTIME_MEMORY_POOL_H_

// Host memory that is kept for the next request of its size: outputs, arenas, temporaries.
//
//   std::shared_ptr<Storage> s = PoolAllocate(4096);   // back to the pool when the last handle
//   goes

#include <cstdint>
#include <memory>

#include "runtime/tensor/tensor.h"

namespace lathe {

// Uninitialised bytes, 64-byte aligned, readable for 64 bytes past the end; from 2 MiB on in huge
// pages where the system has them. nullptr when bytes < 0 or the system has no more
// (available_memory.h: a large request is not left to be killed for). Any thread.
std::shared_ptr<Storage> PoolAllocate(int64_t bytes);

struct PoolStatistics {
  int64_t cached_bytes = 0;     // free and kept
  int64_t used_bytes = 0;       // handed out, rounding included
  int64_t system_requests = 0;  // how often the system was asked for a block
};
PoolStatistics GetPoolStatistics();

// At most this many free bytes are kept, a quarter of the machine's memory by default.
void SetPoolLimit(int64_t bytes);
// Returns all free blocks to the system.
void TrimPool();

}  // namespace lathe

#endif  // LATHE_RUNTIME_MEMORY_POOL_H_
