// "topk": outputs[0], outputs[1] = the integers[0] largest elements of inputs[0] along "dim" and
// their positions (i64), in order. Attributes: dim=-1, largest=true, sorted (always so). NaN counts
// as the largest; of equal elements the first ones are taken.

#include "dtypes/base/status.h"
#include "runtime/externs/builtin.h"
#include "runtime/externs/lines.h"
#include "runtime/externs/ordered_lines.h"

namespace lathe {
namespace {

class TopK final : public Extern {
 public:
  absl::string_view id() const override { return "topk"; }
  absl::Status Run(const ExternCall& call) const override {
    if (call.integers.size() != 1 || call.integers[0] < 0) {
      return InvalidArgument("topk: needs the number of elements to take, 0 or more");
    }
    LATHE_ASSIGN_OR_RETURN(const int64_t dim, IntAttribute(call, "dim", -1));
    LATHE_ASSIGN_OR_RETURN(const bool largest, BoolAttribute(call, "largest", true));
    return OrderLines("topk", call, dim, largest, call.integers[0]);
  }
};

}  // namespace

const Extern* TopKExtern() {
  static const TopK topk;
  return &topk;
}

}  // namespace lathe
