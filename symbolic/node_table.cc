#include "symbolic/node_table.h"

#include <algorithm>
#include <new>

namespace lathe::symbolic {
namespace {

constexpr size_t kFirstBlockBytes = size_t{1} << 12;
constexpr size_t kLargestBlockBytes = size_t{1} << 20;
// Beyond this the memo would fall out of the cache that makes it worth having.
constexpr size_t kFirstMemo = 256;
constexpr size_t kLargestMemo = size_t{1} << 12;

static_assert(sizeof(void*) == 8 && alignof(ExprNode) >= alignof(Expr) && sizeof(ExprNode) == 64);

}  // namespace

const ExprNode* NodeTable::Find(ExprKind kind, absl::Span<const Expr> operands,
                                uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask; slots_[i] != 0; i = (i + 1) & mask) {
    if (slots_[i] >> kTagShift != hash >> kTagShift) continue;
    const ExprNode* node = NodeOf(slots_[i]);
    if (node->hash == hash && node->kind == kind && node->operand_span() == operands) return node;
  }
  return nullptr;
}

std::byte* NodeTable::Take(std::vector<Block>& blocks, size_t& total, size_t bytes) {
  if (blocks.empty() || blocks.back().capacity - blocks.back().used < bytes) {
    const size_t usual = std::min(std::max(total / 4, kFirstBlockBytes), kLargestBlockBytes);
    Block block;
    block.capacity = std::max(usual, bytes);
    block.bytes.reset(new std::byte[block.capacity]);
    total += block.capacity;
    blocks.push_back(std::move(block));
  }
  Block& block = blocks.back();
  std::byte* at = block.bytes.get() + block.used;
  block.used += bytes;
  return at;
}

ExprNode* NodeTable::Allocate(ExprKind kind, absl::Span<const Expr> operands, uint64_t hash) {
  std::byte* at = Take(blocks_, block_bytes_, sizeof(ExprNode) + operands.size() * sizeof(Expr));
  ExprNode* node = new (at) ExprNode();
  Expr* own = reinterpret_cast<Expr*>(at + sizeof(ExprNode));
  std::uninitialized_copy(operands.begin(), operands.end(), own);
  node->kind = kind;
  node->operands = own;
  node->operand_count = static_cast<uint32_t>(operands.size());
  node->hash = hash;
  return node;
}

ExprNode* NodeTable::AllocateView(absl::Span<const Expr> operands, uint64_t hash,
                                  const ExprNode* sharing) {
  ExprNode* node = new (Take(blocks_, block_bytes_, sizeof(ExprNode))) ExprNode();
  node->kind = sharing->kind;
  node->growable = sharing->growable;
  node->operands = operands.data();
  node->operand_count = static_cast<uint32_t>(operands.size());
  node->array_offset =
      sharing->array_offset + static_cast<uint32_t>(operands.data() - sharing->operands);
  node->hash = hash;
  return node;
}

NodeTable::ArrayHeader& NodeTable::HeaderOf(const ExprNode* node) {
  const Expr* begin = node->operands - node->array_offset;
  return *(reinterpret_cast<ArrayHeader*>(const_cast<Expr*>(begin)) - 1);
}

std::optional<absl::Span<const Expr>> NodeTable::Grow(const ExprNode* node, const Expr& added) {
  if (!node->growable) return std::nullopt;
  ArrayHeader& header = HeaderOf(node);
  const size_t end = node->array_offset + node->operand_count;
  Expr* at = const_cast<Expr*>(node->operands) + node->operand_count;
  if (end == header.size) {
    if (header.size == header.capacity) return std::nullopt;
    new (at) Expr(added);
    ++header.size;
  } else if (*at != added) {
    return std::nullopt;
  }
  return absl::MakeConstSpan(node->operands, node->operand_count + 1);
}

ExprNode* NodeTable::AllocateGrowable(ExprKind kind, absl::Span<const Expr> operands,
                                      uint64_t hash) {
  const size_t capacity = operands.size() + operands.size() / 2;
  std::byte* bytes = Take(arrays_, array_bytes_, sizeof(ArrayHeader) + capacity * sizeof(Expr));
  new (bytes) ArrayHeader{operands.size(), capacity};
  Expr* array = reinterpret_cast<Expr*>(bytes + sizeof(ArrayHeader));
  std::uninitialized_copy(operands.begin(), operands.end(), array);
  ExprNode like;
  like.kind = kind;
  like.growable = true;
  like.operands = array;
  return AllocateView({array, operands.size()}, hash, &like);
}

void NodeTable::Insert(const ExprNode* node) {
  const size_t mask = slots_.size() - 1;
  size_t i = node->hash & mask;
  while (slots_[i] != 0) i = (i + 1) & mask;
  slots_[i] = reinterpret_cast<uint64_t>(node) | (node->hash >> kTagShift << kTagShift);
}

void NodeTable::Publish(const ExprNode* node) {
  ++size_;
  if (size_ * 2 > slots_.size()) {
    EnlargeSlots();  // inserts this one too
  } else {
    Insert(node);
  }
}

// Nodes are read in the order in which they lie, so that only the table is visited at random.
void NodeTable::EnlargeSlots() {
  slots_.assign(slots_.size() * (slots_.size() < (size_t{1} << 16) ? 4 : 2), 0);
  for (const Block& block : blocks_) {
    for (size_t at = 0; at < block.used;) {
      const ExprNode* node = reinterpret_cast<const ExprNode*>(block.bytes.get() + at);
      Insert(node);
      at += sizeof(ExprNode);
      const bool own = node->operands == reinterpret_cast<const Expr*>(block.bytes.get() + at);
      if (own) at += node->operand_count * sizeof(Expr);
    }
  }
}

uint64_t PairMemo::Hash(uint8_t operation, const Expr& a, const Expr& b) {
  const auto word = [](const Expr& e) {
    return reinterpret_cast<uint64_t>(e.node()) ^
           static_cast<uint64_t>(ContextAccess::RawValue(e)) * 0x9e3779b97f4a7c15ull;
  };
  uint64_t h = word(a) * 0xff51afd7ed558ccdull + word(b) + operation;
  h *= 0xc4ceb9fe1a85ec53ull;
  return h ^ (h >> 29);
}

const Expr* PairMemo::Find(uint8_t operation, const Expr& a, const Expr& b) const {
  if (entries_.empty()) return nullptr;
  const Entry& e = entries_[Hash(operation, a, b) & (entries_.size() - 1)];
  return e.operation == operation && e.a == a && e.b == b ? &e.result : nullptr;
}

void PairMemo::Store(uint8_t operation, const Expr& a, const Expr& b, const Expr& result) {
  if (entries_.empty()) entries_.resize(kFirstMemo);
  if (++stored_ > entries_.size() && entries_.size() < kLargestMemo) {
    std::vector<Entry> old(entries_.size() * 4);
    old.swap(entries_);
    for (const Entry& e : old) {
      if (e.operation < 0) continue;
      entries_[Hash(static_cast<uint8_t>(e.operation), e.a, e.b) & (entries_.size() - 1)] = e;
    }
  }
  entries_[Hash(operation, a, b) & (entries_.size() - 1)] = {a, b, result, operation};
}

}  // namespace lathe::symbolic
