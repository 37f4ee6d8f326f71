#ifndef LATHE_SYMBOLIC_AUTOMATIC_DYNAMIC_H_
#define LATHE_SYMBOLIC_AUTOMATIC_DYNAMIC_H_

// Which sizes, strides and scalars of a function's inputs have been seen to change: the base of
// recompilation, of agreement between ranks, and of starting dynamic the next time.
//
//   AutomaticDynamic seen;
//   seen.ObserveTensor("x", {8, 64}, {64, 1});
//   seen.ObserveTensor("x", {16, 64}, {64, 1});
//   seen.SizePolicy("x", 0);   // kDuck: it changed
//   seen.SizePolicy("x", 1);   // kStatic
//
// Everything seen of one number is a point of the lattice unset < value < dynamic, and merging is
// its join: in whatever order and grouping, the result is the same.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {

struct SeenNumber {
  enum class State : uint8_t { kUnset, kValue, kRelative, kDynamic };
  State state = State::kUnset;
  // kValue: the number; kRelative (strides only): the inner dimension d whose size times stride
  // this stride is.
  int64_t value = 0;
  static SeenNumber Of(int64_t value) { return {State::kValue, value}; }
  static SeenNumber Relative(int64_t dimension) { return {State::kRelative, dimension}; }
  static SeenNumber Dynamic() { return {State::kDynamic, 0}; }
  friend bool operator==(const SeenNumber&, const SeenNumber&) = default;
};
SeenNumber Join(const SeenNumber& a, const SeenNumber& b);

struct SeenInput {
  SeenNumber scalar;  // of an integer input
  bool is_tensor = false;
  bool any_rank = false;  // was seen with several ranks: all of it is dynamic
  std::vector<SeenNumber> sizes, strides;
  friend bool operator==(const SeenInput&, const SeenInput&) = default;
};
SeenInput Join(const SeenInput& a, const SeenInput& b);

class AutomaticDynamic {
 public:
  // `input` is any name that is stable between calls: the caller's argument path.
  void ObserveTensor(absl::string_view input, absl::Span<const int64_t> sizes,
                     absl::Span<const int64_t> strides);
  void ObserveScalar(absl::string_view input, int64_t value);
  void Merge(const AutomaticDynamic& other);

  // What to ask of ShapeEnv::BindInput: kStatic until a second value was seen.
  DimPolicy SizePolicy(absl::string_view input, int dimension) const;
  DimPolicy ScalarPolicy(absl::string_view input) const;
  // A stride that follows the sizes inside it stays relative to them, whatever they are; kDynamic
  // when it was seen to change apart from them.
  DimPolicy StridePolicy(absl::string_view input, int dimension) const;
  bool IsAnyRank(absl::string_view input) const;

  // One line an input, sorted: equal states give equal bytes. The last line counts the others and
  // has a checksum of them: what was cut or damaged is no state.
  //   lathe automatic dynamic 2
  //   scalar n *
  //   tensor x sizes * 64 strides @1 1
  //   end 2 5b1f0c8e9a7d3342
  std::string Serialize() const;
  // InvalidArgument with the line; another version is named.
  static absl::StatusOr<AutomaticDynamic> Parse(absl::string_view text);
  // The file is replaced in one step, whoever else saves there at the time; a symbolic link is
  // replaced too, not followed; a device or folder is refused. NotFound when there is none to load.
  absl::Status Save(const std::string& path) const;
  static absl::StatusOr<AutomaticDynamic> Load(const std::string& path);

  friend bool operator==(const AutomaticDynamic&, const AutomaticDynamic&) = default;

 private:
  const SeenInput* Find(absl::string_view input) const;
  std::map<std::string, SeenInput> inputs_;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_AUTOMATIC_DYNAMIC_H_
