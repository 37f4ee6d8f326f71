#ifndef LATHE_SYMBOLIC_NODE_TABLE_H_
#define LATHE_SYMBOLIC_NODE_TABLE_H_

// Where a context keeps its operations: nodes one after another in large blocks, each followed by
// its operands, and a flat table of pointers to find them by. A new node costs one visit to the
// table and no call to malloc.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "symbolic/expr_node.h"

namespace lathe::symbolic {

class NodeTable {
 public:
  NodeTable() : slots_(kFirstSlots) {}

  // The node (kind, operands) of that hash, nullptr if there is none.
  const ExprNode* Find(ExprKind kind, absl::Span<const Expr> operands, uint64_t hash) const;
  // A node with room for its operands, which are copied; the caller fills in the rest, `hash`
  // first of all, and then calls Publish.
  ExprNode* Allocate(ExprKind kind, absl::Span<const Expr> operands, uint64_t hash);
  // A node whose operands are some of those that lie in the array of `sharing`.
  ExprNode* AllocateView(absl::Span<const Expr> operands, uint64_t hash, const ExprNode* sharing);
  // The operands of `node` with `added` after them, in the array where they lie; nullopt where that
  // is full, of fixed size or goes on differently.
  std::optional<absl::Span<const Expr>> Grow(const ExprNode* node, const Expr& added);
  // A node of these operands whose array has room for more.
  ExprNode* AllocateGrowable(ExprKind kind, absl::Span<const Expr> operands, uint64_t hash);
  void Publish(const ExprNode* node);

  size_t size() const { return size_; }
  size_t memory_bytes() const { return block_bytes_ + array_bytes_ + slots_.size() * sizeof(Slot); }

 private:
  // 16 bits of the hash above 48 of the address: most other nodes need not be visited.
  using Slot = uint64_t;
  static constexpr size_t kFirstSlots = 256;
  static constexpr int kTagShift = 48;
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    size_t used = 0, capacity = 0;
  };

  // What stands before a growable array.
  struct ArrayHeader {
    size_t size = 0, capacity = 0;
  };
  static ArrayHeader& HeaderOf(const ExprNode* node);

  static const ExprNode* NodeOf(Slot slot) {
    return reinterpret_cast<const ExprNode*>(slot & ((uint64_t{1} << kTagShift) - 1));
  }
  static std::byte* Take(std::vector<Block>& blocks, size_t& total, size_t bytes);
  void Insert(const ExprNode* node);
  void EnlargeSlots();

  std::vector<Slot> slots_;    // a power of two, at most half full
  std::vector<Block> blocks_;  // of nodes
  std::vector<Block> arrays_;  // of operands
  size_t size_ = 0;
  size_t block_bytes_ = 0, array_bytes_ = 0;
};

// The last results of simplifying a pair; one may be forgotten for another, none is ever wrong.
class PairMemo {
 public:
  const Expr* Find(uint8_t operation, const Expr& a, const Expr& b) const;
  void Store(uint8_t operation, const Expr& a, const Expr& b, const Expr& result);
  size_t memory_bytes() const { return entries_.size() * sizeof(Entry); }

 private:
  struct Entry {
    Expr a, b, result;
    int operation = -1;
  };
  static uint64_t Hash(uint8_t operation, const Expr& a, const Expr& b);
  std::vector<Entry> entries_;  // a power of two; each pair has one place
  size_t stored_ = 0;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_NODE_TABLE_H_
