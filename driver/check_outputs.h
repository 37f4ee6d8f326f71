#ifndef LATHE_DRIVER_CHECK_OUTPUTS_H_
#define LATHE_DRIVER_CHECK_OUTPUTS_H_

// What `lathe check` compares: outputs and changed inputs with recorded answers.

#include <map>
#include <string>
#include <vector>

#include "driver/compare_tensors.h"
#include "driver/value.h"

namespace lathe::driver {

struct CheckLine {
  std::string name;  // "out.0", "mut.1", "in.1" for an input that must not change
  std::string type;  // of the value compared
  Comparison comparison;
};

// `recorded` holds outK.I as `out`+suffix+"."+I and so on; suffix "" or "2". Answers that are not
// tensors are not recorded, so an output without an answer is left out unless it is a tensor: then
// it fails, as does an answer without an output. `before` are the inputs as they were.
std::vector<CheckLine> CheckOutputs(const std::vector<Value>& outputs,
                                    const std::vector<Value>& before,
                                    const std::vector<Value>& after,
                                    const std::map<std::string, Tensor>& recorded,
                                    const std::string& suffix);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_CHECK_OUTPUTS_H_
