#include "codegen/tile/tile.h"

#include <utility>

#include "codegen/tile/execution.h"
#include "codegen/tile/kernel_compiler.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

class TileKernel final : public Kernel {
 public:
  explicit TileKernel(tile::KernelProgram program) : program_(std::move(program)) {}
  int32_t Call(const LatheKernelArgs& args) const override {
    return tile::Execution(program_, args).Run();
  }
  int64_t ScratchBytes(const int64_t* scalars, int64_t rows) const override {
    return tile::Execution::ScratchBytes(program_, scalars, rows);
  }
  absl::string_view tier() const override { return "tile"; }

 private:
  const tile::KernelProgram program_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> CompileTile(const KernelSpec& spec,
                                                          int64_t largest_tile) {
  LATHE_ASSIGN_OR_RETURN(tile::KernelProgram program, tile::CompileKernel(spec, largest_tile));
  return std::make_shared<TileKernel>(std::move(program));
}

}  // namespace lathe
