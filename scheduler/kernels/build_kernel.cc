#include "scheduler/kernels/build_kernel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/loops/make_dots.h"
#include "ir/loops/recorder.h"
#include "scheduler/fusion/access.h"
#include "scheduler/fusion/domain.h"
#include "scheduler/kernels/body_reader.h"
#include "scheduler/kernels/finish_spec.h"
#include "scheduler/kernels/split_groups.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

Expr StoredAt(const TensorType& type, Index index) {
  Expr position = 0;
  for (int k = 0; k < type.rank(); ++k) position = position + index[k] * type.strides[k];
  return position;
}

// What the builder knows of one live member.
struct Member {
  int node = -1;
  MemberLevel level = MemberLevel::kFull;
  int stage = 0;            // full and reductions: which pass over the row; rows: after which
                            // pass (-1: before the first)
  bool stored = false;      // has a buffer
  bool crosses = false;     // a full value that a later pass needs
  BufferId local = -1;      // of the value, as its compute dtype
  BufferId raw_local = -1;  // of a reduction before `finish`
  std::vector<Expr> domain_index;  // the node's domain, in the kernel's axes
  Expr position;                   // in its own buffer
};

class KernelBuilder {
 public:
  KernelBuilder(const LoopGraph& loops, const Fusion& fusion, const FusionGroup& group,
                absl::flat_hash_set<Value*>& buffers_needed)
      : loops_(loops),
        fusion_(fusion),
        group_(group),
        needed_(buffers_needed),
        context_(loops.shapes->context()),
        outer_(group.outer),
        inner_(group.inner) {
    own_.insert(group.members.begin(), group.members.end());
  }

  absl::StatusOr<std::optional<ScheduledKernel>> Run(std::optional<Expr> rows) {
    if (rows.has_value()) {
      LATHE_RETURN_IF_ERROR(SplitRows(*rows));
    }
    FindLiveMembers();
    if (members_.empty()) return std::optional<ScheduledKernel>();
    MakeAxes();
    for (Member& member : members_) PlaceInAxes(member);
    AssignStages();
    AssignLocals();
    LATHE_RETURN_IF_ERROR(RecordStages());
    return std::optional<ScheduledKernel>(Finish(rows.has_value()));
  }

 private:
  const LoopNode& node(const Member& m) const { return loops_.nodes[m.node]; }
  bool by_rows() const { return group_.has_reduction || split_; }

  absl::Status SplitRows(const Expr& rows) {
    const std::optional<int> split = PrefixWithProduct(outer_, rows);
    if (!split.has_value()) {
      return FailedPrecondition("its rows are not those of the matrix product");
    }
    if (group_.has_reduction) {
      if (*split != static_cast<int>(outer_.size())) {
        return FailedPrecondition("it reduces over other rows than the matrix product's");
      }
      return absl::OkStatus();
    }
    split_ = true;
    inner_.assign(outer_.begin() + *split, outer_.end());
    outer_.resize(*split);
    return absl::OkStatus();
  }

  // Members that are stored, and what they use of each other.
  void FindLiveMembers() {
    absl::flat_hash_set<int> live;
    for (auto it = group_.members.rbegin(); it != group_.members.rend(); ++it) {
      const int n = *it;
      Value* value = loops_.nodes[n].value;
      if (!needed_.contains(value) && !live.contains(n)) continue;
      live.insert(n);
      for (int dependency : ForwardedReads(n)) live.insert(dependency);
    }
    for (int n : group_.members) {
      if (!live.contains(n)) continue;
      Member member;
      member.node = n;
      member.level = fusion_.level_of[n];
      member.stored = needed_.contains(loops_.nodes[n].value);
      member_of_[n] = static_cast<int>(members_.size());
      members_.push_back(std::move(member));
    }
  }

  // Nodes of this group whose value is at hand where `n` reads it.
  std::vector<int> ForwardedReads(int n) const {
    std::vector<int> result;
    const LoopNode& reader = loops_.nodes[n];
    for (const Read& read : fusion_.access_of[n].reads) {
      auto it = loops_.index.find(read.root);
      if (it == loops_.index.end() || !own_.contains(it->second) || read.prefix < 0) continue;
      const bool whole = read.prefix == static_cast<int>(reader.domain.size());
      const bool full = fusion_.level_of[it->second] == MemberLevel::kFull;
      if (full && (!whole || fusion_.level_of[n] == MemberLevel::kRow)) continue;
      if (!full && fusion_.level_of[n] != MemberLevel::kRow) {
        const std::vector<Expr> leading(reader.domain.begin(), reader.domain.begin() + read.prefix);
        if (symbolic::Product(leading) != symbolic::Product(group_.outer)) continue;
      }
      result.push_back(it->second);
    }
    return result;
  }

  void MakeAxes() {
    const auto add = [&](const std::vector<Expr>& sizes, AxisKind kind, std::vector<Expr>* into) {
      for (const Expr& size : sizes) {
        const Expr symbol =
            context_.Symbol(absl::StrCat("i", spec_.axes.size()), symbolic::SymbolKind::kIndex);
        spec_.axes.push_back({symbol, size, kind});
        into->push_back(symbol);
      }
    };
    if (outer_.empty() && (by_rows() || inner_.empty())) outer_.push_back(1);
    // A reduction over single elements still needs an axis to reduce over.
    if (inner_.empty() && group_.has_reduction) inner_.push_back(1);
    add(outer_, AxisKind::kParallel, &outer_symbols_);
    inner_begin_ = static_cast<int>(spec_.axes.size());
    add(inner_, group_.has_reduction ? AxisKind::kReduce : AxisKind::kParallel, &inner_symbols_);
    if (by_rows()) {
      for (int k = 0; k < inner_begin_; ++k) spec_.outer.push_back(k);
    }
  }

  std::vector<int> AllAxes() const {
    std::vector<int> axes;
    const int begin = by_rows() ? inner_begin_ : 0;
    for (int k = begin; k < static_cast<int>(spec_.axes.size()); ++k) axes.push_back(k);
    return axes;
  }

  void PlaceInAxes(Member& m) {
    const LoopNode& n = node(m);
    std::vector<Expr> sizes = outer_, symbols = outer_symbols_;
    if (m.level == MemberLevel::kReduction) {
      const std::vector<Expr> kept(n.domain.begin(), n.domain.begin() + n.kept_rank);
      const std::vector<Expr> reduced(n.domain.begin() + n.kept_rank, n.domain.end());
      m.domain_index = Coarse(kept, outer_, outer_symbols_);
      const std::vector<Expr> tail = Coarse(reduced, inner_, inner_symbols_);
      m.domain_index.insert(m.domain_index.end(), tail.begin(), tail.end());
      const TensorType& type = n.value->type.tensor();
      m.position = StoredAt(type, ResultIndex(n, m.domain_index));
      return;
    }
    if (m.level == MemberLevel::kFull) {
      sizes.insert(sizes.end(), inner_.begin(), inner_.end());
      symbols.insert(symbols.end(), inner_symbols_.begin(), inner_symbols_.end());
    }
    m.domain_index = Coarse(n.domain, sizes, symbols);
    m.position = StoredAt(n.value->type.tensor(), m.domain_index);
  }

  // Index of a coarser domain; axes of extent 1 stand for nothing.
  static std::vector<Expr> Coarse(const std::vector<Expr>& coarse, const std::vector<Expr>& sizes,
                                  const std::vector<Expr>& symbols) {
    std::vector<Expr> kept_sizes, kept_symbols;
    for (size_t k = 0; k < sizes.size(); ++k) {
      if (sizes[k] == Expr(1)) continue;
      kept_sizes.push_back(sizes[k]);
      kept_symbols.push_back(symbols[k]);
    }
    return CoarseIndex(coarse, kept_sizes, kept_symbols);
  }

  // The result's index for a kept index: the dimensions of keepdim are 0.
  static std::vector<Expr> ResultIndex(const LoopNode& n, const std::vector<Expr>& domain_index) {
    const TensorType& type = n.value->type.tensor();
    const std::vector<Expr> kept(domain_index.begin(), domain_index.begin() + n.kept_rank);
    const std::vector<Expr> kept_sizes(n.domain.begin(), n.domain.begin() + n.kept_rank);
    if (type.rank() == n.kept_rank) return kept;
    std::vector<Expr> result(type.rank(), Expr(0));
    // Kept sizes appear in order among the result's; the others are 1.
    size_t next = 0;
    for (int d = 0; d < type.rank() && next < kept.size(); ++d) {
      const int left = type.rank() - d, wanted = static_cast<int>(kept.size() - next);
      if (type.sizes[d] == kept_sizes[next] && (type.sizes[d] != Expr(1) || left == wanted)) {
        result[d] = kept[next++];
      } else if (type.sizes[d] == kept_sizes[next] && type.sizes[d] == Expr(1)) {
        result[d] = kept[next++];
      }
    }
    return result;
  }

  // ---- Stages ----
  void AssignStages() {
    for (Member& m : members_) {
      int stage = m.level == MemberLevel::kRow ? -1 : 0;
      for (int dependency : ForwardedReads(m.node)) {
        const Member& d = members_[member_of_.at(dependency)];
        int least = d.stage;
        if (d.level != MemberLevel::kFull && m.level != MemberLevel::kRow) least = d.stage + 1;
        stage = std::max(stage, least);
      }
      m.stage = stage;
      passes_ = std::max(passes_, stage + 1);
    }
    for (const Member& m : members_) {
      if (m.level == MemberLevel::kRow) continue;
      for (int dependency : ForwardedReads(m.node)) {
        Member& d = members_[member_of_.at(dependency)];
        if (d.level == MemberLevel::kFull && d.stage < m.stage && !Recomputable(d)) {
          d.crosses = true;
        }
      }
    }
  }

  // Cheaper to compute again from buffers and locals in a later pass than to keep.
  bool Recomputable(const Member& m) const {
    const NodeCost& cost = fusion_.access_of[m.node].cost;
    if (cost.heavy || cost.indirect || cost.operations > 4 || cost.loads > 2) return false;
    // What it forwards from full members must be recomputable too.
    for (int dependency : ForwardedReads(m.node)) {
      const Member& d = members_[member_of_.at(dependency)];
      if (d.level == MemberLevel::kFull && !d.stored && !Recomputable(d)) return false;
    }
    return true;
  }

  BufferId NewLocal(DType dtype, std::vector<int> axes) {
    spec_.locals.push_back({dtype, std::move(axes)});
    return static_cast<BufferId>(spec_.locals.size()) - 1;
  }

  void AssignLocals() {
    for (Member& m : members_) {
      const DType loaded = LoadedDType(node(m).value->type.tensor().dtype);
      if (m.level == MemberLevel::kFull) {
        // A stored value is read back from its buffer, which is still in cache.
        if (m.crosses && !m.stored) m.local = NewLocal(loaded, AllAxes());
      } else {
        m.local = NewLocal(loaded, {});
      }
    }
  }

  absl::Status RecordStages() {
    for (int pass = -1; pass < passes_; ++pass) {
      if (pass >= 0) {
        LATHE_RETURN_IF_ERROR(RecordPass(pass));
      }
      LATHE_RETURN_IF_ERROR(RecordRow(pass));
    }
    return absl::OkStatus();
  }

  std::vector<Expr> SymbolsOf(const std::vector<int>& axes, bool with_outer) const {
    std::vector<Expr> result;
    if (with_outer) {
      for (int k : spec_.outer) {
        if (spec_.axes[k].extent != Expr(1)) result.push_back(spec_.axes[k].symbol);
      }
    }
    for (int k : axes) {
      if (spec_.axes[k].extent != Expr(1)) result.push_back(spec_.axes[k].symbol);
    }
    return result;
  }

  struct Recording {
    Recorder recorder;
    std::unique_ptr<BodyReader> reader;
    absl::flat_hash_map<int, OpsValue> at_hand;  // by node
    int pass = 0;
    bool is_row = false;
    explicit Recording(ExprContext& context) : recorder(context, {}, {}) {}
  };

  std::unique_ptr<Recording> NewRecording(int pass, bool is_row, const std::vector<int>& axes) {
    auto recording = std::make_unique<Recording>(context_);
    recording->pass = pass;
    recording->is_row = is_row;
    Recording* r = recording.get();
    r->reader = std::make_unique<BodyReader>(
        loops_, fusion_, buffers_, needed_, own_, SymbolsOf(axes, true),
        [this, r](Value* root, const Expr& position) { return Forward(*r, root, position); });
    return recording;
  }

  // The value of a member at its own place, if `position` is that place and it is known by now.
  OpsValue Forward(Recording& r, Value* root, const Expr& position) {
    auto it = loops_.index.find(root);
    if (it == loops_.index.end()) return {};
    auto found = member_of_.find(it->second);
    if (found == member_of_.end()) return {};
    const Member& m = members_[found->second];
    if (position != m.position) return {};
    if (m.level == MemberLevel::kFull && r.is_row) return {};
    // A value of the row is known once its pass has ended.
    if (m.level != MemberLevel::kFull && m.stage >= r.pass + (r.is_row ? 1 : 0)) return {};
    return ValueOf(r, m);
  }

  OpsValue ValueOf(Recording& r, const Member& m) {
    if (auto it = r.at_hand.find(m.node); it != r.at_hand.end()) return it->second;
    const DType dtype = node(m).value->type.tensor().dtype;
    OpsValue value;
    if (m.level != MemberLevel::kFull) {
      value = r.recorder.LoadLocal(m.local, LoadedDType(dtype));
    } else if (m.stage < r.pass && m.stored) {
      value = r.recorder.Cast(r.recorder.Load(buffers_.Read(node(m).value), m.position, dtype),
                              LoadedDType(dtype));
    } else if (m.stage < r.pass && m.local >= 0) {
      value = r.recorder.LoadLocal(m.local, LoadedDType(dtype));
    } else {
      value = Compute(r, m);
    }
    r.at_hand[m.node] = value;
    return value;
  }

  // Values that a body forwards are computed before it runs: inside it, a mask may be in force.
  void PrepareForwarded(Recording& r, const Member& m) {
    for (int dependency : ForwardedReads(m.node)) {
      ValueOf(r, members_[member_of_.at(dependency)]);
    }
  }

  OpsValue Compute(Recording& r, const Member& m) {
    PrepareForwarded(r, m);
    const OpsValue value = node(m).pointwise().body(r.recorder, *r.reader, m.domain_index);
    return loops_.Rounded(r.recorder, value, node(m));
  }

  void StoreMember(Recording& r, const Member& m, OpsValue value) {
    Value* result = node(m).value;
    r.recorder.Store(buffers_.Write(result), m.position,
                     r.recorder.Cast(value, result->type.tensor().dtype), StoreMode::kPlain);
  }

  absl::Status RecordPass(int pass) {
    const std::vector<int> axes = AllAxes();
    auto r = NewRecording(pass, /*is_row=*/false, axes);
    bool any = false;
    for (Member& m : members_) {
      if (m.stage != pass || m.level == MemberLevel::kRow) continue;
      if (m.level == MemberLevel::kReduction) {
        any = true;
        RecordReduction(*r, m);
      } else if (m.stored || m.local >= 0) {
        any = true;
        const OpsValue value = ValueOf(*r, m);
        if (m.stored) StoreMember(*r, m, value);
        if (m.local >= 0) r->recorder.StoreLocal(m.local, value);
      }
    }
    if (!any) return absl::OkStatus();
    return AddStage(*r, axes);
  }

  void RecordReduction(Recording& r, Member& m) {
    PrepareForwarded(r, m);
    const OpsValue total = RecordReduce(r.recorder, *r.reader, node(m), m.domain_index);
    const DType dtype = r.recorder.dtype(total);
    // Nothing is done to the sum: it is the value.
    m.raw_local = IsFinished(node(m), dtype) ? m.local : NewLocal(dtype, {});
    r.recorder.StoreLocal(m.raw_local, total);
  }

  static bool IsFinished(const LoopNode& n, DType reduced) {
    return !n.reduction().finish && n.value->type.tensor().dtype == reduced;
  }

  absl::Status RecordRow(int pass) {
    auto r = NewRecording(pass, /*is_row=*/true, {});
    bool any = false;
    for (const Member& m : members_) {
      if (m.stage != pass || m.level == MemberLevel::kFull) continue;
      if (m.level == MemberLevel::kReduction && m.raw_local == m.local && !m.stored) continue;
      any = true;
      OpsValue value;
      if (m.level == MemberLevel::kReduction) {
        value = FinishReduction(*r, m);
      } else {
        value = Compute(*r, m);
      }
      r->at_hand[m.node] = value;
      if (m.raw_local != m.local) r->recorder.StoreLocal(m.local, value);
      if (m.stored) StoreMember(*r, m, value);
    }
    if (!any) return absl::OkStatus();
    return AddStage(*r, {});
  }

  OpsValue FinishReduction(Recording& r, const Member& m) {
    const LoopNode& n = node(m);
    OpsValue value = r.recorder.LoadLocal(m.raw_local, spec_.locals[m.raw_local].dtype);
    if (n.reduction().finish) {
      const Index kept(m.domain_index.data(), n.kept_rank);
      value = n.reduction().finish(r.recorder, *r.reader, value, kept);
    }
    return loops_.Rounded(r.recorder, value, n);
  }

  absl::Status AddStage(Recording& r, std::vector<int> axes) {
    LATHE_RETURN_IF_ERROR(r.recorder.status());
    LATHE_RETURN_IF_ERROR(r.reader->status());
    SpecStage stage;
    stage.axes = std::move(axes);
    const int first_error = static_cast<int>(spec_.errors.size());
    const Node* where = node(members_.back()).node;
    for (const std::string& message : r.recorder.errors()) {
      spec_.errors.push_back(
          {absl::StrCat("%", node(members_.back()).value->name), where->origin.source, message});
    }
    stage.body = r.recorder.Finish();
    stage.body.axes.clear();
    stage.body.extents.clear();
    for (LoopOp& op : stage.body.ops) {
      if (op.error >= 0) op.error += first_error;
    }
    spec_.stages.push_back(std::move(stage));
    return absl::OkStatus();
  }

  ScheduledKernel Finish(bool keep_first) {
    ScheduledKernel kernel;
    kernel.buffers = buffers_.values();
    for (size_t k = 0; k < kernel.buffers.size(); ++k) {
      const DType dtype = kernel.buffers[k]->type.tensor().dtype;
      spec_.buffers.push_back({dtype, buffers_.role(static_cast<BufferId>(k)), 1});
    }
    CollapseRows(keep_first);
    if (!keep_first) PreferContiguousVectorAxis(spec_);
    SplitGroups(spec_, context_);
    MakeDots(spec_);
    FinishSpec(spec_, *loops_.shapes);
    for (const Member& m : members_) kernel.nodes.push_back(node(m).node);
    kernel.extent = spec_.axes[0].extent;
    kernel.symbols = spec_.symbols;
    kernel.spec = std::move(spec_);
    return kernel;
  }

  // An epilogue's rows must be one axis; SplitRows made sure that they can be.
  void CollapseRows(bool keep_first) {
    if (keep_first && spec_.outer.size() > 1) MergeOuter();
    CollapseAxes(spec_, context_, keep_first);
  }

  // i0, i1... become quotients and remainders of one row number.
  void MergeOuter();

  const LoopGraph& loops_;
  const Fusion& fusion_;
  const FusionGroup& group_;
  absl::flat_hash_set<Value*>& needed_;
  ExprContext& context_;
  std::vector<Expr> outer_, inner_;
  bool split_ = false;
  absl::flat_hash_set<int> own_;
  std::vector<Member> members_;
  absl::flat_hash_map<int, int> member_of_;
  int passes_ = 1;
  KernelSpec spec_;
  std::vector<Expr> outer_symbols_, inner_symbols_;
  int inner_begin_ = 0;
  BufferTable buffers_;
};

void KernelBuilder::MergeOuter() {
  // Merging what collapses keeps indexes affine; the rest costs a division a row, not an element.
  CollapseAxes(spec_, context_, /*keep_first=*/false);
  while (spec_.outer.size() > 1) {
    const int a = static_cast<int>(spec_.outer.size()) - 2, b = a + 1;
    const Expr merged = spec_.axes[b].symbol, length = spec_.axes[b].extent;
    const Expr fresh = context_.Symbol(absl::StrCat("r", b), symbolic::SymbolKind::kIndex);
    for (SpecStage& stage : spec_.stages) {
      for (LoopOp& op : stage.body.ops) {
        if (op.index.is_const()) continue;
        op.index = symbolic::Substitute(
            op.index, {{spec_.axes[a].symbol, fresh / length}, {merged, fresh % length}}, context_);
      }
    }
    spec_.axes[a].symbol = fresh;
    spec_.axes[a].extent = spec_.axes[a].extent * length;
    spec_.axes.erase(spec_.axes.begin() + b);
    spec_.outer.pop_back();
    const auto shift = [&](std::vector<int>& axes) {
      for (int& axis : axes) axis -= axis > b;
    };
    for (SpecStage& stage : spec_.stages) shift(stage.axes);
    for (SpecLocal& local : spec_.locals) shift(local.axes);
  }
}

}  // namespace

absl::StatusOr<std::optional<ScheduledKernel>> BuildKernel(
    const LoopGraph& loops, const Fusion& fusion, const FusionGroup& group,
    absl::flat_hash_set<Value*>& buffers_needed, std::optional<Expr> rows) {
  return KernelBuilder(loops, fusion, group, buffers_needed).Run(rows);
}

absl::StatusOr<ScheduledKernel> BuildScatter(const LoopGraph& loops, const Fusion& fusion,
                                             const ScatterLoops& scatter, Value* result,
                                             absl::flat_hash_set<Value*>& buffers_needed) {
  ExprContext& context = loops.shapes->context();
  KernelSpec spec;
  std::vector<Expr> index, axes;
  std::vector<int> all;
  std::vector<Expr> sizes = scatter.sizes;
  if (sizes.empty()) sizes.push_back(1);
  for (size_t k = 0; k < sizes.size(); ++k) {
    const Expr symbol = context.Symbol(absl::StrCat("i", k), symbolic::SymbolKind::kIndex);
    spec.axes.push_back({symbol, sizes[k], AxisKind::kParallel});
    all.push_back(static_cast<int>(k));
    axes.push_back(symbol);
    if (k < scatter.sizes.size()) index.push_back(symbol);
  }
  BufferTable buffers;
  const absl::flat_hash_set<int> none;
  Recorder recorder(context, {}, {});
  BodyReader reader(loops, fusion, buffers, buffers_needed, none, axes,
                    [](Value*, const Expr&) { return OpsValue{}; });
  const OpsValue value = scatter.body(recorder, reader, index);
  const std::vector<Expr> where = scatter.where(recorder, reader, index);
  const TensorType& type = result->type.tensor();
  recorder.Store(buffers.Write(result), StoredAt(type, where), recorder.Cast(value, type.dtype),
                 scatter.mode);
  LATHE_RETURN_IF_ERROR(recorder.status());
  SpecStage stage;
  stage.axes = all;
  for (const std::string& message : recorder.errors()) {
    spec.errors.push_back(
        {absl::StrCat("%", result->name), result->definition->origin.source, message});
  }
  stage.body = recorder.Finish();
  stage.body.axes.clear();
  stage.body.extents.clear();
  spec.stages.push_back(std::move(stage));
  ScheduledKernel kernel;
  kernel.buffers = buffers.values();
  for (size_t k = 0; k < kernel.buffers.size(); ++k) {
    const BufferId id = static_cast<BufferId>(k);
    const BufferRole role =
        buffers.role(id) == BufferRole::kOut ? BufferRole::kInOut : buffers.role(id);
    spec.buffers.push_back({kernel.buffers[k]->type.tensor().dtype, role, 1});
  }
  CollapseAxes(spec, context, /*keep_first=*/false);
  // Repeated indexes must meet in order: one task does it all.
  if (scatter.serial) spec.grain = INT64_MAX / 2;
  FinishSpec(spec, *loops.shapes);
  kernel.nodes.push_back(result->definition);
  kernel.extent = spec.axes[0].extent;
  kernel.symbols = spec.symbols;
  kernel.spec = std::move(spec);
  return kernel;
}

}  // namespace lathe
