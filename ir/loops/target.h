#ifndef LATHE_IR_LOOPS_TARGET_H_
#define LATHE_IR_LOOPS_TARGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor/device.h"

namespace lathe {

// What the scheduler, the partitioner and the cost models may know of a machine.
struct Target {
  Device device;
  int vector_bytes = 32;
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 1 << 20;
  int64_t l3_bytes = 16 << 20;
  int threads = 1;                    // or SMs
  int64_t shared_memory_bytes = 0;    // of a CUDA block
  std::vector<std::string> features;  // "avx2", "fma", "avx512f"...: sorted
};

// This machine, from CPUID and the cache hierarchy; threads from LATHE_NUM_THREADS, the cgroup and
// the affinity mask, in that order.
Target HostTarget();
std::string ToString(const Target& target);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_TARGET_H_
