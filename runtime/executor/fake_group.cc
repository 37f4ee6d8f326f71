#include "runtime/executor/fake_group.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "dtypes/base/status.h"

namespace lathe {
namespace {

constexpr auto kPatience = std::chrono::minutes(1);

// One collective: what every rank brought.
struct Round {
  std::vector<std::string> ops;             // by rank, "" until it came
  std::vector<std::vector<Tensor>> inputs;  // copies
  std::vector<std::vector<Tensor>> outputs;
  int arrived = 0, left = 0;
  bool done = false;
  absl::Status status;
};

struct Meeting {
  explicit Meeting(int ranks) : size(ranks) {}
  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int64_t, Round> rounds;
};

Scalar Combine(absl::string_view reduce, const Scalar& a, const Scalar& b, DType dtype) {
  if (reduce == "min") return b < a ? b : a;
  if (reduce == "max") return a < b ? b : a;
  if (IsFloat(dtype)) {
    const double x = a.ToDouble(), y = b.ToDouble();
    return Scalar(reduce == "product" ? x * y : x + y);
  }
  const uint64_t x = a.ToUInt(), y = b.ToUInt();
  return Scalar(static_cast<int64_t>(reduce == "product" ? x * y : x + y));
}

// Element k of every rank's input, reduced in the order of ranks.
Scalar ReduceElement(const Round& round, absl::string_view reduce, int64_t k) {
  const DType dtype = round.inputs[0][0].dtype();
  Scalar value = round.inputs[0][0].AtLinear(k);
  for (size_t rank = 1; rank < round.inputs.size(); ++rank) {
    value = Combine(reduce, value, round.inputs[rank][0].AtLinear(k), dtype);
  }
  if (reduce != "avg") return value;
  return Scalar(value.ToDouble() / static_cast<double>(round.inputs.size()));
}

absl::Status CheckReduce(absl::string_view reduce, const Tensor& t) {
  for (const char* known : {"sum", "avg", "product", "min", "max"}) {
    if (reduce == known && !IsComplex(t.dtype())) return absl::OkStatus();
  }
  return Unimplemented("fake group: reduction '", reduce, "' of ", Name(t.dtype()));
}

// Elements [from, from + count) of `source` to [to, to + count) of `target`.
void CopyElements(const Tensor& source, int64_t from, const Tensor& target, int64_t to,
                  int64_t count) {
  for (int64_t k = 0; k < count; ++k) target.SetLinear(to + k, source.AtLinear(from + k));
}

class Rank final : public CollectiveGroup {
 public:
  Rank(std::shared_ptr<Meeting> meeting, int rank) : meeting_(std::move(meeting)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return meeting_->size; }

  absl::StatusOr<std::unique_ptr<PendingCollective>> Start(const CollectiveCall& call) override {
    LATHE_RETURN_IF_ERROR(CheckCall(call));
    std::lock_guard<std::mutex> lock(meeting_->mutex);
    const int64_t number = next_++;
    Round& round = meeting_->rounds[number];
    const auto ranks = static_cast<size_t>(size()), self = static_cast<size_t>(rank_);
    round.ops.resize(ranks);
    round.inputs.resize(ranks);
    round.outputs.resize(ranks);
    round.ops[self] = absl::StrCat(call.op, " ", call.reduce);
    for (const Tensor& input : call.inputs) round.inputs[self].push_back(input.Clone());
    round.outputs[self].assign(call.outputs.begin(), call.outputs.end());
    if (++round.arrived == size()) {
      round.status = Finish(call.op, call.reduce, round);
      round.done = true;
      meeting_->changed.notify_all();
    }
    return std::make_unique<Waiting>(meeting_, number);
  }

 private:
  class Waiting final : public PendingCollective {
   public:
    Waiting(std::shared_ptr<Meeting> meeting, int64_t number)
        : meeting_(std::move(meeting)), number_(number) {}
    absl::Status Wait() override {
      std::unique_lock<std::mutex> lock(meeting_->mutex);
      Round& round = meeting_->rounds[number_];
      if (!meeting_->changed.wait_for(lock, kPatience, [&] { return round.done; })) {
        return absl::DeadlineExceededError(absl::StrCat("fake group: only ", round.arrived, " of ",
                                                        meeting_->size,
                                                        " ranks came to collective ", number_));
      }
      const absl::Status status = round.status;
      if (++round.left == meeting_->size) meeting_->rounds.erase(number_);
      return status;
    }

   private:
    const std::shared_ptr<Meeting> meeting_;
    const int64_t number_;
  };

  absl::Status CheckCall(const CollectiveCall& call) const {
    if (call.op == "barrier") return absl::OkStatus();
    if (call.inputs.size() != 1 || call.outputs.size() != 1) {
      return Unimplemented("fake group: ", call.op, " of ", call.inputs.size(), " tensors");
    }
    const Tensor &in = call.inputs[0], &out = call.outputs[0];
    int64_t in_parts = 1, out_parts = 1;
    if (call.op == "all_gather_into_tensor") {
      out_parts = size();
    } else if (call.op == "reduce_scatter_tensor") {
      in_parts = size();
    } else if (call.op == "all_to_all_single") {
      if (in.numel() % size() != 0) return InvalidArgument("all_to_all_single: unequal pieces");
    } else if (call.op != "all_reduce" && call.op != "broadcast") {
      return Unimplemented("fake group: collective '", call.op, "'");
    }
    if (in.dtype() != out.dtype() || in.numel() * out_parts != out.numel() * in_parts) {
      return InvalidArgument(call.op, ": ", TypeString(in), " does not give ", TypeString(out),
                             " with ", size(), " ranks");
    }
    const bool reduces = call.op == "all_reduce" || call.op == "reduce_scatter_tensor";
    return reduces ? CheckReduce(call.reduce, in) : absl::OkStatus();
  }

  // All ranks are here; no other looks at its outputs before `done`.
  static absl::Status Finish(absl::string_view op, absl::string_view reduce, Round& round) {
    const auto ranks = static_cast<int64_t>(round.ops.size());
    for (size_t r = 1; r < round.ops.size(); ++r) {
      if (round.ops[r] != round.ops[0] ||
          (op != "barrier" && TypeString(round.inputs[r][0]) != TypeString(round.inputs[0][0]))) {
        return InvalidArgument("fake group: rank 0 does ", round.ops[0], ", rank ", r, " does ",
                               round.ops[r], ", or their tensors differ");
      }
    }
    if (op == "barrier") return absl::OkStatus();
    const int64_t count = round.inputs[0][0].numel();
    for (int64_t r = 0; r < ranks; ++r) {
      const Tensor& out = round.outputs[static_cast<size_t>(r)][0];
      if (op == "all_reduce" || op == "reduce_scatter_tensor") {
        const int64_t first = op == "all_reduce" ? 0 : r * out.numel();
        for (int64_t k = 0; k < out.numel(); ++k) {
          out.SetLinear(k, ReduceElement(round, reduce, first + k));
        }
      } else if (op == "broadcast") {
        CopyElements(round.inputs[0][0], 0, out, 0, count);
      } else {
        const bool exchange = op == "all_to_all_single";
        const int64_t piece = exchange ? count / ranks : count;
        for (int64_t from = 0; from < ranks; ++from) {
          CopyElements(round.inputs[static_cast<size_t>(from)][0], exchange ? r * piece : 0, out,
                       from * piece, piece);
        }
      }
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<Meeting> meeting_;
  const int rank_;
  int64_t next_ = 0;
};

}  // namespace

std::vector<std::shared_ptr<CollectiveGroup>> MakeFakeGroup(int size) {
  auto meeting = std::make_shared<Meeting>(size);
  std::vector<std::shared_ptr<CollectiveGroup>> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(std::make_shared<Rank>(meeting, rank));
  return ranks;
}

}  // namespace lathe
