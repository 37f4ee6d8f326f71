// Loads an exported model, compiles it and runs it once: all that a program needs of lathe.
//
//   bazel run //examples:run_model -- third_party/models/mlp.pt2

#include <cstdio>
#include <vector>

#include "compiler.h"
#include "dtypes/base/status.h"

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "third_party/models/mlp.pt2";
  absl::StatusOr<lathe::Program> program = lathe::LoadProgram(path);
  if (!program.ok()) return std::puts(lathe::Describe(program.status()).c_str()), 2;
  absl::StatusOr<lathe::Executable> model =
      lathe::Compile(*program, {.device = lathe::Device::Cpu()});
  if (!model.ok()) return std::puts(lathe::Describe(model.status()).c_str()), 2;
  const std::vector<float> values(8 * 64, 0.5f);
  absl::StatusOr<std::vector<lathe::RunValue>> out =
      model->Run({lathe::Tensor::FromSpan<float>({8, 64}, values)});
  if (!out.ok()) return std::puts(lathe::Describe(out.status()).c_str()), 2;
  const auto& probabilities = std::get<lathe::Tensor>((*out)[0]);
  std::printf("%s, first row starts with %g\n", lathe::TypeString(probabilities).c_str(),
              probabilities.At({0, 0}).ToDouble());
  return 0;
}
