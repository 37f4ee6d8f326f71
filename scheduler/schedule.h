#ifndef LATHE_SCHEDULER_SCHEDULE_H_
#define LATHE_SCHEDULER_SCHEDULE_H_

// What the scheduler decides: which values become buffers, and the steps that fill them, in order.
// codegen/plan turns it into a Plan.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/graph/graph.h"
#include "ir/loops/kernel_spec.h"
#include "ir/ops/lowering.h"

namespace lathe {

// One fused kernel. `buffers` are the values behind the spec's buffers, in order (roots, never
// views); `symbols` what the spec's symbols stand for; `extent` the size of axis 0.
struct ScheduledKernel {
  KernelSpec spec;
  std::vector<Value*> buffers;
  std::vector<Expr> symbols;
  Expr extent;
  std::vector<Node*> nodes;  // what it computes, for reading
};

// A precompiled function, with kernels that run on its finished rows, and maybe one that computes
// rows of its second operand as it reads them: that operand then has no buffer.
struct ScheduledExtern {
  Node* node = nullptr;
  ExternLoops call;
  std::vector<ScheduledKernel> epilogues;
  std::optional<ScheduledKernel> operand;
  Value* computed = nullptr;  // what `operand` writes
};

// target = base, then the kernel stores into it.
struct ScheduledScatter {
  Node* node = nullptr;
  Value* base = nullptr;
  Value* result = nullptr;
  ScheduledKernel kernel;
};

// A node run by its row's `evaluate`, because it has no lowering.
struct ScheduledOpaque {
  Node* node = nullptr;
  std::string reason;
};

// cond, while_loop and nodes that only bind or check sizes.
struct ScheduledControl {
  Node* node = nullptr;
};

using ScheduledStep = std::variant<ScheduledKernel, ScheduledExtern, ScheduledScatter,
                                   ScheduledOpaque, ScheduledControl>;

// The value whose storage `value` is seen through: follows views to their root.
class ViewRoots {
 public:
  void Add(Value* view, Value* input) { input_of_[view] = input; }
  Value* Root(Value* value) const {
    for (auto it = input_of_.find(value); it != input_of_.end(); it = input_of_.find(value)) {
      value = it->second;
    }
    return value;
  }
  Value* Input(Value* view) const { return input_of_.at(view); }
  bool IsView(const Value* value) const { return input_of_.contains(const_cast<Value*>(value)); }

 private:
  absl::flat_hash_map<Value*, Value*> input_of_;
};

struct Schedule {
  std::vector<ScheduledStep> steps;
  // Values (never views) that have a buffer; all others live in registers of kernels.
  absl::flat_hash_set<Value*> buffers;
  ViewRoots roots;  // views that share storage
  // One line a decision: "fused %mul into %add: same 4096 elements", "not fused: ...".
  std::vector<std::string> decisions;
};

std::string ToString(const Schedule& schedule);

}  // namespace lathe

#endif  // LATHE_SCHEDULER_SCHEDULE_H_
