#ifndef LATHE_DRIVER_OPEN_TRACE_H_
#define LATHE_DRIVER_OPEN_TRACE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "driver/arguments.h"
#include "dtypes/base/trace.h"
#include "runtime/trace/trace_file.h"

namespace lathe::driver {

// Records of this thread go to the directory of --trace, else of LATHE_TRACE, while it lives.
class OpenTrace {
 public:
  absl::Status Start(const Arguments& arguments, const std::string& model);

 private:
  std::unique_ptr<TraceFile> file_;
  std::unique_ptr<TraceSink> sink_;
  std::unique_ptr<ScopedTrace> scope_;
};

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_OPEN_TRACE_H_
