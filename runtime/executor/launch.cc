#include "runtime/executor/launch.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "dtypes/base/status.h"
#include "runtime/executor/first_error.h"
#include "runtime/tensor/available_memory.h"

namespace lathe::executor {
namespace {

// Scratch of a call over the whole range, beyond which the range is taken grain by grain.
constexpr int64_t kWholeScratch = int64_t{1} << 16;

class LaunchWhole final : public Step {
 public:
  LaunchWhole(const LaunchStep& step, const Program& program, Code& code)
      : launch_(step, program, code) {}
  absl::Status Run(Frame& frame, Context& context) const override {
    return launch_.Run(frame, context);
  }

 private:
  const Launch launch_;
};

}  // namespace

absl::Status OutOfScratch(const LaunchStep& step, int64_t bytes) {
  return AtNode(OutOfMemory("a kernel's scratch for each worker", bytes), step.node, step.source);
}

Launch::Launch(const LaunchStep& step, const Program& program, Code& code)
    : step_(step),
      kernel_(program.kernels[static_cast<size_t>(step.kernel)]),
      info_(program.plan.kernels[static_cast<size_t>(step.kernel)]),
      place_(code.launches++) {}

Launch::Ready Launch::Gather(Frame& frame) const {
  LaunchArguments& arguments = frame.launches[place_];
  arguments.buffers.resize(step_.buffers.size());
  for (size_t k = 0; k < step_.buffers.size(); ++k) {
    arguments.buffers[k] = nullptr;
    if (step_.buffers[k] < 0) continue;
    const Slot& slot = frame.SlotAt(step_.buffers[k]);
    const int64_t offset = step_.offsets.empty() ? 0 : step_.offsets[k];
    // An empty tensor may have no memory to count from.
    arguments.buffers[k] = offset == 0 || slot.data == nullptr
                               ? slot.data
                               : slot.data + offset * BitWidth(slot.dtype) / 8;
  }
  arguments.scalars.resize(step_.scalars.size());
  for (size_t k = 0; k < step_.scalars.size(); ++k) {
    arguments.scalars[k] = frame.Get(step_.scalars[k]);
  }
  Ready ready{this, kernel_.Get(), &arguments, frame.Get(step_.extent), 0, 0};
  const int64_t* scalars = arguments.scalars.data();
  ready.chunk = std::max<int64_t>(ready.extent, 1);
  ready.scratch_bytes = ready.kernel->ScratchBytes(scalars, ready.chunk);
  if (ready.scratch_bytes > kWholeScratch && info_.grain < ready.chunk) {
    ready.chunk = info_.grain;
    ready.scratch_bytes = ready.kernel->ScratchBytes(scalars, ready.chunk);
  }
  return ready;
}

size_t Launch::absent_buffer() const {
  const auto absent = std::find(step_.buffers.begin(), step_.buffers.end(), -1);
  return static_cast<size_t>(absent - step_.buffers.begin());
}

absl::Status Launch::RunRange(const Ready& ready, char* scratch, int64_t begin, int64_t end) {
  return RunBuffers(ready, ready.arguments->buffers.data(), scratch, begin, end);
}

absl::Status Launch::RunRangeAt(const Ready& ready, char* scratch, int64_t begin, int64_t end,
                                void* absent) {
  absl::InlinedVector<void*, 8> buffers(ready.arguments->buffers.begin(),
                                        ready.arguments->buffers.end());
  buffers[ready.launch->absent_buffer()] = absent;
  return RunBuffers(ready, buffers.data(), scratch, begin, end);
}

absl::Status Launch::RunBuffers(const Ready& ready, void* const* buffers, char* scratch,
                                int64_t begin, int64_t end) {
  LatheKernelError error{};
  LatheKernelArgs args{buffers, ready.arguments->scalars.data(), begin, end, scratch, &error};
  for (; args.begin < end; args.begin = args.end) {
    args.end = std::min(end, args.begin + ready.chunk);
    const int32_t code = ready.kernel->Call(args);
    if (__builtin_expect(code != kLatheOk, 0)) return ready.launch->Error(code, error.value);
  }
  return absl::OkStatus();
}

absl::Status Launch::Run(Frame& frame, Context& context) const {
  const Ready ready = Gather(frame);
  if (ready.extent <= 0) return absl::OkStatus();
  char* scratch = nullptr;
  if (ready.scratch_bytes > 0) {
    scratch = context.Scratch(ready.scratch_bytes);
    if (scratch == nullptr) return OutOfScratch(step_, ready.scratch_bytes);
  }
  ThreadPool* pool = context.program().pool;
  if (pool == nullptr || ready.extent <= info_.grain) {
    return RunRange(ready, scratch, 0, ready.extent);
  }
  struct Loop {
    const Ready& ready;
    char* scratch;
    int64_t stride;
    FirstError error;
  } loop{ready, scratch, Context::ScratchStride(ready.scratch_bytes), {}};
  pool->ParallelFor(ready.extent, info_.grain, [&loop](int64_t begin, int64_t end, int worker) {
    if (loop.error.failed()) return;
    char* own = loop.scratch == nullptr ? nullptr : loop.scratch + worker * loop.stride;
    loop.error.Set(RunRange(loop.ready, own, begin, end));
  });
  return loop.error.status();
}

absl::Status Launch::Error(int32_t code, int64_t value) const {
  if (code > 0 && static_cast<size_t>(code) <= info_.errors.size()) {
    const PlanKernelError& row = info_.errors[static_cast<size_t>(code) - 1];
    return AtNode(value == 0 ? OutOfRange(row.message) : OutOfRange(row.message, ": ", value),
                  row.node, row.source);
  }
  if (code == kLatheIndexError && value == INT64_MIN) {
    return AtNode(OutOfRange("an expression over sizes passes 64 bits or divides by zero"),
                  step_.node, step_.source);
  }
  if (code == kLatheIndexError) {
    return AtNode(OutOfRange("index ", value, " is out of range (in kernel ", info_.name, ")"),
                  step_.node, step_.source);
  }
  if (code == kLatheDivisionError) {
    return AtNode(
        InvalidArgument("ZeroDivisionError: integer division by zero (in kernel ", info_.name, ")"),
        step_.node, step_.source);
  }
  if (code == kLatheMemoryError) {
    return AtNode(OutOfMemory("a reduction's partial results", value), step_.node, step_.source);
  }
  return Internal("kernel ", info_.name, " returned ", code);
}

std::unique_ptr<Step> MakeStep(const LaunchStep& step, const Program& program, Code& code) {
  return std::make_unique<LaunchWhole>(step, program, code);
}

}  // namespace lathe::executor
