#ifndef LATHE_DTYPES_PROMOTION_TABLE_H_
#define LATHE_DTYPES_PROMOTION_TABLE_H_

// The text of promotion_table.md: where NumPy, PyTorch and lathe promote differently. A test
// compares it with the file; to write the file anew:
//
//   ./bazelw run //dtypes:write_promotion_table > dtypes/promotion_table.md

#include <optional>
#include <string>

#include "dtypes/dtype.h"

namespace lathe {

// numpy.promote_types; nullopt for types that NumPy lacks.
std::optional<DType> NumpyPromoteTypes(DType a, DType b);

std::string PromotionTable();

}  // namespace lathe

#endif  // LATHE_DTYPES_PROMOTION_TABLE_H_
