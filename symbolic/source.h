#ifndef LATHE_SYMBOLIC_SOURCE_H_
#define LATHE_SYMBOLIC_SOURCE_H_

// Where a symbol's value comes from, and who asked about it, as data.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lathe::symbolic {

struct Source {
  enum class Kind : uint8_t {
    kNone,
    kInputSize,
    kInputStride,
    kInputOffset,
    kInputScalar,
    kItem,
    kAttribute,
  };
  Kind kind = Kind::kNone;
  int input = -1;      // index among the graph's inputs
  int dimension = -1;  // for sizes and strides
  std::string node;  // kItem: the node whose result binds an unbacked symbol; kAttribute: the path
  static Source InputSize(int input, int dimension);
  static Source InputStride(int input, int dimension);
  static Source InputOffset(int input);
  static Source InputScalar(int input);
  static Source Item(absl::string_view node);
  static Source Attribute(absl::string_view path);  // "self.config.heads"
  std::string ToString() const;                     // "size 1 of input 0", "item of %nonzero"
  // One word that reads back: "size:0:1", "item:%nonzero".
  std::string Key() const;
  static absl::StatusOr<Source> FromKey(absl::string_view key);
  friend bool operator==(const Source&, const Source&) = default;
  // By kind, input, dimension, node.
  friend bool operator<(const Source& a, const Source& b);
  template <typename H>
  friend H AbslHashValue(H h, const Source& s) {
    return H::combine(std::move(h), s.kind, s.input, s.dimension, s.node);
  }
};

struct Asker {
  std::string node;
  std::string source_line;
  // " (asked by %add at m.py:3)", "" if nothing is known.
  std::string ToString() const;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SOURCE_H_
