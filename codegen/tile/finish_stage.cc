#include <algorithm>
#include <array>
#include <map>

#include "codegen/tile/stage_compiler.h"

namespace lathe::tile {
namespace {

// Registers and the buffers' own lines share a first-level cache of 32 KiB.
constexpr int64_t kCacheBytes = 20 << 10;
constexpr int64_t kSmallestTile = 64, kLargestTile = 1024;

bool ReadsMemory(Code code) {
  return code == Code::kLoad || code == Code::kLoadMasked || code == Code::kGather ||
         code == Code::kLoadScalar;
}

template <typename F>
void ForOperands(const StageProgram& stage, const Instruction& i, F f) {
  for (Operand operand : {i.a, i.b, i.c}) {
    if (operand != kNoOperand) f(operand);
  }
  if (i.access >= 0) {
    const Access& access = stage.accesses[i.access];
    if (access.index != kNoOperand) f(access.index);
    for (Operand operand : access.at.scalars) f(operand);
  }
}

// Where a value is computed and then stored as it is, it can be computed in place, provided that
// nothing reads a buffer after that: the output may lie where an input does.
void StoreInPlace(StageProgram& stage, std::vector<Instruction>& section) {
  std::vector<bool> is_direct(stage.operands.size(), false);
  for (const auto& other : stage.sections) {
    for (const Instruction& i : other) {
      if (i.code == Code::kLoad) is_direct[i.dst] = true;
    }
  }
  std::vector<Instruction> prepares;
  std::map<size_t, std::vector<Instruction>> before;  // prepares, by the defining instruction
  for (size_t s = section.size(); s-- > 0;) {
    Instruction& store = section[s];
    if (store.code != Code::kStore || store.c != kNoOperand || (store.scalars & 1) != 0) continue;
    if (stage.accesses[store.access].layout.sub_bits != 0) continue;
    size_t def = section.size();
    bool reads_later = false;
    for (size_t k = section.size(); k-- > 0;) {
      const Instruction& i = section[k];
      if (i.dst == store.a && i.code != Code::kPrepareStore) {
        def = k;
        break;
      }
      if (ReadsMemory(i.code)) reads_later = true;
      ForOperands(stage, i, [&](Operand operand) { reads_later |= is_direct[operand]; });
    }
    const bool writable = def < section.size() && (section[def].code == Code::kCompute ||
                                                   section[def].code == Code::kConvert);
    if (!writable || reads_later || before.count(def) != 0) continue;
    Instruction prepare = store;
    prepare.code = Code::kPrepareStore;
    prepare.dst = store.a;
    prepare.a = kNoOperand;
    before[def].push_back(prepare);
    store.code = Code::kFinishStore;
  }
  if (before.empty()) return;
  std::vector<Instruction> result;
  for (size_t k = 0; k < section.size(); ++k) {
    if (auto it = before.find(k); it != before.end()) {
      result.insert(result.end(), it->second.begin(), it->second.end());
    }
    result.push_back(section[k]);
  }
  section = std::move(result);
}

class Allocator {
 public:
  Allocator(StageProgram& stage, int64_t largest_tile)
      : stage_(stage), largest_tile_(largest_tile), last_use_(stage.operands.size(), -1) {}

  void Run(int64_t start) {
    FindLastUses();
    Assign();
    int64_t bytes_per_element = 1;
    for (int bytes : register_bytes_) bytes_per_element += bytes;
    int64_t tile = std::clamp(largest_tile_, kSmallestTile, kLargestTile);
    while (tile > kSmallestTile && tile * bytes_per_element > kCacheBytes) tile /= 2;
    stage_.tile_elements = tile;
    int64_t offset = start;
    std::vector<int64_t> register_offsets;
    for (int bytes : register_bytes_) {
      register_offsets.push_back(offset);
      offset += tile * bytes;
    }
    for (size_t k = 0; k < stage_.operands.size(); ++k) {
      OperandInfo& operand = stage_.operands[k];
      if (operand.kind == OperandInfo::Kind::kTile && register_of_.count(k) != 0) {
        operand.offset = static_cast<int32_t>(register_offsets[register_of_[k]]);
      } else if (operand.kind == OperandInfo::Kind::kScalar) {
        operand.offset = static_cast<int32_t>(offset);
        offset += kScalarBytes;
      } else if (operand.kind == OperandInfo::Kind::kResult) {
        operand.offset = static_cast<int32_t>(offset);
        offset += operand.varies ? tile * operand.bytes : kScalarBytes;
      }
    }
    stage_.register_bytes = offset;
  }

 private:
  template <typename F>
  void ForAll(F f) {  // (instruction, position, section), in order
    int position = 0;
    for (size_t s = 0; s < stage_.sections.size(); ++s) {
      for (const Instruction& i : stage_.sections[s]) f(i, position++, static_cast<int>(s));
    }
    end_of_elements_ = position++;
    for (const Instruction& i : stage_.post) f(i, position++, -1);
  }

  void FindLastUses() {
    std::vector<int> defined_in(stage_.operands.size(), -2);
    ForAll([&](const Instruction& i, int, int section) {
      if (i.dst != kNoOperand && defined_in[i.dst] == -2) defined_in[i.dst] = section;
    });
    ForAll([&](const Instruction& i, int position, int section) {
      const auto use = [&](Operand operand) {
        // Deeper levels run again and again: what they use from outside lives to their end.
        const bool inside = section == -1 || defined_in[operand] == section;
        last_use_[operand] = std::max(last_use_[operand], inside ? position : end_of_elements_);
      };
      ForOperands(stage_, i, use);
      if (i.dst != kNoOperand) last_use_[i.dst] = std::max(last_use_[i.dst], position);
    });
    for (const Reduction& reduction : stage_.reductions) {
      for (Operand operand : {reduction.value, reduction.index, reduction.factor}) {
        if (operand != kNoOperand) last_use_[operand] = end_of_elements_;
      }
    }
  }

  void Assign() {
    ForAll([&](const Instruction& i, int position, int section) {
      if (section == -1 && !elements_released_) {  // the post section starts afresh
        elements_released_ = true;
        // Only what every run of the tile's own level computes anew.
        for (const auto& [operand, where] : register_of_) {
          if (stage_.operands[operand].level >= stage_.tile_level) Release(where);
        }
      }
      ForOperands(stage_, i, [&](Operand operand) { ReleaseAfter(operand, position); });
      if (i.dst == kNoOperand || stage_.operands[i.dst].kind != OperandInfo::Kind::kTile) return;
      if (register_of_.count(i.dst) == 0) register_of_[i.dst] = Take(stage_.operands[i.dst].bytes);
      ReleaseAfter(i.dst, position);
    });
  }

  int Take(int bytes) {
    std::vector<int>& free = free_[bytes];
    if (free.empty()) {
      register_bytes_.push_back(bytes);
      return static_cast<int>(register_bytes_.size()) - 1;
    }
    const int result = free.back();
    free.pop_back();
    return result;
  }
  void Release(int where) {
    std::vector<int>& free = free_[register_bytes_[where]];
    if (std::find(free.begin(), free.end(), where) == free.end()) free.push_back(where);
  }
  void ReleaseAfter(Operand operand, int position) {
    if (last_use_[operand] != position) return;
    if (auto it = register_of_.find(operand); it != register_of_.end()) Release(it->second);
  }

  StageProgram& stage_;
  const int64_t largest_tile_;
  std::vector<int> last_use_;
  std::map<size_t, int> register_of_;
  std::vector<int> register_bytes_;  // an element
  std::map<int, std::vector<int>> free_;
  int end_of_elements_ = 0;
  bool elements_released_ = false;
};

}  // namespace

void FinishStage(StageProgram& stage, int64_t registers_start, int64_t largest_tile) {
  for (auto& section : stage.sections) StoreInPlace(stage, section);
  StoreInPlace(stage, stage.post);
  Allocator(stage, largest_tile).Run(registers_start);
}

}  // namespace lathe::tile
