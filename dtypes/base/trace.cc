#include "dtypes/base/trace.h"

#include <chrono>

#include "absl/strings/str_cat.h"

namespace lathe {
namespace {

thread_local TraceSink* active = nullptr;

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

TraceSink::~TraceSink() = default;

void TraceSink::Artifact(absl::string_view name, absl::string_view encoding,
                         absl::string_view payload) {
  Record("artifact", absl::StrCat("{\"name\": \"", name, "\", \"encoding\": \"", encoding, "\"}"),
         payload);
}

TraceSink* ActiveTrace() { return active; }

ScopedTrace::ScopedTrace(TraceSink* sink) : previous_(active) { active = sink; }
ScopedTrace::~ScopedTrace() { active = previous_; }

TracePhase::TracePhase(absl::string_view name) {
  if (active == nullptr) return;
  name_ = std::string(name);
  begin_us_ = NowMicros();
}

TracePhase::~TracePhase() {
  if (active != nullptr && begin_us_ != 0) active->Span(name_, begin_us_, NowMicros());
}

}  // namespace lathe
