#include "runtime/trace/trace_file.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "runtime/trace/json_text.h"
#include "runtime/trace/md5_hex.h"

namespace lathe {
namespace {

// "V0711 12:34:56.789000 4242 runtime/trace/trace_file.cc:1] ". The format's fraction is in
// milliseconds, written with six digits.
std::string Prefix() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = ms / 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  return absl::StrFormat("V%02d%02d %02d:%02d:%02d.%03d000 %d runtime/trace/trace_file.cc:1] ",
                         local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                         static_cast<int>(ms % 1000), static_cast<int>(syscall(SYS_gettid)));
}

// A record is one line: line breaks between the tokens of a JSON text are nothing but space.
std::string OneLine(absl::string_view json) {
  std::string text(json);
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// Each line of the payload behind a tab.
void AppendPayload(absl::string_view payload, std::string* out) {
  for (const absl::string_view line : absl::StrSplit(payload, '\n')) {
    absl::StrAppend(out, "\t", line, "\n");
  }
}

// Makes the folder and those above it.
bool MakeDirectory(const std::string& path) {
  for (size_t k = 1; k <= path.size(); ++k) {
    if (k < path.size() && path[k] != '/') continue;
    if (mkdir(path.substr(0, k).c_str(), 0777) != 0 && errno != EEXIST) return false;
  }
  return !path.empty();
}

}  // namespace

// A sink for one compilation.
class TraceFile::Compilation final : public TraceSink {
 public:
  Compilation(TraceFile& file, CompileId id) : file_(file), id_(id) {}
  void Record(absl::string_view event, absl::string_view metadata_json,
              absl::string_view payload) override {
    file_.Write(id_, event, metadata_json, payload);
  }
  void Span(absl::string_view name, int64_t begin_us, int64_t end_us) override {
    file_.WriteSpan(id_, name, begin_us, end_us);
  }

 private:
  TraceFile& file_;
  const CompileId id_;
};

absl::StatusOr<std::unique_ptr<TraceFile>> TraceFile::Open(const std::string& directory,
                                                           std::optional<int> rank) {
  const std::string rank_text = rank ? absl::StrCat("rank_", *rank, "_") : "";
  std::string path =
      absl::StrCat(directory, "/dedicated_log_torch_trace_", rank_text, "XXXXXX.log");
  int fd = -1;
  if (MakeDirectory(directory)) fd = mkstemps(path.data(), 4);
  if (fd < 0) {
    return InvalidArgument("no trace in ", directory, ": ",
                           absl::string_view(std::strerror(errno)));
  }
  return std::unique_ptr<TraceFile>(new TraceFile(fd, std::move(path), rank));
}

TraceFile::~TraceFile() { close(fd_); }

std::unique_ptr<TraceSink> TraceFile::StartCompile(absl::string_view source,
                                                   absl::string_view name) {
  CompileId id;
  std::string stack;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto frame = static_cast<int64_t>(last_compile_.size());
    const auto [last, is_new] = last_compile_.try_emplace(absl::StrCat(source, "\n", name));
    last->second = is_new ? CompileId{frame, 0, 0}
                          : CompileId{last->second.frame, last->second.compile + 1, 0};
    id = last->second;
    stack = absl::StrCat("{\"stack\": [{\"line\": 1, \"name\": ", JsonText(name),
                         ", \"filename\": ", Intern(source), "}]}");
  }
  Write(id, "dynamo_start", stack, "");
  return std::make_unique<Compilation>(*this, id);
}

void TraceFile::Record(absl::string_view event, absl::string_view metadata_json,
                       absl::string_view payload) {
  Write({}, event, metadata_json, payload);
}

void TraceFile::Span(absl::string_view name, int64_t begin_us, int64_t end_us) {
  WriteSpan({}, name, begin_us, end_us);
}

void TraceFile::WriteSpan(const CompileId& id, absl::string_view name, int64_t begin_us,
                          int64_t end_us) {
  const auto event = [&](const char* phase, int64_t time_us) {
    const std::string payload = absl::StrCat(
        "{\n\"name\": ", JsonText(name), ",\n\"ph\": \"", phase, "\",\n\"ts\": ", time_us,
        ",\n\"cat\": \"lathe\",\n\"pid\": ", rank_.value_or(0),
        ",\n\"tid\": ", static_cast<int64_t>(syscall(SYS_gettid)), ",\n\"args\": {}\n}");
    Write(id, "chromium_event", "{}", payload);
  };
  event("B", begin_us);
  event("E", end_us);
}

void TraceFile::Write(const CompileId& id, absl::string_view event, absl::string_view metadata_json,
                      absl::string_view payload) {
  std::string record = absl::StrCat(Prefix(), "{", JsonText(event), ": ", OneLine(metadata_json));
  if (rank_) absl::StrAppend(&record, ", \"rank\": ", *rank_);
  absl::StrAppend(&record, ", \"frame_id\": ", id.frame, ", \"frame_compile_id\": ", id.compile,
                  ", \"attempt\": ", id.attempt);
  if (!payload.empty()) {
    absl::StrAppend(&record, ", \"has_payload\": \"", Md5Hex(payload), "\"");
  }
  absl::StrAppend(&record, "}\n");
  if (!payload.empty()) AppendPayload(payload, &record);
  std::lock_guard<std::mutex> lock(mutex_);
  Append(record);
}

int64_t TraceFile::Intern(absl::string_view text) {
  const auto [place, is_new] =
      strings_.try_emplace(std::string(text), static_cast<int64_t>(strings_.size()));
  if (is_new) {
    Append(absl::StrCat(Prefix(), "{\"str\": [", JsonText(text), ", ", place->second, "]}\n"));
  }
  return place->second;
}

void TraceFile::Append(absl::string_view text) {
  while (!text.empty() && !failed_) {
    const ssize_t written = write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      failed_ = true;
      std::fprintf(stderr, "lathe: the trace %s stops here: %s\n", path_.c_str(),
                   std::strerror(errno));
      return;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
}

TraceFile* EnvironmentTrace() {
  static TraceFile* const file = []() -> TraceFile* {
    const char* directory = std::getenv("LATHE_TRACE");
    if (directory == nullptr || *directory == '\0') return nullptr;
    absl::StatusOr<std::unique_ptr<TraceFile>> opened = TraceFile::Open(directory);
    if (opened.ok()) return opened->release();  // lives as long as the process
    std::fprintf(stderr, "lathe: %s\n", std::string(opened.status().message()).c_str());
    return nullptr;
  }();
  return file;
}

}  // namespace lathe
