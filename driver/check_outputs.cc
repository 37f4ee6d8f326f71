#include "driver/check_outputs.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "driver/print_value.h"

namespace lathe::driver {
namespace {

const Tensor* Find(const std::map<std::string, Tensor>& tensors, const std::string& name) {
  auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : &it->second;
}

const Tensor* AsTensor(const Value& value) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  return tensor != nullptr && tensor->is_defined() ? tensor : nullptr;
}

CheckLine Failed(std::string name, const Value& value, std::string difference) {
  CheckLine line{std::move(name), TypeOf(value), {}};
  line.comparison.difference = std::move(difference);
  return line;
}

CheckLine Compared(std::string name, const Value& value, const Tensor& expected,
                   const Tensor* reference, Tolerance tolerance) {
  const Tensor* actual = AsTensor(value);
  if (actual == nullptr) {
    return Failed(std::move(name), value, absl::StrCat("expected ", TypeOf(expected)));
  }
  return {std::move(name), TypeOf(value),
          CompareTensors(*actual, expected, reference ? *reference : Tensor(), tolerance)};
}

}  // namespace

std::vector<CheckLine> CheckOutputs(const std::vector<Value>& outputs,
                                    const std::vector<Value>& before,
                                    const std::vector<Value>& after,
                                    const std::map<std::string, Tensor>& recorded,
                                    const std::string& suffix) {
  std::vector<CheckLine> lines;
  for (size_t k = 0; k < outputs.size(); ++k) {
    std::string name = absl::StrCat("out", suffix, ".", k);
    const Tensor* expected = Find(recorded, name);
    if (expected != nullptr) {
      lines.push_back(Compared(name, outputs[k], *expected,
                               Find(recorded, absl::StrCat("ref", suffix, ".", k)),
                               CheckTolerance(expected->dtype())));
    } else if (AsTensor(outputs[k]) != nullptr) {
      lines.push_back(Failed(name, outputs[k], "no answer is recorded"));
    }
  }
  // Answers beyond the outputs.
  std::string prefix = absl::StrCat("out", suffix, ".");
  for (const auto& [name, tensor] : recorded) {
    absl::string_view rest = name;
    int64_t number = 0;
    if (absl::ConsumePrefix(&rest, prefix) && absl::SimpleAtoi(rest, &number) &&
        number >= static_cast<int64_t>(outputs.size())) {
      lines.push_back(Failed(name, tensor, "the program gives no such output"));
    }
  }
  for (size_t k = 0; k < after.size(); ++k) {
    std::string name = absl::StrCat("mut", suffix, ".", k);
    if (const Tensor* expected = Find(recorded, name)) {
      lines.push_back(
          Compared(name, after[k], *expected, nullptr, CheckTolerance(expected->dtype())));
    } else if (const Tensor* original = AsTensor(before[k])) {
      CheckLine line =
          Compared(absl::StrCat("in", suffix, ".", k), after[k], *original, nullptr, {});
      if (line.comparison.passed) continue;
      line.comparison.difference =
          absl::StrCat("the call must not change this input; ", line.comparison.difference);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace lathe::driver
