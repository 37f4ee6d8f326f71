// lathe reduce: the smallest program that still shows a fault.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "compiler.h"
#include "driver/arguments.h"
#include "driver/command.h"
#include "driver/reduce_program.h"
#include "dtypes/base/status.h"
#include "ir/text/printer.h"
#include "runtime/files/mapped_file.h"

extern char** environ;

namespace lathe::driver {
namespace {

constexpr char kUsage[] = "--check=CMD FILE [-o OUT.lathe]";

// `CMD PATH` by the shell, its output thrown away; true when it exits with 0.
absl::StatusOr<bool> CheckSucceeds(const std::string& command, const std::string& path) {
  // The path is an argument of its own: nothing in it is read as shell.
  std::string script = absl::StrCat(command, " \"$1\" >/dev/null 2>&1");
  const char* words[] = {"/bin/sh", "-c", script.c_str(), "sh", path.c_str(), nullptr};
  pid_t pid = 0;
  int error =
      posix_spawn(&pid, words[0], nullptr, nullptr, const_cast<char* const*>(words), environ);
  if (error != 0) return Internal("cannot start /bin/sh");
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return Internal("lost the check command");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A file of our own for candidates, removed at the end.
class CandidateFile {
 public:
  static absl::StatusOr<std::unique_ptr<CandidateFile>> Make() {
    const char* folder = std::getenv("TMPDIR");
    std::string path = absl::StrCat(folder != nullptr ? folder : "/tmp", "/lathe-XXXXXX.lathe");
    int fd = mkstemps(path.data(), 6);
    if (fd < 0) return InvalidArgument("cannot write ", path);
    close(fd);
    return std::unique_ptr<CandidateFile>(new CandidateFile(std::move(path)));
  }
  ~CandidateFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  explicit CandidateFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Candidates lie elsewhere than the program did.
absl::Status MakeArchivePathAbsolute(Program& program) {
  if (program.archive.empty()) return absl::OkStatus();
  char* full = realpath(program.archive.c_str(), nullptr);
  if (full == nullptr) return NotFound(program.archive, ": cannot be found");
  program.archive = full;
  free(full);
  return absl::OkStatus();
}

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(
      Arguments arguments,
      Arguments::Parse(words, {{"check", Option::kValue}, {"output", Option::kValue, "o"}}));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(1, 1, absl::StrCat("lathe reduce ", kUsage)));
  if (!arguments.Has("check")) return InvalidArgument("usage: lathe reduce ", kUsage);
  LATHE_ASSIGN_OR_RETURN(Program program, LoadProgram(arguments.positional()[0]));
  LATHE_RETURN_IF_ERROR(MakeArchivePathAbsolute(program));
  LATHE_ASSIGN_OR_RETURN(std::unique_ptr<CandidateFile> file, CandidateFile::Make());
  int64_t tried = 0;
  auto is_interesting = [&](const Program& candidate) -> absl::StatusOr<bool> {
    ++tried;
    std::string text = PrintProgram(candidate);
    LATHE_RETURN_IF_ERROR(WriteFileAtomically(file->path(), {absl::string_view(text)}));
    LATHE_ASSIGN_OR_RETURN(bool shows, CheckSucceeds(*arguments.Value("check"), file->path()));
    if (isatty(2)) {
      fprintf(stderr, "\r%ld tried, %ld nodes", static_cast<long>(tried),
              static_cast<long>(candidate.main->node_count()));
    }
    return shows;
  };
  LATHE_ASSIGN_OR_RETURN(Program reduced,
                         ReduceProgram(program, OpRegistry::Builtin(), is_interesting));
  if (isatty(2)) fprintf(stderr, "\n");
  std::string text = PrintProgram(reduced);
  if (std::optional<std::string> path = arguments.Value("output")) {
    LATHE_RETURN_IF_ERROR(WriteFileAtomically(*path, {absl::string_view(text)}));
  } else {
    fwrite(text.data(), 1, text.size(), stdout);
  }
  return 0;
}

}  // namespace

const Command kReduceCommand = {
    "reduce", kUsage,
    "Shrinks a program while CMD FILE exits with 0; writes the smallest one found.", Run};

}  // namespace lathe::driver
