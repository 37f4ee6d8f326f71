// What Highway's dynamic dispatch asks of its library, declared in hwy/targets.h. Debian ships that
// library only as a shared object, and lathe's binary links none but libc's.

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "hwy/targets.h"

#if HWY_ARCH_X86_64
#include <cpuid.h>
#endif

namespace hwy {
namespace {

std::atomic<int64_t>& TargetsForTest() {
  static std::atomic<int64_t> targets{0};
  return targets;
}

#if HWY_ARCH_X86_64
// clang 14 has no name for it.
bool HasF16C() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

int64_t ProcessorTargets() {
  int64_t targets = HWY_STATIC_TARGET;
#if HWY_ARCH_X86_64
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && HasF16C();
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
  if (avx2) targets |= HWY_AVX2;
  if (avx512) targets |= HWY_AVX3;
#endif
  return targets;
}

}  // namespace

int64_t SupportedTargets() {
  static const int64_t processor = ProcessorTargets();
  const int64_t mocked = TargetsForTest().load();
  return mocked != 0 ? mocked : processor;
}

void SetSupportedTargetsForTest(int64_t targets) {
  TargetsForTest().store(targets);
  GetChosenTarget().DeInit();
}

void Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
