#ifndef LATHE_DTYPES_RECORDED_VECTORS_H_
#define LATHE_DTYPES_RECORDED_VECTORS_H_

// For tests: PyTorch's recorded answers (third_party/vectors) as JSON documents.
//
//   const rapidjson::Document casts = ReadVectors("casts.json");

#include <string>

#include "dtypes/dtype.h"
#include "rapidjson/document.h"

namespace lathe {

// Fails the test and gives an empty object when the file is missing or is not JSON.
rapidjson::Document ReadVectors(const std::string& file);

// "float8_e4m3fn" -> f8e4m3fn. Fails the test for an unknown name.
DType DTypeOfTorchName(const std::string& name);

}  // namespace lathe

#endif  // LATHE_DTYPES_RECORDED_VECTORS_H_
