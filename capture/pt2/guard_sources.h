#ifndef LATHE_CAPTURE_PT2_GUARD_SOURCES_H_
#define LATHE_CAPTURE_PT2_GUARD_SOURCES_H_

// What the sources in guards_code ("L['x'][0].size()[1]") stand for.

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/graph/graph.h"

namespace lathe::pt2 {

// One argument of the exported call, tree flattened: an input of the graph, or a number that the
// program was specialised on.
struct UserArgument {
  const Value* input = nullptr;
  std::optional<Expr> constant;
};

// Field names of the namedtuples that the file knows, by type name.
using NamedtupleFields = absl::flat_hash_map<std::string, std::vector<std::string>>;

// How guards may write each leaf of the call's arguments, in order, from the recorded tree ("[1,
// {\"type\": \"builtins.tuple\", ...}]") and the forward method's argument names. A leaf has no
// text when a container around it is one that guards cannot write. Empty when the tree cannot be
// read.
std::vector<std::vector<std::string>> LeafSources(absl::string_view in_spec,
                                                  const std::vector<std::string>& argument_names,
                                                  const NamedtupleFields& fields = {});

class GuardSources {
 public:
  void Add(const std::string& source, const UserArgument& argument) {
    arguments_.emplace(source, argument);
  }
  // The expression of "L['x'].size()[1]", "L['n']", "L['x'].stride()[0]"...; Unimplemented for a
  // source that names no input.
  absl::StatusOr<Expr> Resolve(absl::string_view source) const;
  // Whether the source is something of an input that is no part of the call: the tensor that it is
  // a view of (L['x']._base), its gradient.
  bool IsBesidesInputs(absl::string_view source) const;

 private:
  const UserArgument* Find(absl::string_view source) const;

  absl::flat_hash_map<std::string, UserArgument> arguments_;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_GUARD_SOURCES_H_
