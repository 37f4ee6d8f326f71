#ifndef LATHE_CODEGEN_TILE_SLOTS_H_
#define LATHE_CODEGEN_TILE_SLOTS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/tile/program.h"
#include "symbolic/expr.h"

namespace lathe::tile {

// Numbers the size expressions of a kernel: constants are preset, others are computed at the start
// of each call by one integer program.
class Slots {
 public:
  explicit Slots(absl::Span<const Expr> symbols);

  // Of an expression over the symbols alone; float expressions give the bits of a double.
  // Unimplemented for what a SizeProgram cannot say.
  absl::StatusOr<Slot> Of(const Expr& e);
  // nullopt unless the slot is a constant.
  std::optional<int64_t> Constant(Slot slot) const;
  void MoveInto(KernelProgram& program);

 private:
  Slot NewConstant(int64_t value);
  absl::StatusOr<Slot> Compile(const Expr& e);
  Slot Emit(SizeOp op, Slot a, Slot b = 0, Slot c = 0);

  std::vector<int64_t> values_;
  std::vector<bool> is_constant_;
  SizeProgram setup_;
  absl::flat_hash_map<int64_t, Slot> constants_;
  absl::flat_hash_map<Expr, Slot> computed_;
};

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_SLOTS_H_
