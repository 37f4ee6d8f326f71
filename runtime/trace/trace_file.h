#ifndef LATHE_RUNTIME_TRACE_TRACE_FILE_H_
#define LATHE_RUNTIME_TRACE_TRACE_FILE_H_

// The structured log of a process, in PyTorch's format: `tlparse FILE` makes pages of it.
//
//   LATHE_ASSIGN_OR_RETURN(std::unique_ptr<TraceFile> file, TraceFile::Open("/tmp/trace"));
//   std::unique_ptr<TraceSink> sink = file->StartCompile("model.pt2", "main");
//   ScopedTrace scope(sink.get());                 // records of this thread go there

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dtypes/base/trace.h"

namespace lathe {

// "[frame/compile_attempt]": which compilation a record belongs to.
struct CompileId {
  int64_t frame = 0;    // number of the program in this process
  int64_t compile = 0;  // how many times it was compiled before
  int64_t attempt = 0;
};

// One file, dedicated_log_torch_trace_[rank_R_]RANDOM.log in `directory`. Any thread may write; a
// record is written in one piece. A write that fails is reported once on stderr; the log goes on
// without it.
class TraceFile : public TraceSink {
 public:
  // Makes the directory. InvalidArgument when there is no writing there.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Open(const std::string& directory,
                                                         std::optional<int> rank = std::nullopt);
  ~TraceFile() override;

  // Starts the compilation of a program: `source` is the file it comes from, `name` what is called
  // there. Writes dynamo_start; records through the sink, which the file outlives, carry the id.
  // The same source and name again is another compile of the same frame.
  std::unique_ptr<TraceSink> StartCompile(absl::string_view source, absl::string_view name);

  // Records of no compilation in particular go to frame 0.
  void Record(absl::string_view event, absl::string_view metadata_json,
              absl::string_view payload) override;
  void Span(absl::string_view name, int64_t begin_us, int64_t end_us) override;

  const std::string& path() const { return path_; }

 private:
  class Compilation;
  TraceFile(int fd, std::string path, std::optional<int> rank)
      : fd_(fd), path_(std::move(path)), rank_(rank) {}
  void Write(const CompileId& id, absl::string_view event, absl::string_view metadata_json,
             absl::string_view payload);
  void WriteSpan(const CompileId& id, absl::string_view name, int64_t begin_us, int64_t end_us);
  // The index of a text in the string table, which is written when it is new. Holds mutex_.
  int64_t Intern(absl::string_view text);
  void Append(absl::string_view text);

  const int fd_;
  const std::string path_;
  const std::optional<int> rank_;
  std::mutex mutex_;
  std::map<std::string, int64_t> strings_;
  std::map<std::string, CompileId> last_compile_;  // by source and name
  bool failed_ = false;
};

// The file that LATHE_TRACE asks for, opened on first use and shared by the process; nullptr when
// the variable is unset or there is no writing there (said once on stderr).
TraceFile* EnvironmentTrace();

}  // namespace lathe

#endif  // LATHE_RUNTIME_TRACE_TRACE_FILE_H_
