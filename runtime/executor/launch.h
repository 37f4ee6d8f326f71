#ifndef LATHE_RUNTIME_EXECUTOR_LAUNCH_H_
#define LATHE_RUNTIME_EXECUTOR_LAUNCH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/executor/program.h"

namespace lathe::executor {

// One kernel of a plan: run whole, or range by range behind an extern.
class Launch {
 public:
  Launch(const LaunchStep& step, const Program& program, Code& code);

  // The launch with the operands it has now.
  struct Ready {
    const Launch* launch = nullptr;
    const Kernel* kernel = nullptr;
    const LaunchArguments* arguments = nullptr;
    int64_t extent = 0;
    int64_t chunk = 0;          // indexes of axis 0 that one call may take
    int64_t scratch_bytes = 0;  // for such a call
  };
  Ready Gather(Frame& frame) const;
  // The place of the buffer that has no slot.
  size_t absent_buffer() const;
  // [begin, end) on this thread; the absent buffer is at `absent`.
  static absl::Status RunRangeAt(const Ready& ready, char* scratch, int64_t begin, int64_t end,
                                 void* absent);
  // [begin, end) on this thread.
  static absl::Status RunRange(const Ready& ready, char* scratch, int64_t begin, int64_t end);

  // All of it, in parallel when it is more than a grain.
  absl::Status Run(Frame& frame, Context& context) const;

 private:
  static absl::Status RunBuffers(const Ready& ready, void* const* buffers, char* scratch,
                                 int64_t begin, int64_t end);
  absl::Status Error(int32_t code, int64_t value) const;

  const LaunchStep& step_;
  const KernelSlot& kernel_;
  const PlanKernel& info_;
  const size_t place_;
};

absl::Status OutOfScratch(const LaunchStep& step, int64_t bytes);

}  // namespace lathe::executor

#endif  // LATHE_RUNTIME_EXECUTOR_LAUNCH_H_
