#ifndef LATHE_CODEGEN_TILE_EXECUTION_H_
#define LATHE_CODEGEN_TILE_EXECUTION_H_

#include <cstdint>
#include <vector>

#include "codegen/tile/program.h"
#include "runtime/abi/kernel.h"

namespace lathe::tile {

// One call of a kernel: the loops around sections, and the memory they need. Lives on the stack;
// its memory is the thread's, kept between calls.
class Execution {
 public:
  Execution(const KernelProgram& program, const LatheKernelArgs& args);
  int32_t Run();

  // What args.scratch must hold for a call over `rows` indexes of axis 0.
  static int64_t ScratchBytes(const KernelProgram& program, const int64_t* scalars, int64_t rows);

 private:
  struct Partial {  // of one reduction at one level: a value for each block, blocks in order
    char* values;
    int64_t* indices;  // argmax and argmin
  };

  // execution.cc: set-up and loops.
  bool SetUp();
  void SetRanges();
  void ChooseStages();
  void PlaceMemory(const std::vector<LocalLayout>& locals, int64_t lead_rows);
  void MoveLocals(int64_t lead_start);
  int64_t ReduceBytes(const StageProgram& stage) const;
  void PlacePartials(const StageProgram& stage);
  bool RunOuter(size_t k);
  bool RunBatches();
  bool RunStages();
  bool RunStage(size_t s);
  bool RunParallel(size_t k);
  bool RunBody();
  template <typename Body>
  bool ForTiles(Body body);
  void SetTile(int64_t rows, int64_t cols) {
    rows_ = rows;
    cols_ = cols;
    n_ = rows * cols;
  }

  // reduction.cc
  bool Reduce();
  bool ReduceLevel(int d);
  bool ReduceLanes(int d);
  bool ReduceGroup(int d, int64_t group);
  int64_t Groups(const StageProgram& stage) const;
  bool ReduceRowBlocks(int d);
  bool ReduceEachRow();
  void Accumulate(int d, int64_t i, const Reduction& r, size_t number, const char* value,
                  const int64_t* index);
  void FinishLevel(int d, int64_t extent, int64_t block);
  void DeliverResults();
  bool RunPost();
  bool RunNothingReduced();
  int LevelCount() const;
  int64_t ExtentOfLevel(int d) const;
  int64_t BlockOfLevel(int d) const;
  Partial& PartialAt(int d, size_t reduction) {
    return partials_[static_cast<size_t>(d) * stage_->reductions.size() + reduction];
  }

  // interpreter.cc
  bool RunSection(const std::vector<Instruction>& section);
  int64_t FirstElement(const Affine& at) const;
  Plane PlaneOf(const Access& access) const;
  bool IsContiguous(const Plane& plane, int64_t bytes) const;
  bool IsStreamed(const Access& access) const;
  char* Home(Operand operand) const { return registers_ + stage_->operands[operand].offset; }
  void Load(const Instruction& i);
  void LoadScalar(const Instruction& i);
  void Store(const Instruction& i, bool one);
  void Scatter(const Instruction& i);
  void PrepareStore(const Instruction& i);
  bool Fail(int32_t code, int64_t value) {
    status_ = code;
    if (args_.error != nullptr) args_.error->value = value;
    return false;
  }

  const KernelProgram& program_;
  const LatheKernelArgs& args_;
  int32_t status_ = 0;

  int64_t* slots_ = nullptr;
  int64_t low_[kMaxAxes], high_[kMaxAxes], index_[kMaxAxes];
  char* registers_ = nullptr;
  char** memory_ = nullptr;        // buffers, then locals
  char** local_memory_ = nullptr;  // where locals start

  // The stages of this call and their operands' pointers (entry -1 is null).
  const StageProgram** stages_ = nullptr;
  char*** stage_pointers_ = nullptr;
  const StageProgram* stage_ = nullptr;
  char** pointers_ = nullptr;
  bool batched_ = false;
  bool streams_ = false;            // a result goes past the caches
  bool nothing_to_reduce_ = false;  // the stage has an empty reduce axis
  int64_t batch_limit_ = 1, batch_rows_ = 1;

  int64_t rows_ = 1, cols_ = 1, n_ = 1;
  char* partial_memory_ = nullptr;
  Partial* partials_ = nullptr;
};

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_EXECUTION_H_
