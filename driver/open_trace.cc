#include "driver/open_trace.h"

#include "dtypes/base/status.h"

namespace lathe::driver {

absl::Status OpenTrace::Start(const Arguments& arguments, const std::string& model) {
  TraceFile* file = nullptr;
  if (std::optional<std::string> directory = arguments.Value("trace")) {
    LATHE_ASSIGN_OR_RETURN(file_, TraceFile::Open(*directory));
    file = file_.get();
  } else {
    file = EnvironmentTrace();
  }
  if (file == nullptr) return absl::OkStatus();
  sink_ = file->StartCompile(model, "main");
  scope_ = std::make_unique<ScopedTrace>(sink_.get());
  return absl::OkStatus();
}

}  // namespace lathe::driver
