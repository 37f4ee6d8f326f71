#ifndef LATHE_DRIVER_COMPILE_FLAGS_H_
#define LATHE_DRIVER_COMPILE_FLAGS_H_

// The options that commands share: how to compile, and what to report of it.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler.h"
#include "driver/arguments.h"
#include "driver/json_object.h"

namespace lathe::driver {

// `more` and the options of CompileOptionsFrom, --trace, --json.
std::vector<Option> WithCompileFlags(std::vector<Option> more);
absl::StatusOr<CompileOptions> CompileOptionsFrom(const Arguments& arguments);
// For commands that call a program once at most: tier auto is then the tile tier, since native code
// would be there after the call.
absl::StatusOr<CompileOptions> OptionsForOneCall(const Arguments& arguments);

// One line on stderr for everything that runs slower or elsewhere than asked for.
void PrintFallbacks(const CompileReport& report);
JsonObject ReportJson(const CompileReport& report);

// {"dtype": "f32", "sizes": [2], "values": [1.0, 2.5]}: all elements in order; a number as itself;
// what JSON has no number for as a string.
std::string ValueJson(const std::variant<Tensor, Scalar>& value);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_COMPILE_FLAGS_H_
