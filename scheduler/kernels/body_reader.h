#ifndef LATHE_SCHEDULER_KERNELS_BODY_READER_H_
#define LATHE_SCHEDULER_KERNELS_BODY_READER_H_

// How the bodies of one kernel read tensors: from a value at hand, by computing the producer again,
// or from a buffer.

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/loops/recorder.h"
#include "scheduler/fusion/fuse.h"
#include "scheduler/lower/loop_node.h"

namespace lathe {

// The buffers of a kernel under construction, numbered in order of first use.
class BufferTable {
 public:
  BufferId Read(Value* root);
  BufferId Write(Value* root);
  const std::vector<Value*>& values() const { return values_; }
  BufferRole role(BufferId id) const;

 private:
  BufferId Number(Value* root);
  std::vector<Value*> values_;
  std::vector<bool> read_, written_;
  absl::flat_hash_map<Value*, BufferId> number_of_;
};

class BodyReader final : public TensorReader {
 public:
  // `forward` gives the value of `root` at `position` if it is at hand (an invalid one otherwise).
  // Roots that get a buffer are added to `buffers_needed`. `own_members` are the nodes of
  // this kernel, whose other elements may not be read from their buffers.
  BodyReader(const LoopGraph& loops, const Fusion& fusion, BufferTable& buffers,
             absl::flat_hash_set<Value*>& buffers_needed,
             const absl::flat_hash_set<int>& own_members, std::vector<Expr> axes,
             std::function<OpsValue(Value* root, const Expr& position)> forward)
      : loops_(loops),
        fusion_(fusion),
        buffers_(buffers),
        buffers_needed_(buffers_needed),
        own_members_(own_members),
        axes_(std::move(axes)),
        forward_(std::move(forward)) {}

  OpsValue Load(OpsHandler& ops, Value* tensor, Index index) override;
  // Internal when a body read its own kernel's unfinished results: a fault of the fusion.
  const absl::Status& status() const { return status_; }

 private:
  struct InlineKey {
    Value* root;
    std::vector<Expr> index;
    int32_t mask;
    friend bool operator==(const InlineKey&, const InlineKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const InlineKey& k) {
      return H::combine(std::move(h), k.root, k.index, k.mask);
    }
  };
  bool ShouldInline(Value* root, const Expr& position) const;
  OpsValue Inline(OpsHandler& ops, Value* tensor, Index index);
  OpsValue LoadBuffer(OpsHandler& ops, Value* tensor, Value* root, const Expr& position);

  const LoopGraph& loops_;
  const Fusion& fusion_;
  BufferTable& buffers_;
  absl::flat_hash_set<Value*>& buffers_needed_;
  const absl::flat_hash_set<int>& own_members_;  // nodes of this kernel
  std::vector<Expr> axes_;                       // of the kernel, without those of extent 1
  std::function<OpsValue(Value*, const Expr&)> forward_;
  absl::flat_hash_map<InlineKey, OpsValue> inlined_;
  absl::Status status_;
};

}  // namespace lathe

#endif  // LATHE_SCHEDULER_KERNELS_BODY_READER_H_
