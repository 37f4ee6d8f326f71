#include "capture/pt2/read_types.h"

#include <utility>

#include "absl/strings/match.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"

namespace lathe::pt2 {
namespace {

using symbolic::ExprType;

constexpr std::pair<int, DType> kDTypes[] = {
    {1, DType::kU8},      {2, DType::kI8},          {3, DType::kI16},
    {4, DType::kI32},     {5, DType::kI64},         {6, DType::kF16},
    {7, DType::kF32},     {8, DType::kF64},         {9, DType::kC32},
    {10, DType::kC64},    {11, DType::kC128},       {12, DType::kBool},
    {13, DType::kBF16},   {28, DType::kU16},        {29, DType::kF8E4M3FN},
    {30, DType::kF8E5M2}, {31, DType::kF8E4M3FNUZ}, {32, DType::kF8E5M2FNUZ},
};

absl::StatusOr<Expr> ReadSymExpr(const JsonValue& json, Symbols& symbols) {
  LATHE_RETURN_IF_ERROR(json.CheckFields({"expr_str", "hint"}));
  LATHE_ASSIGN_OR_RETURN(absl::string_view text, json.StringField("expr_str"));
  std::optional<int64_t> hint;
  if (std::optional<JsonValue> h = json.Find("hint")) {
    // A union since schema 8; older minors wrote a bare number.
    std::optional<JsonValue> value = h->is_object() ? h->Find("as_int") : h;
    if (value && value->is_integer()) hint = *value->Integer();
  }
  absl::StatusOr<Expr> e = symbols.Parse(text, hint);
  if (!e.ok()) return json.Annotated(e.status());
  if (e->IsOverflow()) return json.Invalid("'", text, "' has no value in 64 bits");
  return e;
}

// Symbols stand for integers; a float that is only known at run time (the item of a float tensor)
// has names of its own.
absl::Status CheckNoFloatSymbols(const JsonValue& json, const Expr& e) {
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    absl::string_view name = symbol.symbol_name();
    if (absl::StartsWith(name, "zf") || absl::StartsWith(name, "zuf")) {
      return json.Unsupported("the float symbol ", std::string(name),
                              ": floats that are known only at run time are not supported");
    }
  }
  return absl::OkStatus();
}

absl::string_view KindName(ExprType type) {
  return type == ExprType::kInt ? "an integer" : type == ExprType::kBool ? "a bool" : "a float";
}

absl::StatusOr<std::vector<Expr>> ReadSizes(const JsonValue& json, Symbols& symbols,
                                            absl::string_view what) {
  std::vector<Expr> sizes;
  for (size_t k = 0; k < json.size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(Expr e, ReadSymbolic(json[k], ExprType::kInt, symbols));
    if (e.is_const() && *e.AsInt() < 0) return json[k].Invalid("a ", what, " is negative");
    sizes.push_back(e);
  }
  return sizes;
}

}  // namespace

absl::StatusOr<DType> ReadDType(const JsonValue& json) {
  LATHE_ASSIGN_OR_RETURN(int64_t number, json.Integer());
  for (auto [code, dtype] : kDTypes) {
    if (code == number) return dtype;
  }
  return json.Unsupported("unknown dtype number ", number);
}

absl::StatusOr<Device> ReadDevice(const JsonValue& json) {
  LATHE_RETURN_IF_ERROR(json.CheckFields({"type", "index"}));
  LATHE_ASSIGN_OR_RETURN(absl::string_view type, json.StringField("type"));
  int64_t index = 0;
  if (std::optional<JsonValue> i = json.Find("index")) {
    LATHE_ASSIGN_OR_RETURN(index, i->Integer());
  }
  if (type == "cpu") return Device::Cpu();
  if (type != "cuda") return json.Unsupported("the device '", type, "' is not supported");
  if (index < 0 || index > 127) return json.Invalid("there is no cuda device ", index);
  return Device::Cuda(static_cast<int>(index));
}

absl::StatusOr<Layout> ReadLayout(const JsonValue& json) {
  LATHE_ASSIGN_OR_RETURN(int64_t number, json.Integer());
  if (number == 7) return Layout::kStrided;
  if (number == 1) return Layout::kSparseCoo;
  return json.Unsupported("layout number ", number, " is not supported");
}

absl::StatusOr<MemoryFormat> ReadMemoryFormat(const JsonValue& json) {
  LATHE_ASSIGN_OR_RETURN(int64_t number, json.Integer());
  switch (number) {
    case 1:
      return MemoryFormat::kContiguous;
    case 2:
      return MemoryFormat::kChannelsLast;
    case 3:
      return MemoryFormat::kChannelsLast3d;
    case 4:
      return MemoryFormat::kPreserve;
  }
  return json.Unsupported("memory format number ", number, " is not supported");
}

absl::StatusOr<Expr> ReadSymbolic(const JsonValue& json, ExprType kind, Symbols& symbols) {
  LATHE_ASSIGN_OR_RETURN(auto member, json.Union());
  auto& [tag, value] = member;
  if (tag == "as_int") {
    LATHE_ASSIGN_OR_RETURN(int64_t v, value.Integer());
    return Expr(v);
  }
  if (tag == "as_bool") {
    LATHE_ASSIGN_OR_RETURN(bool v, value.Bool());
    return Expr::Bool(v);
  }
  if (tag == "as_float") {
    LATHE_ASSIGN_OR_RETURN(double v, value.Float());
    return Expr::Float(v);
  }
  if (tag != "as_expr") return value.Unsupported("unknown kind of symbolic number");
  LATHE_ASSIGN_OR_RETURN(Expr e, ReadSymExpr(value, symbols));
  LATHE_RETURN_IF_ERROR(CheckNoFloatSymbols(value, e));
  if (kind == ExprType::kFloat && e.type() == ExprType::kInt) e = symbolic::ToFloat(e);
  if (e.type() != kind) return value.Invalid("the expression is not ", KindName(kind));
  return e;
}

absl::StatusOr<TensorType> ReadTensorType(const JsonValue& json, Symbols& symbols) {
  LATHE_RETURN_IF_ERROR(json.CheckFields(
      {"dtype", "sizes", "requires_grad", "device", "strides", "storage_offset", "layout"}));
  TensorType type;
  LATHE_ASSIGN_OR_RETURN(JsonValue dtype, json.Field("dtype"));
  LATHE_ASSIGN_OR_RETURN(type.dtype, ReadDType(dtype));
  LATHE_ASSIGN_OR_RETURN(JsonValue sizes, json.ArrayField("sizes"));
  LATHE_ASSIGN_OR_RETURN(type.sizes, ReadSizes(sizes, symbols, "size"));
  LATHE_ASSIGN_OR_RETURN(JsonValue strides, json.ArrayField("strides"));
  LATHE_ASSIGN_OR_RETURN(type.strides, ReadSizes(strides, symbols, "stride"));
  if (type.strides.size() != type.sizes.size()) {
    return json.Invalid(type.sizes.size(), " sizes, but ", type.strides.size(), " strides");
  }
  LATHE_ASSIGN_OR_RETURN(JsonValue offset, json.Field("storage_offset"));
  LATHE_ASSIGN_OR_RETURN(type.offset, ReadSymbolic(offset, ExprType::kInt, symbols));
  if (type.offset.is_const() && *type.offset.AsInt() < 0) {
    return offset.Invalid("the offset is negative");
  }
  LATHE_ASSIGN_OR_RETURN(JsonValue device, json.Field("device"));
  LATHE_ASSIGN_OR_RETURN(type.device, ReadDevice(device));
  LATHE_ASSIGN_OR_RETURN(JsonValue layout, json.Field("layout"));
  LATHE_ASSIGN_OR_RETURN(Layout read, ReadLayout(layout));
  if (read != Layout::kStrided) return layout.Unsupported("sparse tensors are not supported");
  return type;
}

}  // namespace lathe::pt2
