// Sums, means and maxima of rows of a table, a bag of indices each: embedding_bag.

#include <limits>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

// ---- _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
//      per_sample_weights, include_last_offset, padding_idx) ----

enum BagMode { kSum, kMean, kMax };

Types InferBag(const InferContext& c, bool forward_only) {
  const TensorType &weight = c.args.Type(0), &indices = c.args.Type(1), &offsets = c.args.Type(2);
  LATHE_ASSIGN_OR_RETURN(int64_t mode, c.args.ConstantInt(4));
  LATHE_ASSIGN_OR_RETURN(int64_t padding, c.args.ConstantInt(8));
  if (weight.rank() != 2 || indices.rank() != 1 || offsets.rank() != 1 || mode < kSum ||
      mode > kMax) {
    return InvalidArgument("embedding_bag: expected a table, indices and offsets, got ",
                           ToString(weight), ", ", ToString(indices), ", ", ToString(offsets));
  }
  const Expr bags = c.args.Bool(7) ? offsets.sizes[0] - 1 : offsets.sizes[0];
  // Eager's fast path for sums does not note which bag an index belongs to.
  const bool fast = mode == kSum && padding < 0 && weight.dtype != DType::kF64;
  auto numbers = [&](std::vector<Expr> sizes) {
    return ContiguousType(indices.dtype, std::move(sizes), weight.device);
  };
  // Where bags have no sizes, as many zeros as offsets stand for them.
  const Expr counted = mode == kSum && forward_only ? offsets.sizes[0] : bags;
  return std::vector<ValueType>{
      ContiguousType(weight.dtype, {bags, weight.sizes[1]}, weight.device),
      numbers({fast && forward_only ? Expr(0) : indices.sizes[0]}), numbers({counted}),
      mode == kMax ? numbers({bags, weight.sizes[1]}) : numbers({counted})};
}

Results EvaluateBag(const EvaluateContext& c, bool forward_only) {
  const Tensor& table = c.args.Tensor(0);
  const int64_t rows = table.sizes()[0], width = table.sizes()[1], mode = c.args.Int(4);
  const int64_t padding = c.args.Int(8);
  const std::vector<double> x = ToVector<double>(table);
  const std::vector<int64_t> indices = ToVector<int64_t>(c.args.Tensor(1));
  const std::vector<int64_t> offsets = ToVector<int64_t>(c.args.Tensor(2));
  std::vector<double> scales(indices.size(), 1);
  if (auto given = c.args.OptionalTensor(6)) scales = ToVector<double>(*given);
  std::vector<Tensor> outs;
  for (int k = 0; k < 4; ++k) outs.push_back(c.Allocate(k));
  const int64_t bags = outs[0].sizes()[0];
  std::vector<double> y(bags * width, 0);
  std::vector<int64_t> bag_of(indices.size(), 0), counts(bags, 0), best(bags * width, 0);
  const int64_t skipped = padding < 0 ? padding + rows : padding;
  for (int64_t bag = 0; bag < bags; ++bag) {
    const size_t end =
        bag + 1 < static_cast<int64_t>(offsets.size()) ? offsets[bag + 1] : indices.size();
    for (size_t k = offsets[bag]; k < end && k < indices.size(); ++k) {
      bag_of[k] = bag;
      const int64_t row = indices[k];
      if (row < 0 || row >= rows) return OutOfRange("embedding_bag: index ", row, " of ", rows);
      if (padding >= 0 && row == skipped) continue;
      for (int64_t i = 0; i < width; ++i) {
        const double v = x[row * width + i] * scales[k];
        double& sum = y[bag * width + i];
        if (mode != kMax) {
          sum += v;
        } else if (counts[bag] == 0 || v > sum) {
          sum = v;
          best[bag * width + i] = row;
        }
      }
      ++counts[bag];
    }
    for (int64_t i = 0; mode == kMean && counts[bag] > 0 && i < width; ++i) {
      y[bag * width + i] /= static_cast<double>(counts[bag]);
    }
  }
  FromVector<double>(y, outs[0]);
  if (outs[1].numel() > 0) FromVector<int64_t>(bag_of, outs[1]);
  // Sums need no sizes of bags.
  if (mode == kSum && forward_only) counts.assign(outs[2].numel(), 0);
  FromVector<int64_t>(counts, outs[2]);
  FromVector<int64_t>(mode == kMax ? best : counts, outs[3]);
  return std::vector<HostValue>(outs.begin(), outs.end());
}

// ---- As other rows ----

// One bag's number for each index: how many offsets lie at or before it, less one.
Value* BagNumbers(Builder& b, Value* offsets, const Expr& count) {
  Value* starts = b.Call("aten.zeros", {std::vector<Expr>{count + 1}}, {{"dtype", DType::kI64}});
  starts =
      b.Call("aten.index_add",
             {starts, 0, offsets, b.Call("aten.ones_like", {offsets}, {{"dtype", DType::kI64}})});
  starts = b.Call("aten.slice.Tensor", {starts, 0, 0, count});
  return b.Call("aten.sub.Scalar", {b.Call("aten.cumsum", {starts, 0}), Scalar(1)});
}

// Maxima of the bags' rows, and the table's row that each comes from; 0 for empty bags.
struct Maxima {
  Value *values = nullptr, *rows = nullptr;
};

Maxima MaximaOf(Builder& b, Value* empty, Value* taken, Value* bag_of, Value* indices,
                Value* counted) {
  const Expr count = TypeOf(taken).sizes[0];
  Value* bags =
      b.Call("aten.expand", {b.Call("aten.unsqueeze", {bag_of, -1}), TypeOf(taken).sizes});
  Value* low = b.Call("aten.full_like", {taken, Scalar(-std::numeric_limits<double>::infinity())});
  Value* masked = taken;
  if (counted != nullptr) {
    counted = b.Call("aten.unsqueeze", {counted, -1});
    masked = b.Call("aten.where.self", {counted, taken, low});
  }
  const std::vector<std::pair<std::string, CallArgument>> over = {{"include_self", false}};
  Value* values = b.Call("aten.scatter_reduce.two", {empty, 0, bags, masked, "amax"}, over);
  // The first place that has the maximum.
  Value* is_best = b.Call("aten.eq.Tensor", {masked, b.Call("aten.gather", {values, 0, bags})});
  if (counted != nullptr) is_best = b.Call("aten.logical_and", {is_best, counted});
  Value* places = b.Call("aten.unsqueeze", {b.Call("aten.arange", {count}), -1});
  Value* none = b.Call("aten.full_like", {empty, Scalar(0)}, {{"dtype", DType::kI64}});
  none = b.Call("aten.add.Scalar", {none, count});
  Value* candidates =
      b.Call("aten.where.self",
             {is_best, places, b.Call("aten.full_like", {bags, count}, {{"dtype", DType::kI64}})});
  Value* first = b.Call("aten.scatter_reduce.two", {none, 0, bags, candidates, "amin"});
  Value* is_some = b.Call("aten.lt.Scalar", {first, count});
  Value* padded = b.Call("aten.constant_pad_nd",
                         {CastTo(b, indices, DType::kI64), std::vector<Expr>{0, 1}, Scalar(0)});
  Value* rows = b.Call("aten.index.Tensor", {padded, std::vector<Value*>{first}});
  rows = b.Call("aten.where.self", {is_some, rows, b.Call("aten.zeros_like", {rows})});
  values = b.Call("aten.where.self", {is_some, values, empty});
  return {values, rows};
}

absl::StatusOr<Arguments> Bags(Builder& b, const OpArgs& args, bool forward_only) {
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types,
                         InferBag(InferContext{args, b.shapes(), {}}, forward_only));
  LATHE_ASSIGN_OR_RETURN(int64_t mode, args.ConstantInt(4));
  LATHE_ASSIGN_OR_RETURN(int64_t padding, args.ConstantInt(8));
  const TensorType table = args.Type(0);
  const DType dtype = table.dtype, wide = ComputeType(dtype), number = args.Type(1).dtype;
  const std::vector<Expr> sizes = types[0].tensor().sizes;
  const Expr count = args.Type(1).sizes[0], bags = sizes[0];
  Value *indices = args.Tensor(1), *offsets = args.Tensor(2);
  if (args.Bool(7)) offsets = b.Call("aten.slice.Tensor", {offsets, 0, 0, bags});
  Value* bag_of = BagNumbers(b, offsets, count);
  Value* taken = CastTo(b, b.Call("aten.index_select", {args[0], 0, indices}), wide);
  if (Value* scales = args.OptionalTensor(6)) {
    taken = Mul(b, taken, b.Call("aten.unsqueeze", {CastTo(b, scales, wide), -1}));
  }
  Value* counted = nullptr;
  if (padding >= 0) {
    counted = b.Call("aten.ne.Scalar", {indices, Scalar(padding)});
    if (mode != kMax) {
      Value* nothing = b.Call("aten.zeros_like", {taken});
      taken = b.Call("aten.where.self", {b.Call("aten.unsqueeze", {counted, -1}), taken, nothing});
    }
  }
  const auto zeros = [&](std::vector<Expr> of, DType type) {
    return b.Call("aten.zeros", {std::move(of)}, {{"dtype", type}});
  };
  Value* ones = counted != nullptr
                    ? CastTo(b, counted, DType::kI64)
                    : b.Call("aten.ones", {std::vector<Expr>{count}}, {{"dtype", DType::kI64}});
  Value* counts = b.Call("aten.index_add", {zeros({bags}, DType::kI64), 0, bag_of, ones});
  Value *result, *best = nullptr;
  if (mode == kMax) {
    const Maxima maxima = MaximaOf(b, zeros(sizes, wide), taken, bag_of, indices, counted);
    result = maxima.values;
    best = maxima.rows;
  } else {
    result = b.Call("aten.index_add", {zeros(sizes, wide), 0, bag_of, taken});
  }
  if (mode == kMean) {
    Value* divisor = b.Call("aten.clamp_min", {CastTo(b, counts, wide), Scalar(1)});
    result = Div(b, result, b.Call("aten.unsqueeze", {divisor, -1}));
  }
  // Sums need no sizes of bags.
  if (mode == kSum && forward_only) counts = zeros(types[2].tensor().sizes, DType::kI64);
  if (types[1].tensor().sizes[0] == 0) bag_of = zeros({0}, DType::kI64);
  Arguments results;
  for (Value* v : {CastTo(b, result, dtype), CastTo(b, bag_of, number), CastTo(b, counts, number),
                   CastTo(b, best != nullptr ? best : counts, number)}) {
    results.push_back(v == nullptr ? Argument() : Argument::Of(v));
  }
  return results;
}

OpRow BagRow(const std::string& name, bool forward_only) {
  OpRow row;
  row.schema = "aten::" + name +
               "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
               "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
               "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)";
  row.doc = "Sums, means or maxima of the rows that each bag of indices names.";
  row.infer = [=](const InferContext& c) { return InferBag(c, forward_only); };
  row.evaluate = [=](const EvaluateContext& c) { return EvaluateBag(c, forward_only); };
  row.decompose = [=](Builder& b, const OpArgs& args) { return Bags(b, args, forward_only); };
  return row;
}

// What users call; the padding index is -1 where there is none, and may count from the end.
OpRow CompositeBagRow(bool has_padding) {
  const std::string head =
      "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq";
  const std::string schema =
      has_padding ? ".padding_idx" + head +
                        ", int mode, bool sparse, Tensor? per_sample_weights, bool "
                        "include_last_offset, int? padding_idx)"
                  : head +
                        "=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
                        "bool include_last_offset=False)";
  return CompositeRow(
      "aten::embedding_bag" + schema + " -> (Tensor, Tensor, Tensor, Tensor)",
      "Sums, means or maxima of the rows that each bag of indices names.",
      [has_padding](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
        int64_t padding = -1;
        if (has_padding && !args.IsNone(8)) {
          LATHE_ASSIGN_OR_RETURN(padding, args.ConstantInt(8));
          const std::optional<int64_t> rows =
              args.Type(0).rank() > 0 ? args.Type(0).sizes[0].AsInt() : std::nullopt;
          if (padding < 0 && !rows) return Unimplemented("embedding_bag: a padding from the end");
          if (rows && (padding < -*rows || padding >= *rows)) {
            return InvalidArgument("padding_idx must be within the number of embeddings, ", *rows,
                                   ", but got ", padding);
          }
          if (padding < 0) padding += *rows;
        }
        std::vector<CallArgument> call;
        for (int i = 0; i < 8; ++i) call.emplace_back(args[i]);
        call.emplace_back(padding);
        Arguments results;
        for (Value* v : b.CallMany("aten._embedding_bag_forward_only", std::move(call))) {
          results.push_back(v == nullptr ? Argument() : Argument::Of(v));
        }
        return results;
      });
}

}  // namespace

std::vector<OpRow> BagRows() {
  return {BagRow("_embedding_bag", false), BagRow("_embedding_bag_forward_only", true),
          CompositeBagRow(false), CompositeBagRow(true)};
}

}  // namespace lathe
