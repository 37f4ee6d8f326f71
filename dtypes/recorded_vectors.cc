#include "dtypes/recorded_vectors.h"

#include <fstream>
#include <iterator>
#include <map>

#include "gtest/gtest.h"

namespace lathe {

rapidjson::Document ReadVectors(const std::string& file) {
  std::ifstream stream("third_party/vectors/" + file);
  EXPECT_TRUE(stream.good()) << file;
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag>(text.c_str());
  EXPECT_FALSE(document.HasParseError()) << file;
  if (document.HasParseError()) document.SetObject();
  return document;
}

DType DTypeOfTorchName(const std::string& name) {
  static const std::map<std::string, DType> kNames = {
      {"bool", DType::kBool},
      {"uint8", DType::kU8},
      {"uint16", DType::kU16},
      {"uint32", DType::kU32},
      {"uint64", DType::kU64},
      {"int8", DType::kI8},
      {"int16", DType::kI16},
      {"int32", DType::kI32},
      {"int64", DType::kI64},
      {"float8_e4m3fn", DType::kF8E4M3FN},
      {"float8_e5m2", DType::kF8E5M2},
      {"float8_e4m3fnuz", DType::kF8E4M3FNUZ},
      {"float8_e5m2fnuz", DType::kF8E5M2FNUZ},
      {"float8_e8m0fnu", DType::kF8E8M0FNU},
      {"float16", DType::kF16},
      {"bfloat16", DType::kBF16},
      {"float32", DType::kF32},
      {"float64", DType::kF64},
      {"complex32", DType::kC32},
      {"complex64", DType::kC64},
      {"complex128", DType::kC128},
  };
  const auto found = kNames.find(name);
  EXPECT_TRUE(found != kNames.end()) << name;
  return found == kNames.end() ? DType::kBool : found->second;
}

}  // namespace lathe
