#include "ir/ops/known_types.h"

#include "dtypes/base/status.h"

namespace lathe {

absl::StatusOr<std::vector<ValueType>> KnownTypes::Infer(const OpRow& row,
                                                         absl::Span<const Argument> arguments,
                                                         const symbolic::Asker& asker) {
  if (version_ != shapes_.version()) {
    types_.clear();
    version_ = shapes_.version();
  }
  const std::optional<int> number = classes_.Of(&row, arguments);
  if (number.has_value()) {
    types_.resize(classes_.size());
    if (types_[*number].has_value()) return *types_[*number];
  }
  const OpArgs args(row.parsed, arguments);
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types, row.infer({args, shapes_, asker}));
  if (number.has_value() && version_ == shapes_.version()) types_[*number] = types;
  return types;
}

}  // namespace lathe
