#ifndef LATHE_RUNTIME_EXECUTOR_COLLECTIVE_GROUP_H_
#define LATHE_RUNTIME_EXECUTOR_COLLECTIVE_GROUP_H_

// What a Plan's collective steps call: the communication of one rank with its group.

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

struct CollectiveCall {
  absl::string_view op;      // "all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor"...
  absl::string_view reduce;  // "sum", "avg", "product", "min", "max"; "" where nothing is reduced
  absl::Span<const Tensor> inputs;
  absl::Span<const Tensor> outputs;  // written by the time Wait returns
};

// A collective on its way. Wait is called exactly once; the tensors stay alive until then.
class PendingCollective {
 public:
  virtual ~PendingCollective() = default;
  virtual absl::Status Wait() = 0;
};

class CollectiveGroup {
 public:
  virtual ~CollectiveGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Every rank starts the same collectives in the same order. Unimplemented names an unknown op.
  virtual absl::StatusOr<std::unique_ptr<PendingCollective>> Start(const CollectiveCall& call) = 0;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXECUTOR_COLLECTIVE_GROUP_H_
