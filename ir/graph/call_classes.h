#ifndef LATHE_IR_GRAPH_CALL_CLASSES_H_
#define LATHE_IR_GRAPH_CALL_CLASSES_H_

// Calls that ask the same: of one operator, with the same literals and operands of the same types.
// The layers of a model ask the same again and again, and what follows from these alone (types,
// assumptions about sizes, loops) need be found only once a class.
//
//   %a = aten.mul.Tensor(%x, %y)      // %x, %z: f32[s0, 64], %y: f32[64]     class 0
//   %b = aten.mul.Tensor(%z, %y)      //                                      class 0
//   %c = aten.mul.Tensor(%y, %y)      //                                      class 1
//
// Expressions are compared by identity: all calls must be of one ExprContext.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "ir/graph/graph.h"

namespace lathe {

// Writes what tells one class from another as words, such that different things give different
// words, whatever comes before and behind.
class CallWords {
 public:
  void Add(uint64_t word) { words_.push_back(word); }
  void Add(const Expr& e);
  void Add(const ValueType& type);
  // The literals of an argument and the types of its values. False for what classes do not compare:
  // sub-graphs and literal tensors.
  bool Add(const Argument& argument);
  void clear() { words_.clear(); }
  const std::vector<uint64_t>& words() const { return words_; }

 private:
  void AddText(absl::string_view text);
  std::vector<uint64_t> words_;
};

// Numbers sequences of words from 0, in order of first sight.
class WordClasses {
 public:
  int Of(const CallWords& words) {
    return number_of_.try_emplace(words.words(), static_cast<int>(number_of_.size())).first->second;
  }
  int size() const { return static_cast<int>(number_of_.size()); }

 private:
  absl::flat_hash_map<std::vector<uint64_t>, int> number_of_;
};

class CallClasses {
 public:
  // From 0, in order of first sight; nullopt for calls with sub-graphs or literal tensors.
  std::optional<int> Of(const OpRow* row, absl::Span<const Argument> arguments);
  int size() const { return classes_.size(); }

 private:
  CallWords words_;
  WordClasses classes_;
};

}  // namespace lathe

#endif  // LATHE_IR_GRAPH_CALL_CLASSES_H_
