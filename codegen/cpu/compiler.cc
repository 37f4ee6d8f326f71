#include "codegen/cpu/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"

extern char** environ;

namespace lathe::cpu {
namespace {

bool IsExecutable(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string OnPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return IsExecutable(name) ? name : "";
  const char* path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  for (absl::string_view folder : absl::StrSplit(folders, ':')) {
    const std::string candidate = absl::StrCat(folder.empty() ? "." : folder, "/", name);
    if (IsExecutable(candidate)) return candidate;
  }
  return "";
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Starts `arguments` with its output, errors included, in `output`.
absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& arguments, const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Internal("cannot start ", arguments[0], ": ", std::strerror(error));
  return pid;
}

bool Succeeded(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

absl::StatusOr<Compiler> FindCompiler() {
  const char* named = std::getenv("LATHE_CXX");
  const std::string name = named != nullptr && *named != '\0' ? named : "g++";
  Compiler compiler;
  compiler.path = OnPath(name);
  if (compiler.path.empty()) {
    return NotFound("no C++ compiler '", name, "' to build native kernels with",
                    named != nullptr ? " (LATHE_CXX)" : "", ": the tile tier remains");
  }
  // Its file, not its word: one process start less on every run.
  struct stat info;
  if (stat(compiler.path.c_str(), &info) != 0) return NotFound("cannot read ", compiler.path);
  char resolved[4096];
  const char* real = realpath(compiler.path.c_str(), resolved);
  compiler.version = absl::StrCat(real != nullptr ? real : compiler.path, " ", info.st_size, " ",
                                  info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec);
  return compiler;
}

std::vector<std::string> CompilerFlags(const Target& target, bool fast) {
  std::vector<std::string> flags = {
      "-x", "c++", "-std=c++20", fast ? "-O1" : "-O2", "-shared", "-fPIC", "-nostdlib",
      "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables",
      // Vectors are explicit already; looking for more costs a fifth of the time.
      "-fno-tree-vectorize",
      // No contraction: tiers and widths would differ. Integers wrap, buffers may have any type.
      "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv",
      "-fno-strict-aliasing", "-w", "-Wno-psabi"};
  for (const std::string& feature : target.features) flags.push_back(absl::StrCat("-m", feature));
  return flags;
}

absl::Status RunCompiler(const Compiler& compiler, const std::vector<CompileTask>& tasks,
                         int jobs) {
  std::deque<std::pair<pid_t, const CompileTask*>> running;
  absl::Status status;
  const auto finish_one = [&] {
    const auto [pid, task] = running.front();
    running.pop_front();
    const std::string log = absl::StrCat(task->output, ".log");
    if (!Succeeded(pid) && status.ok()) {
      status = Internal(compiler.path, " failed on a generated kernel: ",
                        absl::string_view(ReadFile(log)).substr(0, 2000));
    }
    unlink(log.c_str());
  };
  for (const CompileTask& task : tasks) {
    if (static_cast<int>(running.size()) >= std::max(jobs, 1)) finish_one();
    if (!status.ok()) break;
    std::vector<std::string> arguments = {compiler.path};
    arguments.insert(arguments.end(), task.flags.begin(), task.flags.end());
    arguments.insert(arguments.end(), {task.source, "-o", task.output});
    absl::StatusOr<pid_t> pid = Spawn(arguments, absl::StrCat(task.output, ".log"));
    if (!pid.ok()) {
      status = pid.status();
      break;
    }
    running.emplace_back(*pid, &task);
  }
  while (!running.empty()) finish_one();
  return status;
}

}  // namespace lathe::cpu
