#ifndef LATHE_RUNTIME_EXECUTOR_FRAME_H_
#define LATHE_RUNTIME_EXECUTOR_FRAME_H_

// The memory of one plan (or sub-plan) in one call, kept for the next.

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/abi/memory_packing.h"
#include "runtime/abi/plan.h"
#include "runtime/executor/collective_group.h"
#include "runtime/tensor/tensor.h"

namespace lathe::executor {

// A tensor slot. The storage is held elsewhere: views of one storage share its holder.
struct Slot {
  char* data = nullptr;  // first element
  const std::shared_ptr<Storage>* holder = nullptr;
  DType dtype = DType::kF32;
  Dims sizes, strides;
  int64_t offset = 0;  // in the storage, elements
  // Of a view: Frame::generation for which the sizes are right, and how far elements reach from its
  // first one.
  uint64_t generation = 0;
  int64_t reach_before = 0, reach_after = 0;
  bool is_empty = false;

  Tensor AsTensor() const { return Tensor(dtype, sizes, strides, offset, *holder); }
};

// What a ReserveStep made of the last sizes it saw.
struct Arena {
  uint64_t generation = 0;
  std::vector<PackedPiece> pieces;
  std::shared_ptr<Storage> memory;
};

// Room for the arguments of one launch.
struct LaunchArguments {
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
};

// A collective between its start and its wait.
struct Pending {
  int32_t handle = -1;
  std::vector<Tensor> inputs, outputs;
  std::unique_ptr<PendingCollective> collective;
};

struct Frame {
  std::vector<int64_t> registers;
  std::vector<std::shared_ptr<Storage>> storages;  // by storage slot
  std::vector<Slot> slots;
  // By tensor slot: the storage of tensors that came from outside (inputs, weights, callbacks), and
  // what offsets of their views count from.
  std::vector<std::shared_ptr<Storage>> owned;
  std::vector<int64_t> origins;
  // Changes whenever a register that no Eval computes gets another value; what was computed for
  // the same generation still holds.
  uint64_t generation = 1;
  // Room for each kind of step that keeps something; steps know their place.
  std::vector<uint64_t> eval_generations;
  std::vector<Arena> arenas;
  std::vector<LaunchArguments> launches;
  std::vector<Pending> pending;

  void SetRegister(Register r, int64_t value) {
    int64_t& target = registers[static_cast<size_t>(r)];
    generation += target != value;
    target = value;
  }
  int64_t Get(Register r) const { return registers[static_cast<size_t>(r)]; }
  Slot& SlotAt(TensorSlot t) { return slots[static_cast<size_t>(t)]; }

  // Puts a tensor from outside into a slot. Offsets of its views count from `origin`.
  void SetTensor(TensorSlot t, const Tensor& tensor, int64_t origin) {
    Slot& slot = SlotAt(t);
    const auto k = static_cast<size_t>(t);
    owned[k] = tensor.storage();
    origins[k] = origin;
    slot.data = static_cast<char*>(tensor.data());
    if (IsSubByte(tensor.dtype())) slot.data += tensor.offset() * BitWidth(tensor.dtype()) / 8;
    slot.holder = &owned[k];
    slot.dtype = tensor.dtype();
    slot.sizes = tensor.sizes();
    slot.strides = tensor.strides();
    slot.offset = tensor.offset();
  }
};

}  // namespace lathe::executor

#endif  // LATHE_RUNTIME_EXECUTOR_FRAME_H_
