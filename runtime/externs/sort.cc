// "sort": outputs[0], outputs[1] = inputs[0] in order along "dim" and where each element was (i64).
// Attributes: dim=-1, descending=false, stable (always so). NaN counts as the largest.

#include "dtypes/base/status.h"
#include "runtime/externs/builtin.h"
#include "runtime/externs/lines.h"
#include "runtime/externs/ordered_lines.h"

namespace lathe {
namespace {

class Sort final : public Extern {
 public:
  absl::string_view id() const override { return "sort"; }
  absl::Status Run(const ExternCall& call) const override {
    LATHE_ASSIGN_OR_RETURN(const int64_t dim, IntAttribute(call, "dim", -1));
    LATHE_ASSIGN_OR_RETURN(const bool descending, BoolAttribute(call, "descending", false));
    return OrderLines("sort", call, dim, descending, -1);
  }
};

}  // namespace

const Extern* SortExtern() {
  static const Sort sort;
  return &sort;
}

}  // namespace lathe
