#include "runtime/externs/gemm/kernels.h"

namespace lathe::gemm {
namespace {

struct Tables {
  const KernelTable* list[3] = {&kBaseTable};
  int count = 1;
  Tables() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2")) {
      list[count++] = &kV3Table;
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
          __builtin_cpu_supports("avx512cd")) {
        list[count++] = &kV4Table;
      }
    }
#endif
  }
};

const Tables& TheTables() {
  static const Tables tables;
  return tables;
}

}  // namespace

const KernelTable& BestTable() { return *TheTables().list[TheTables().count - 1]; }
int TableCount() { return TheTables().count; }
const KernelTable& TableAt(int k) { return *TheTables().list[k]; }

}  // namespace lathe::gemm
