#ifndef LATHE_DTYPES_BASE_TRACE_H_
#define LATHE_DTYPES_BASE_TRACE_H_

// The sink that every part of lathe writes its trace records to. Nothing is computed when no sink
// is installed: `if (TraceSink* trace = ActiveTrace()) ...` costs one branch.
// runtime/trace writes the files (PyTorch's structured log, read by tlparse).

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace lathe {

class TraceSink {
 public:
  virtual ~TraceSink();
  // One record. `event` is a name tlparse knows ("artifact", "inductor_output_code"...);
  // `metadata_json` is a JSON value ("{}"); `payload` may be empty and of any length.
  virtual void Record(absl::string_view event, absl::string_view metadata_json,
                      absl::string_view payload) = 0;
  // A phase of the compiler as a Chrome trace span; times in microseconds since the epoch.
  virtual void Span(absl::string_view name, int64_t begin_us, int64_t end_us) = 0;

  // An `artifact` record with encoding "string" or "json".
  void Artifact(absl::string_view name, absl::string_view encoding, absl::string_view payload);
};

// The sink of this thread's compilation, or nullptr. Installed for a scope, so that compilations
// on several threads do not mix.
TraceSink* ActiveTrace();

class ScopedTrace {
 public:
  explicit ScopedTrace(TraceSink* sink);
  ~ScopedTrace();
  ScopedTrace(const ScopedTrace&) = delete;
  ScopedTrace& operator=(const ScopedTrace&) = delete;

 private:
  TraceSink* previous_;
};

// Times a phase: records a Span when a sink is active.
class TracePhase {
 public:
  explicit TracePhase(absl::string_view name);
  ~TracePhase();
  TracePhase(const TracePhase&) = delete;
  TracePhase& operator=(const TracePhase&) = delete;

 private:
  std::string name_;
  int64_t begin_us_ = 0;
};

}  // namespace lathe

#endif  // LATHE_DTYPES_BASE_TRACE_H_
