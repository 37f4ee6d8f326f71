#ifndef LATHE_CAPTURE_PT2_GUARD_SOURCES_H_
#define LATHE_CAPTURE_PT2_GUARD_SOURCES_H_

// What the sources in guards_code ("L['x'][0].size()[1]") stand for.

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/graph/graph.h"

namespace lathe::pt2 {

// The source text of every leaf of the call's arguments in order, "" where it is not known, from
// the recorded tree ("[1, {\"type\": \"builtins.tuple\", ...}]") and the forward method's argument
// names. Empty when the tree cannot be read.
std::vector<std::string> LeafSources(absl::string_view in_spec,
                                     const std::vector<std::string>& argument_names);

class GuardSources {
 public:
  void Add(const std::string& source, const Value* input) { inputs_.emplace(source, input); }
  // The expression of "L['x'].size()[1]", "L['n']", "L['x'].stride()[0]"...; Unimplemented for a
  // source that names no input.
  absl::StatusOr<Expr> Resolve(absl::string_view source) const;

 private:
  absl::flat_hash_map<std::string, const Value*> inputs_;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_GUARD_SOURCES_H_
