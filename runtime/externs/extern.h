#ifndef LATHE_RUNTIME_EXTERNS_EXTERN_H_
#define LATHE_RUNTIME_EXTERNS_EXTERN_H_

// Precompiled functions that a Plan calls by id: matrix products, convolution, sort... One file an
// extern, runtime/externs/<id>.cc; externs.cc lists them.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor/tensor.h"
#include "runtime/threads/thread_pool.h"

namespace lathe {

using ExternAttributes = std::map<std::string, std::string>;
// "key=value;key=value" both ways.
ExternAttributes ParseExternAttributes(absl::string_view text);
std::string FormatExternAttributes(const ExternAttributes& attributes);

// What an extern made of inputs that never change: packed weights.
class PreparedInputs {
 public:
  virtual ~PreparedInputs() = default;
};

// An operand that is computed as it is read: [rows, row length], contiguous.
struct ComputedOperand {
  DType dtype = DType::kF32;
  // Writes rows [begin, end) where they would lie in an operand that starts at `origin` (which may
  // point outside all memory). Any number of threads, each with a worker's number of its own.
  std::function<absl::Status(int64_t begin, int64_t end, char* origin, int worker)> compute;
};

struct ExternCall {
  absl::Span<const Tensor> inputs;  // undefined where an optional tensor is absent
  absl::Span<Tensor> outputs;       // defined, or to be made when the extern allocates
  absl::Span<const int64_t> integers;
  const ExternAttributes* attributes = nullptr;
  ThreadPool* pool = nullptr;
  // Called with a range [begin, end) of rows of output 0 (all dimensions but the last, flattened)
  // when these rows are final, from the worker that computed them. Empty: nothing to do. Externs
  // that declare row epilogues must call it exactly once for every row.
  std::function<absl::Status(int64_t begin, int64_t end, int worker)> epilogue;
  // In place of an absent input, for externs that take one; null otherwise.
  const ComputedOperand* computed = nullptr;
  // What Prepare made for this call's constant inputs, or nullptr.
  const PreparedInputs* prepared = nullptr;
};

class Extern {
 public:
  virtual ~Extern() = default;
  virtual absl::string_view id() const = 0;
  virtual absl::Status Run(const ExternCall& call) const = 0;
  // Called once for the calls of one place in a plan, where `constant` says which inputs are the
  // same tensors in every call. nullptr: nothing to gain. The bits of results do not depend on it.
  virtual std::unique_ptr<PreparedInputs> Prepare(const ExternCall&,
                                                  absl::Span<const bool> constant) const {
    (void)constant;
    return nullptr;
  }
  // True when Run calls ExternCall::epilogue.
  virtual bool has_row_epilogue() const { return false; }
};

// nullptr when there is none of that id.
const Extern* FindExtern(absl::string_view id);

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXTERNS_EXTERN_H_
