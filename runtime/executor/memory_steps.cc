// Steps that make storages and look at them.

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "runtime/executor/program.h"
#include "runtime/memory/pool.h"
#include "runtime/tensor/available_memory.h"

namespace lathe::executor {
namespace {

absl::Status CheckBytes(int64_t bytes) {
  return bytes < 0 ? Internal("a storage of ", bytes, " bytes") : absl::OkStatus();
}

class Reserve final : public Step {
 public:
  Reserve(const ReserveStep& step, size_t place) : step_(step), place_(place) {}

  absl::Status Run(Frame& frame, Context&) const override {
    Arena& arena = frame.arenas[place_];
    if (arena.generation == frame.generation) return absl::OkStatus();
    bool changed = arena.pieces.empty();
    arena.pieces.resize(step_.pieces.size());
    for (size_t k = 0; k < step_.pieces.size(); ++k) {
      const int64_t bytes = frame.Get(step_.pieces[k].size_bytes);
      LATHE_RETURN_IF_ERROR(CheckBytes(bytes));
      changed |= arena.pieces[k].size_bytes != bytes;
      arena.pieces[k].size_bytes = bytes;
    }
    if (changed) LATHE_RETURN_IF_ERROR(Pack(frame, arena));
    arena.generation = frame.generation;
    return absl::OkStatus();
  }

 private:
  absl::Status Pack(Frame& frame, Arena& arena) const {
    arena.generation = 0;
    constexpr int64_t kMost = int64_t{1} << 46;  // far from overflow, far above any machine
    int64_t sum = 0;
    for (size_t k = 0; k < step_.pieces.size(); ++k) {
      arena.pieces[k].first_step = step_.pieces[k].first_step;
      arena.pieces[k].last_step = step_.pieces[k].last_step;
      if (arena.pieces[k].size_bytes > kMost - sum)
        return NoRoom(arena, arena.pieces[k].size_bytes);
      sum += arena.pieces[k].size_bytes;
    }
    const int64_t total = PackMemory(absl::MakeSpan(arena.pieces));
    if (arena.memory == nullptr || arena.memory->size_bytes() < total) {
      arena.memory = nullptr;  // first give back, then ask
      arena.memory = PoolAllocate(total);
      if (arena.memory == nullptr) {
        const absl::Status status = NoRoom(arena, total);
        arena.pieces.clear();
        return status;
      }
    }
    for (size_t k = 0; k < step_.pieces.size(); ++k) {
      char* data = static_cast<char*>(arena.memory->data()) + arena.pieces[k].offset_bytes;
      frame.storages[static_cast<size_t>(step_.pieces[k].storage)] =
          Storage::Wrap(data, arena.pieces[k].size_bytes, nullptr);
    }
    return absl::OkStatus();
  }

  // The largest piece is to blame.
  absl::Status NoRoom(const Arena& arena, int64_t total) const {
    size_t largest = 0;
    for (size_t k = 0; k < arena.pieces.size(); ++k) {
      if (arena.pieces[k].size_bytes > arena.pieces[largest].size_bytes) largest = k;
    }
    const ReserveStep::Piece& piece = step_.pieces[largest];
    const int64_t bytes = arena.pieces[largest].size_bytes;
    return AtNode(bytes == total ? OutOfMemory("an intermediate result", bytes)
                                 : OutOfMemory(absl::StrCat("intermediate results, the largest of ",
                                                            bytes, " bytes,"),
                                               total),
                  piece.node, piece.source);
  }

  const ReserveStep& step_;
  const size_t place_;
};

class Allocate final : public Step {
 public:
  explicit Allocate(const AllocateStep& step) : step_(step) {}
  absl::Status Run(Frame& frame, Context&) const override {
    const int64_t bytes = frame.Get(step_.size_bytes);
    LATHE_RETURN_IF_ERROR(CheckBytes(bytes));
    std::shared_ptr<Storage>& storage = frame.storages[static_cast<size_t>(step_.storage)];
    storage = PoolAllocate(bytes);
    if (storage != nullptr) return absl::OkStatus();
    return AtNode(OutOfMemory("a result", bytes), step_.node, step_.source);
  }

 private:
  const AllocateStep& step_;
};

class View final : public Step {
 public:
  // `owner` is the slot whose tensor the storage came with, -1 for a storage of the plan.
  View(const ViewStep& step, TensorSlot owner) : step_(step), owner_(owner) {}

  absl::Status Run(Frame& frame, Context&) const override {
    Slot& slot = frame.SlotAt(step_.tensor);
    if (slot.generation != frame.generation) LATHE_RETURN_IF_ERROR(SetSizes(frame, slot));
    slot.offset = step_.offset < 0 ? 0 : frame.Get(step_.offset);
    if (owner_ >= 0) slot.offset += frame.origins[static_cast<size_t>(owner_)];
    const Storage* storage = slot.holder->get();
    const int64_t bits = BitWidth(step_.dtype), first = slot.offset * bits;
    // Strides that a program wrote (as_strided) may lead anywhere.
    const bool inside =
        slot.is_empty || (storage != nullptr && slot.offset >= slot.reach_before &&
                          (slot.offset + slot.reach_after + 1) * bits <= storage->size_bytes() * 8);
    if (!inside || storage == nullptr) return Outside(slot);
    slot.data = static_cast<char*>(storage->data()) + (first >> 3);
    return absl::OkStatus();
  }

 private:
  absl::Status SetSizes(const Frame& frame, Slot& slot) const {
    slot.generation = 0;
    slot.dtype = step_.dtype;
    slot.sizes.resize(step_.sizes.size());
    slot.strides.resize(step_.sizes.size());
    slot.is_empty = false;
    slot.reach_before = slot.reach_after = 0;
    for (size_t d = 0; d < step_.sizes.size(); ++d) {
      const int64_t size = frame.Get(step_.sizes[d]), stride = frame.Get(step_.strides[d]);
      if (size < 0) return Internal("a view with size ", size);
      slot.sizes[d] = size;
      slot.strides[d] = stride;
      slot.is_empty |= size == 0;
      int64_t reach = 0;
      int64_t& side = stride < 0 ? slot.reach_before : slot.reach_after;
      if (size > 0 && (__builtin_mul_overflow(size - 1, stride < 0 ? -stride : stride, &reach) ||
                       __builtin_add_overflow(side, reach, &side) || side > int64_t{1} << 55)) {
        return OutOfRange("a view that reaches too far");
      }
    }
    slot.generation = frame.generation;
    return absl::OkStatus();
  }

  absl::Status Outside(const Slot& slot) const {
    return OutOfRange("a view of ", Name(step_.dtype), " reaches from element ",
                      slot.offset - slot.reach_before, " to ", slot.offset + slot.reach_after,
                      " of a storage of ",
                      *slot.holder == nullptr ? 0 : (*slot.holder)->size_bytes(), " bytes");
  }

  const ViewStep& step_;
  const TensorSlot owner_;
};

class Copy final : public Step {
 public:
  explicit Copy(const CopyStep& step) : step_(step) {}
  absl::Status Run(Frame& frame, Context& context) const override {
    const Slot &to = frame.SlotAt(step_.destination), &from = frame.SlotAt(step_.source);
    if (to.dtype != from.dtype || !(to.sizes == from.sizes)) {
      return Internal("copy of ", TypeString(from.AsTensor()), " into ", TypeString(to.AsTensor()));
    }
    const Tensor target = to.AsTensor(), source = from.AsTensor();
    ThreadPool* pool = context.program().pool;
    const bool plain = pool != nullptr && !IsSubByte(to.dtype) && target.is_contiguous() &&
                       source.is_contiguous() && target.storage() != source.storage();
    if (!plain) {
      target.CopyFrom(source);
      return absl::OkStatus();
    }
    constexpr int64_t kGrain = int64_t{1} << 18;
    char* const destination = to.data;
    const char* const origin = from.data;
    pool->ParallelFor(target.numel() * (BitWidth(to.dtype) / 8), kGrain,
                      [destination, origin](int64_t begin, int64_t end, int) {
                        std::memcpy(destination + begin, origin + begin,
                                    static_cast<size_t>(end - begin));
                      });
    return absl::OkStatus();
  }

 private:
  const CopyStep& step_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const ReserveStep& step, Code& code) {
  return std::make_unique<Reserve>(step, code.arenas++);
}
std::unique_ptr<Step> MakeStep(const AllocateStep& step) {
  return std::make_unique<Allocate>(step);
}
std::unique_ptr<Step> MakeStep(const ViewStep& step, Code& code) {
  return std::make_unique<View>(step, code.owner_of[static_cast<size_t>(step.tensor)]);
}
std::unique_ptr<Step> MakeStep(const CopyStep& step) { return std::make_unique<Copy>(step); }

}  // namespace lathe::executor
