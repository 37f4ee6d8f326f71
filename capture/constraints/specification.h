#ifndef LATHE_CAPTURE_CONSTRAINTS_SPECIFICATION_H_
#define LATHE_CAPTURE_CONSTRAINTS_SPECIFICATION_H_

// What a user asks of the sizes of an exported program, as text and as data:
//
//   dim batch = 2..64
//   dim heads in {8, 16}
//   where batch % heads == 0
//   x: [batch, 2*batch + 1, auto, dynamic(2..8), static, 4]
//   n: batch
//
// `dim NAME` alone leaves the range open. `where` states a condition on the dims above it, for what
// neither ranges nor sets say. A line without brackets is an integer input, which may be negative.
// The name of an input may be a path: `x.0['k']`.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "symbolic/range.h"

namespace lathe {

struct NamedDim {
  std::string name;
  // Both ends included. An open lower end means that 0 and 1 may be treated apart: the program
  // then holds from 2 on.
  symbolic::Range range;
  std::vector<int64_t> allowed;  // not empty: one of these
};

struct DimSpec {
  enum class Kind : uint8_t {
    kStatic,   // whatever the example has
    kValue,    // this number, checked
    kAuto,     // static or dynamic, as the program needs
    kDynamic,  // dynamic in some range; constant is an error
    kNamed,    // scale * name + offset
  };
  Kind kind = Kind::kStatic;
  int64_t value = 0;
  std::string name;
  int64_t scale = 1, offset = 0;
  symbolic::Range range;  // of kAuto and kDynamic
};

struct InputSpec {
  std::string name;
  bool is_scalar = false;  // an integer with one DimSpec
  std::vector<DimSpec> dims;
};

struct Specification {
  std::vector<NamedDim> dims;
  std::vector<std::string> conditions;  // "batch % heads == 0", symbolic/parser.h
  std::vector<InputSpec> inputs;

  const NamedDim* Find(absl::string_view name) const;
};

// InvalidArgument with line and column. Refused: a range that is empty or of one value, a derived
// dim other than A*name + B with A > 0, unknown names, names twice, a size that may be negative.
absl::StatusOr<Specification> ParseSpecification(absl::string_view text);
std::string ToString(const DimSpec& dim);
std::string RangeText(const symbolic::Range& range);       // as it is read: "2..64", "..64"
std::string SizeRangeText(const symbolic::Range& range);   // "2..64"; an open lower end is 0
std::string ToString(const Specification& specification);  // reads back

}  // namespace lathe

#endif  // LATHE_CAPTURE_CONSTRAINTS_SPECIFICATION_H_
