#ifndef LATHE_DRIVER_COMMAND_H_
#define LATHE_DRIVER_COMMAND_H_

// One command of the binary. Each lives in a file of its own, NAME_command.cc.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace lathe::driver {

struct Command {
  const char* name;
  const char* usage;    // what follows the name
  const char* summary;  // one line
  // The exit code, or the error that main prints. `words` follow the command's name.
  absl::StatusOr<int> (*run)(const std::vector<std::string>& words);
};

extern const Command kRunCommand, kCheckCommand, kConformCommand, kShowCommand, kOptCommand,
    kReduceCommand, kBenchCommand, kProveCommand, kInfoCommand;

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_COMMAND_H_
