#ifndef LATHE_CODEGEN_TILE_STAGE_COMPILER_H_
#define LATHE_CODEGEN_TILE_STAGE_COMPILER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "codegen/tile/affine.h"
#include "codegen/tile/kernel_table.h"
#include "codegen/tile/program.h"
#include "codegen/tile/slots.h"
#include "ir/loops/kernel_spec.h"

namespace lathe::tile {

// One element repeated over 64 bytes, each kept once.
class ConstantPool {
 public:
  int32_t OffsetOf(const Scalar& value, DType storage);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  absl::flat_hash_map<std::string, int32_t> offsets_;
};

// The dtype in which tiles hold values of `dtype`: bytes for sub-byte integers.
DType StorageOf(DType dtype);

// What the stages of a kernel share.
struct KernelContext {
  const KernelSpec& spec;
  Slots& slots;
  const AffineSplitter& splitter;
  ConstantPool& constants;
  const KernelTable& table;
  std::vector<LocalLayout> locals;
  int16_t batched_axis = -1;  // locals hold a row for each of its indexes
  std::vector<bool> merged;   // axes that another axis counts as well
};

// The loops of a stage and what its tiles run along: see StageProgram.
struct StageShape {
  std::vector<int16_t> parallel, reduce;
  int16_t row_axis = -1, col_axis = -1;
  bool has_reduction = false, col_reduces = false, row_reduces = false, rows_given = false;
  bool post_along_rows = false;
};

absl::StatusOr<StageProgram> CompileStage(KernelContext& kernel, const SpecStage& stage,
                                          const StageShape& shape);

// The affine form of the place of local `l`, as `locals` are laid out: the leading axis (axis 0 or
// the batched one), then the others in order.
AffineForm LocalPlace(const KernelContext& kernel, int l);
std::vector<int> LocalAxesInOrder(const KernelSpec& spec, int l);

// finish_stage.cc: lets values be computed where they are stored, gives registers to operands and
// chooses the size of tiles.
// `largest_tile`: a power of two, kept between 64 and 1024.
void FinishStage(StageProgram& stage, int64_t registers_start, int64_t largest_tile);

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_STAGE_COMPILER_H_
