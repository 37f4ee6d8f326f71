#ifndef LATHE_IR_PASSES_STORAGE_TRACKER_H_
#define LATHE_IR_PASSES_STORAGE_TRACKER_H_

// Which values of a graph with in-place operators share storage, and what each holds at the moment.
// "Handle" is a value of the program as written; its contents change as it is written to, and each
// contents is a value of the functional graph.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "ir/graph/graph.h"
#include "ir/ops/builder.h"
#include "ir/ops/op_row.h"

namespace lathe {

class StorageTracker {
 public:
  explicit StorageTracker(Builder& builder) : builder_(builder) {}

  // `handle` is a view: argument `aliased` of a call of `row` with these arguments (handles).
  void AddView(Value* handle, const OpRow* row, std::vector<Argument> arguments, int aliased);

  // The tensor at the root of a chain of views; itself for no view.
  Value* Root(Value* handle);
  bool IsWritten(Value* root) { return StateOf(root).version > 0; }
  bool any_written() const { return any_written_; }

  // What `handle` holds now: views of a root that was written since are replayed at the builder's
  // insertion point. nullptr after an error of the builder.
  Value* Current(Value* handle);
  // `handle` holds `contents` from now on, and with it all that shares its storage.
  absl::Status Write(Value* handle, Value* contents);

 private:
  struct View {
    const OpRow* row;
    std::vector<Argument> arguments;
    Value* parent;
  };
  struct State {
    std::optional<View> view;
    Value* root;
    Value* current;
    int64_t version = 0;  // of the root, when `current` was made
  };
  State& StateOf(Value* handle);
  static std::vector<Argument> WithParent(const View& view, Value* parent);

  Builder& builder_;
  absl::flat_hash_map<Value*, State> states_;
  bool any_written_ = false;
};

}  // namespace lathe

#endif  // LATHE_IR_PASSES_STORAGE_TRACKER_H_
