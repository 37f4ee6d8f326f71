#ifndef LATHE_DRIVER_USER_INPUTS_H_
#define LATHE_DRIVER_USER_INPUTS_H_

// The inputs that a caller gives to a program, from -i arguments or made up for benchmarks.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "driver/value.h"
#include "ir/graph/program.h"

namespace lathe::driver {

struct UserInput {
  std::string name;
  ValueType type;
};
std::vector<UserInput> UserInputsOf(const Program& program);

// What the program's file says and the program does without, a line each on stderr.
void PrintNotes(const Program& program);

// Each argument is NAME=VALUE (parse_value.h), NAME=FILE.npy, a .npy file for the next input that
// has no value, or a .npz or .safetensors file whose in.0, in.1... go to the inputs in order and
// whose other tensors go by name. InvalidArgument names an input that has no value or two.
// A name in `fixed` may come with the value that the program was made for, and no other.
absl::StatusOr<std::vector<Value>> BindInputs(const std::vector<UserInput>& inputs,
                                              const std::vector<std::string>& arguments,
                                              const std::vector<Program::FixedInput>& fixed = {});

// The tensors PREFIX.0, PREFIX.1... ("in", "in2") of a file as inputs.
absl::StatusOr<std::vector<Value>> InputsFromTensors(const std::vector<UserInput>& inputs,
                                                     const std::map<std::string, Tensor>& tensors,
                                                     const std::string& prefix);

// Values for a benchmark: sizes from the symbols' hints, floats in [-1, 1), integers 0 or 1.
absl::StatusOr<std::vector<Value>> MakeUpInputs(const Program& program);

// A copy that shares no memory.
std::vector<Value> CloneValues(const std::vector<Value>& values);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_USER_INPUTS_H_
