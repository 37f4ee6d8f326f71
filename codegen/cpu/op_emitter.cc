#include "codegen/cpu/op_emitter.h"

#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/loops/affine_index.h"
#include "ir/loops/computed_nan.h"

namespace lathe::cpu {
namespace {

int LaneBytes(DType dtype) { return std::max(1, BitWidth(dtype) / 8); }

bool IsSmallFloat(DType dtype) { return IsFloat(dtype) && BitWidth(dtype) < 32; }

std::string KindName(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return "hn::F16Kind";
    case DType::kBF16:
      return "hn::BF16Kind";
    case DType::kF8E4M3FN:
      return "hn::F8E4M3FNKind";
    case DType::kF8E5M2:
      return "hn::F8E5M2Kind";
    case DType::kF8E4M3FNUZ:
      return "hn::F8E4M3FNUZKind";
    case DType::kF8E5M2FNUZ:
      return "hn::F8E5M2FNUZKind";
    default:
      return "hn::F8E8M0FNUKind";
  }
}

std::string FloatLiteral(double value, DType dtype) {
  const absl::string_view suffix = dtype == DType::kF32 ? "f" : "";
  if (value != value) return absl::StrCat("__builtin_nan", suffix, "(\"\")");
  if (value - value != 0) return absl::StrCat(value < 0 ? "-" : "", "__builtin_inf", suffix, "()");
  return absl::StrCat(absl::StrFormat("%a", value), suffix);
}

std::string IntLiteral(const Scalar& value, DType dtype) {
  if (IsUnsigned(dtype)) return absl::StrCat(value.ToUInt(), "UL");
  const int64_t v = value.ToInt();
  if (v == INT64_MIN) return "(-9223372036854775807L - 1)";
  return absl::StrCat(v, "L");
}

}  // namespace

void HeaderParts::operator|=(const HeaderParts& other) {
  integers |= other.integers;
  small_floats |= other.small_floats;
  sub_byte |= other.sub_byte;
  octets |= other.octets;
  reductions |= other.reductions;
  vector_math |= other.vector_math;
}

absl::string_view LaneType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kI64:
      return "int64_t";
    case DType::kU64:
      return "uint64_t";
    case DType::kI32:
      return "int32_t";
    case DType::kU32:
      return "uint32_t";
    case DType::kI16:
      return "int16_t";
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return "uint16_t";
    default:
      return IsSigned(dtype) ? "int8_t" : "uint8_t";
  }
}

absl::string_view TagName(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16:
      return "u16";
    default:
      if (BitWidth(dtype) > 8) return Name(dtype);
      return IsSigned(dtype) ? "i8" : "u8";
  }
}

OpEmitter::OpEmitter(const KernelSpec& spec, const SpecStage& stage, const StagePlan& plan,
                     SymbolNames names, HeaderParts& parts, std::string& out,
                     const MemoryHints* hints)
    : spec_(spec),
      stage_(stage),
      plan_(plan),
      names_(std::move(names)),
      parts_(parts),
      out_(out),
      hints_(hints),
      mask_bytes_(stage.body.ops.size(), 0),
      computed_nans_(MayBeComputedNan(stage.body.ops)) {}

void OpEmitter::Line(absl::string_view text) {
  absl::StrAppend(&out_, std::string(indent, ' '), text, "\n");
}

std::string OpEmitter::V(int id) const { return absl::StrCat("v", id); }

std::string OpEmitter::Shown(const LoopOp& o, size_t k) {
  const int id = o.operands[k];
  const DType dtype = op(id).dtype;
  if (!computed_nans_[id] || !ShowsBits(o, k, dtype)) return Bytes(id);
  return absl::StrCat("hn::IfThenElse(hn::IsNaN(", V(id), "), hn::Set(", Tag(dtype), ", ",
                      FloatLiteral(std::numeric_limits<double>::quiet_NaN(), dtype), "), ", V(id),
                      ")");
}

std::string OpEmitter::Tag(DType dtype) {
  const std::string name(TagName(dtype));
  tags_.insert(
      absl::StrCat("const hn::FixedTag<", LaneType(dtype), ", ", plan_.lanes, "> ", name, ";"));
  return name;
}

std::string OpEmitter::TagDeclarations() const {
  std::string text;
  for (const std::string& tag : tags_) absl::StrAppend(&text, text.empty() ? "" : " ", tag);
  return text;
}

std::string OpEmitter::MaskAs(int id, int bytes) const {
  if (MaskBytes(id) == bytes) return V(id);
  return absl::StrCat("hn::ResizeMask<", bytes, ">(", V(id), ")");
}

std::string OpEmitter::Bytes(int id) const {
  return op(id).dtype == DType::kBool ? absl::StrCat("hn::BytesFromMask(", V(id), ")") : V(id);
}

absl::Status OpEmitter::Define(int id, absl::string_view text, int mask_bytes) {
  mask_bytes_[id] = mask_bytes;
  Line(absl::StrCat("const auto ", V(id), " = ", text, ";"));
  return absl::OkStatus();
}

void OpEmitter::DefineReduced(int id, absl::string_view text) {
  const bool is_bool = op(id).dtype == DType::kBool;
  (void)Define(id, is_bool ? absl::StrCat("hn::MaskFromBytes(", text, ")") : std::string(text),
               is_bool ? 1 : 0);
}

absl::StatusOr<OpEmitter::Address> OpEmitter::AddressOf(const Expr& index,
                                                        const Scope& scope) const {
  Address at;
  bool by_lane = false;
  SymbolNames lanes = names_;
  for (const auto& [symbol, name] : lane_names_) {
    by_lane |= scope.vector_axis >= 0 && UsesSymbol(index, symbol);
    lanes[symbol] = name;
  }
  if (scope.vector_axis >= 0) {
    const Expr& axis = spec_.axes[scope.vector_axis].symbol;
    const std::optional<Expr> stride = AffineCoefficient(index, axis);
    if (by_lane || !stride || (*stride != Expr(0) && *stride != Expr(1))) {
      at.kind = Address::kLanes;
    } else {
      at.kind = *stride == Expr(1) ? Address::kContiguous : Address::kUniform;
    }
    lanes[axis] = absl::StrCat("(", names_.at(axis), " + l)");
  }
  LATHE_ASSIGN_OR_RETURN(at.lane, ExpressionText(index, lanes));
  if (!by_lane) {
    LATHE_ASSIGN_OR_RETURN(at.first, ExpressionText(index, names_));
  }
  return at;
}

OpEmitter::Address OpEmitter::LocalAddress(BufferId local, const Scope& scope) const {
  Address at;
  for (int axis : spec_.locals[local].axes) {
    const std::string name = names_.at(spec_.axes[axis].symbol);
    const std::string first = axis == 0 ? absl::StrCat("(", name, " - begin)") : name;
    const bool is_vector = axis == scope.vector_axis;
    const std::string lane = is_vector ? absl::StrCat("(", first, " + l)") : first;
    if (is_vector) {
      at.kind = Address::kContiguous;
    } else if (at.kind == Address::kContiguous) {
      at.kind = Address::kLanes;
    }
    const std::string extent = axis == 0 ? "rows" : absl::StrCat("e", axis);
    at.first =
        at.first.empty() ? first : absl::StrCat("(", at.first, " * ", extent, " + ", first, ")");
    at.lane = at.lane.empty() ? lane : absl::StrCat("(", at.lane, " * ", extent, " + ", lane, ")");
  }
  return at;
}

std::string OpEmitter::Active(const std::string& mask, const Scope& scope) const {
  if (scope.count.empty()) return mask;
  return absl::StrCat("hn::And(", mask, ", hn::FirstN(", mask, ", ", scope.count, "))");
}

// `bad`, a mask of `bytes`, where the operation's mask holds and a lane exists.
std::string OpEmitter::Failing(const LoopOp& o, const std::string& bad, int bytes,
                               const Scope& scope) const {
  std::string text = bad;
  if (o.mask != kNoValue) text = absl::StrCat("hn::And(", text, ", ", MaskAs(o.mask, bytes), ")");
  return Active(text, scope);
}

void OpEmitter::ReturnIfAny(int id, const std::string& bad, int code, const std::string& value) {
  Line(absl::StrCat("const auto z", id, " = ", bad, ";"));
  Line(absl::StrCat("if (__builtin_expect(hn::AnyBit(z", id, "), 0)) return hn::FailWith(args, ",
                    code, ", ", value, ", z", id, ");"));
}

absl::Status OpEmitter::Emit(int id, const Scope& scope) {
  switch (op(id).kind) {
    case OpKind::kConstant:
      return Constant(id);
    case OpKind::kIndexExpr:
      return Index(id, scope);
    case OpKind::kLoad:
    case OpKind::kLoadLocal:
      return Load(id, scope);
    case OpKind::kStore:
    case OpKind::kStoreLocal:
      return Store(id, scope);
    case OpKind::kIndirect:
      return Indirect(id, scope);
    case OpKind::kCheck:
      return Check(id, scope);
    case OpKind::kCast:
      return Cast(id, scope);
    case OpKind::kBitCast:
      return BitCast(id);
    case OpKind::kReduce:
      return Internal("kernel: a reduction among plain operations");
    default:
      return Arithmetic(id, scope);
  }
}

absl::Status OpEmitter::Constant(int id) {
  const LoopOp& o = op(id);
  if (o.dtype == DType::kBool) {
    return Define(
        id, absl::StrCat("hn::Set(", Tag(DType::kI8), ", ", o.constant.ToBool() ? "-1" : "0", ")"),
        1);
  }
  std::string literal;
  if (IsSmallFloat(o.dtype)) {
    uint16_t code = 0;
    StoreElement(&code, o.dtype, 0, o.constant);
    literal = absl::StrCat(code);
  } else {
    literal = IsFloat(o.dtype) ? FloatLiteral(o.constant.ToDouble(), o.dtype)
                               : IntLiteral(o.constant, o.dtype);
  }
  return Define(id, absl::StrCat("hn::Set(", Tag(o.dtype), ", ", literal, ")"));
}

absl::Status OpEmitter::Index(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  LATHE_ASSIGN_OR_RETURN(Address at, AddressOf(o.index, scope));
  const bool is_real = o.index.type() == symbolic::ExprType::kFloat;
  // What a lane cannot hold directly is made in i64 or f64 and converted.
  const bool is_direct = (IsInteger(o.dtype) && !IsSubByte(o.dtype) && !is_real) ||
                         o.dtype == DType::kF32 || o.dtype == DType::kF64;
  const DType made = is_direct ? o.dtype : is_real ? DType::kF64 : DType::kI64;
  const std::string tag = Tag(made), type(LaneType(made));
  std::string text;
  std::optional<Expr> stride;
  if (scope.vector_axis >= 0 && !at.first.empty()) {
    stride = AffineCoefficient(o.index, spec_.axes[scope.vector_axis].symbol);
  }
  if (scope.vector_axis < 0) stride = Expr(0);
  if (is_real || !stride) {
    text = at.kind == Address::kUniform
               ? absl::StrCat("hn::Set(", tag, ", static_cast<", type, ">(", at.first, "))")
               : absl::StrCat("hn::FromLanes(", tag, ", ", scope.count,
                              ", [&](int l) { return static_cast<", type, ">(", at.lane, "); })");
  } else {
    LATHE_ASSIGN_OR_RETURN(std::string step, ExpressionText(*stride, names_));
    text = absl::StrCat("hn::Ramp(", tag, ", ", at.first, ", ", step, ")");
  }
  if (is_direct) return Define(id, text);
  Line(absl::StrCat("const auto w", id, " = ", text, ";"));
  LATHE_ASSIGN_OR_RETURN(std::string cast, CastText(absl::StrCat("w", id), made, o.dtype));
  return Define(id, cast, IsBool(o.dtype) ? 8 : 0);
}

std::string OpEmitter::ReadText(DType dtype, const std::string& pointer,
                                const std::string& index) const {
  if (!IsSubByte(dtype)) return absl::StrCat(pointer, "[", index, "]");
  return absl::StrCat("hn::LoadBits<", BitWidth(dtype), ", ", IsSigned(dtype) ? "true" : "false",
                      ">(", pointer, ", ", index, ")");
}

// "4, true": template arguments of functions on packed elements.
std::string OpEmitter::PackedType(DType dtype) {
  return absl::StrCat(BitWidth(dtype), ", ", IsSigned(dtype) ? "true" : "false");
}

absl::StatusOr<std::string> OpEmitter::FirstElement(int id, const Scope& scope) const {
  LATHE_ASSIGN_OR_RETURN(Address at, AddressOf(op(id).index, scope));
  return at.first;
}

absl::Status OpEmitter::DefineOctets(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  parts_.sub_byte = parts_.octets = true;
  LATHE_ASSIGN_OR_RETURN(const std::string first, FirstElement(id, scope));
  const int width = BitWidth(o.dtype);
  Line(absl::StrCat("const uint8_t* const p", id, " = b", o.buffer, " + static_cast<uint64_t>(",
                    first, ") / 8 * ", width, ";"));
  Line(absl::StrCat("hn::Prefetch(p", id, " + ", kPackedAheadBytes, ");"));
  Line(absl::StrCat("const auto o", id, " = hn::Octets<", width, ">(", Tag(DType::kU32), ", p", id,
                    ");"));
  return absl::OkStatus();
}

absl::Status OpEmitter::LoadPacked(int id) {
  const LoopOp& o = op(id);
  const std::string type = PackedType(o.dtype);
  if (packed_ == Packed::kCodes) {
    return Define(id, absl::StrCat("hn::Codes<", type, ">(", Tag(o.dtype), ", from)"));
  }
  Line(absl::StrCat("const auto g", id, " = hn::OctetLanes<", type, ">(o", id, ", k);"));
  return Define(id, absl::StrCat("hn::ConvertTo(", Tag(o.dtype), ", g", id, ")"));
}

absl::Status OpEmitter::Load(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  if (o.kind == OpKind::kLoad && plan_.varies[id] && packed_ != Packed::kElements &&
      IsSubByte(o.dtype)) {
    return LoadPacked(id);
  }
  if (o.kind == OpKind::kLoad) {
    LATHE_ASSIGN_OR_RETURN(Address at, AddressOf(o.index, scope));
    return Read(id, absl::StrCat("b", o.buffer), at, scope);
  }
  if (!spec_.locals[o.buffer].axes.empty()) {
    return Read(id, absl::StrCat("l", o.buffer), LocalAddress(o.buffer, scope), scope);
  }
  std::string text = absl::StrCat("hn::Set(", Tag(o.dtype), ", l", o.buffer, ")");
  if (!IsBool(o.dtype)) return Define(id, text);
  return Define(id, absl::StrCat("hn::MaskFromBytes(", text, ")"), 1);
}

absl::Status OpEmitter::Read(int id, const std::string& pointer, const Address& at,
                             const Scope& scope) {
  const LoopOp& o = op(id);
  const std::string tag = Tag(o.dtype), type(LaneType(o.dtype));
  parts_.sub_byte |= IsSubByte(o.dtype);
  const std::string mask = o.mask == kNoValue ? "" : MaskAs(o.mask, LaneBytes(o.dtype));
  std::string text;
  if (at.kind == Address::kContiguous && !IsSubByte(o.dtype)) {
    text = mask.empty() ? absl::StrCat("hn::LoadN(", tag, ", &", pointer, "[", at.first, "], ",
                                       scope.count, ")")
                        : absl::StrCat("hn::MaskedLoadN(", mask, ", ", tag, ", &", pointer, "[",
                                       at.first, "], ", scope.count, ")");
  } else if (at.kind == Address::kContiguous && mask.empty()) {
    text = absl::StrCat("hn::LoadBitsN<", BitWidth(o.dtype), ", ",
                        IsSigned(o.dtype) ? "true" : "false", ">(", tag, ", ", pointer, ", ",
                        at.first, ", ", scope.count, ")");
  } else if (at.kind == Address::kUniform) {
    const std::string element = ReadText(o.dtype, pointer, at.first);
    text = mask.empty()
               ? absl::StrCat("hn::Set(", tag, ", ", element, ")")
               : absl::StrCat("hn::IfThenElseZero(", mask, ", hn::Set(", tag, ", hn::AnyBit(",
                              Active(mask, scope), ") ? ", element, " : ", type, "()))");
  } else {
    const std::string element = ReadText(o.dtype, pointer, at.lane);
    text = absl::StrCat(
        "hn::FromLanes(", tag, ", ", scope.count, ", [&](int l) -> ", type, " { return ",
        mask.empty() ? element : absl::StrCat(V(o.mask), "[l] ? ", element, " : ", type, "()"),
        "; })");
  }
  if (!IsBool(o.dtype)) return Define(id, text);
  return Define(id, absl::StrCat("hn::MaskFromBytes(", text, ")"), 1);
}

absl::Status OpEmitter::Store(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  if (o.kind == OpKind::kStore) {
    LATHE_ASSIGN_OR_RETURN(Address at, AddressOf(o.index, scope));
    return Write(id, absl::StrCat("b", o.buffer), spec_.buffers[o.buffer].dtype, at, scope);
  }
  const DType dtype = spec_.locals[o.buffer].dtype;
  if (!spec_.locals[o.buffer].axes.empty()) {
    return Write(id, absl::StrCat("l", o.buffer), dtype, LocalAddress(o.buffer, scope), scope);
  }
  Line(absl::StrCat("l", o.buffer, " = ", Bytes(o.operands[0]), "[0];"));
  return absl::OkStatus();
}

// One element, `value` its text: plain or added to what is there.
std::string OpEmitter::WriteText(const LoopOp& o, DType dtype, const std::string& pointer,
                                 const std::string& index, const std::string& value) const {
  const std::string target = absl::StrCat(pointer, "[", index, "]");
  const bool adds = o.kind == OpKind::kStore && o.mode == StoreMode::kAtomicAdd;
  if (IsSubByte(dtype)) {
    const std::string sum =
        adds ? absl::StrCat(ReadText(dtype, pointer, index), " + ", value) : value;
    return absl::StrCat("hn::StoreBits<", BitWidth(dtype), ">(", pointer, ", ", index,
                        ", static_cast<uint8_t>(", sum, "));");
  }
  if (!adds) return absl::StrCat(target, " = ", value, ";");
  if (IsBool(dtype)) return absl::StrCat(target, " |= ", value, ";");
  if (!IsSmallFloat(dtype)) return absl::StrCat(target, " += ", value, ";");
  return absl::StrCat(target, " = hn::AddCodes<", KindName(dtype), ">(", target, ", ", value, ");");
}

absl::Status OpEmitter::Prefetch(int buffer, const Expr& index, const Scope& scope) {
  LATHE_ASSIGN_OR_RETURN(Address at, AddressOf(index, scope));
  if (at.kind != Address::kContiguous) return absl::OkStatus();
  Line(absl::StrCat("if (n.kFull) hn::Prefetch(&b", buffer, "[", at.first, "]);"));
  return absl::OkStatus();
}

absl::Status OpEmitter::Write(int id, const std::string& pointer, DType dtype, const Address& at,
                              const Scope& scope) {
  const LoopOp& o = op(id);
  const bool adds = o.kind == OpKind::kStore && o.mode == StoreMode::kAtomicAdd;
  const std::string tag = Tag(dtype);
  parts_.sub_byte |= IsSubByte(dtype);
  parts_.small_floats |= adds && IsSmallFloat(dtype);
  std::string value = Shown(o, 0);
  if (at.kind == Address::kContiguous && !adds && !IsSubByte(dtype)) {
    const bool streams = hints_ != nullptr && o.kind == OpKind::kStore &&
                         !hints_->stream_bytes[o.buffer].empty() && scope.vector_axis >= 0;
    if (streams) {
      Line(absl::StrCat("hn::StreamN(", value, ", ", tag, ", &", pointer, "[", at.first, "], ",
                        scope.count, ", stream", o.buffer, ");"));
      return absl::OkStatus();
    }
    Line(o.mask == kNoValue
             ? absl::StrCat("hn::StoreN(", value, ", ", tag, ", &", pointer, "[", at.first, "], ",
                            scope.count, ");")
             : absl::StrCat("hn::MaskedStoreN(", value, ", ", MaskAs(o.mask, LaneBytes(dtype)),
                            ", ", tag, ", &", pointer, "[", at.first, "], ", scope.count, ");"));
    return absl::OkStatus();
  }
  if (scope.vector_axis < 0) {
    const std::string condition =
        o.mask == kNoValue ? "" : absl::StrCat("if (", V(o.mask), "[0]) ");
    Line(absl::StrCat(condition,
                      WriteText(o, dtype, pointer, at.first, absl::StrCat(value, "[0]"))));
    return absl::OkStatus();
  }
  Line(absl::StrCat("const auto w", id, " = ", value, ";"));
  const std::string condition = o.mask == kNoValue ? "" : absl::StrCat("if (", V(o.mask), "[l]) ");
  Line(absl::StrCat("hn::ForLanes(", tag, ", ", scope.count, ", [&](int l) { ", condition,
                    WriteText(o, dtype, pointer, at.lane, absl::StrCat("w", id, "[l]")), " });"));
  return absl::OkStatus();
}

// An index that is the same in all lanes, as a number.
absl::Status OpEmitter::IndirectOnce(int id, const std::string& size) {
  const LoopOp& o = op(id);
  // Not "i" and a number: i8, i16, i32 and i64 are the names of types.
  const std::string i = absl::StrCat("given", id), w = absl::StrCat("w", id),
                    t = absl::StrCat("t", id);
  const std::string mask = o.mask == kNoValue ? "" : absl::StrCat(V(o.mask), "[0]");
  Line(absl::StrCat("const int64_t ", i, " = ", Operand(o, 0), "[0];"));
  Line(absl::StrCat("const int64_t ", w, " = ", i, " < 0 ? ", i, " + ", size, " : ", i, ";"));
  Line(absl::StrCat("if (__builtin_expect(", mask, mask.empty() ? "" : " && ", "(", w, " < 0 || ",
                    w, " >= ", size, "), 0)) return hn::FailWith(args, -1, ", i, ");"));
  Line(absl::StrCat("const int64_t ", t, " = ", mask, mask.empty() ? "" : " ? ", w,
                    mask.empty() ? "" : " : 0", ";"));
  names_[o.symbol] = t;
  return Define(id, absl::StrCat("hn::Set(", Tag(DType::kI64), ", ", t, ")"));
}

absl::Status OpEmitter::Indirect(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  LATHE_ASSIGN_OR_RETURN(Address size, AddressOf(o.index, scope));
  if (size.kind != Address::kUniform) {
    return Unimplemented("kernels check an index against a size that varies along the vector");
  }
  const std::string tag = Tag(DType::kI64), v = Operand(o, 0);
  if (!plan_.varies[id]) return IndirectOnce(id, size.first);
  const std::string w = absl::StrCat("w", id),
                    bound = absl::StrCat("hn::Set(", tag, ", ", size.first, ")");
  Line(absl::StrCat("const auto ", w, " = hn::IfThenElse(hn::Lt(", v, ", hn::Zero(", tag, ")), ",
                    "hn::Add(", v, ", ", bound, "), ", v, ");"));
  const std::string outside =
      absl::StrCat("hn::Or(hn::Lt(", w, ", hn::Zero(", tag, ")), hn::Ge(", w, ", ", bound, "))");
  ReturnIfAny(id, Failing(o, outside, 8, scope), -1, v);
  LATHE_RETURN_IF_ERROR(
      Define(id, o.mask == kNoValue
                     ? w
                     : absl::StrCat("hn::IfThenElseZero(", MaskAs(o.mask, 8), ", ", w, ")")));
  if (plan_.varying_symbols.contains(o.symbol)) {
    lane_names_[o.symbol] = absl::StrCat(V(id), "[l]");
  } else {
    names_[o.symbol] = absl::StrCat("t", id);
    Line(absl::StrCat("const int64_t t", id, " = ", V(id), "[0];"));
  }
  return absl::OkStatus();
}

absl::Status OpEmitter::Check(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  const int bytes = MaskBytes(o.operands[0]);
  const std::string condition = Operand(o, 0);
  ReturnIfAny(id, Failing(o, absl::StrCat("hn::Not(", condition, ")"), bytes, scope), 1 + o.error,
              condition);
  return absl::OkStatus();
}

absl::StatusOr<std::string> OpEmitter::CastText(const std::string& v, DType from, DType to) {
  parts_.small_floats |= IsSmallFloat(from) || IsSmallFloat(to);
  if (IsSmallFloat(from)) {
    const std::string wide = absl::StrCat("hn::Decode<", KindName(from), ">(", v, ")");
    return to == DType::kF32 ? wide : CastText(wide, DType::kF32, to);
  }
  if (IsBool(to)) return absl::StrCat("hn::Ne(", v, ", hn::Zero(", Tag(from), "))");
  if (IsSmallFloat(to)) {
    // Integers that f32 holds round once.
    const bool is_exact = IsInteger(from) && BitWidth(from) <= 16;
    const std::string wide = from == DType::kF32 ? v
                             : is_exact
                                 ? absl::StrCat("hn::ConvertTo(", Tag(DType::kF32), ", ", v, ")")
                                 : absl::StrCat("hn::ToOddFloat(", v, ")");
    return absl::StrCat("hn::Encode<", KindName(to), ">(", wide, ")");
  }
  const bool truncates = IsFloat(from) && !IsFloat(to);
  std::string text =
      absl::StrCat(truncates ? "hn::FloatToInt(" : "hn::ConvertTo(", Tag(to), ", ", v, ")");
  if (!IsSubByte(to)) return text;
  parts_.sub_byte = true;
  return absl::StrCat("hn::WrapLanes<", BitWidth(to), ", ", IsSigned(to) ? "true" : "false", ">(",
                      text, ")");
}

// The value of cast `id` to 32 bits, or to a small float, straight from packed elements, without a
// vector of bytes between; "" where it does not come from such a load.
absl::StatusOr<std::string> OpEmitter::PackedWords(int id, const Scope& scope) {
  const DType to = op(id).dtype;
  if (IsSmallFloat(to)) {
    LATHE_ASSIGN_OR_RETURN(const std::string wide, PackedWords(id, DType::kF32, scope));
    if (wide.empty()) return wide;
    parts_.small_floats = true;
    return absl::StrCat("hn::Encode<", KindName(to), ">(", wide, ")");
  }
  return PackedWords(id, to, scope);
}
absl::StatusOr<std::string> OpEmitter::PackedWords(int id, DType to, const Scope& scope) {
  if (to != DType::kF32 && to != DType::kI32 && to != DType::kU32) return "";
  int source = op(id).operands[0];
  // Wider integers hold every value.
  while (op(source).kind == OpKind::kCast && IsInteger(op(source).dtype) &&
         IsSubByte(OperandDType(op(source), 0)) && !IsSubByte(op(source).dtype) &&
         (IsSigned(op(source).dtype) || !IsSigned(OperandDType(op(source), 0)))) {
    source = op(source).operands[0];
  }
  const LoopOp& load = op(source);
  if (load.kind != OpKind::kLoad || !IsSubByte(load.dtype) || load.mask != kNoValue) return "";
  if (plan_.varies[source] && packed_ == Packed::kCodes) return "";
  if (plan_.varies[source] && packed_ == Packed::kOctets) {
    return absl::StrCat("hn::ConvertTo(", Tag(to), ", g", source, ")");
  }
  LATHE_ASSIGN_OR_RETURN(Address at, AddressOf(load.index, scope));
  if (at.kind != Address::kContiguous) return "";
  parts_.sub_byte = true;
  return absl::StrCat("hn::ConvertTo(", Tag(to), ", hn::LoadBitsN<", BitWidth(load.dtype), ", ",
                      IsSigned(load.dtype) ? "true" : "false", ">(", Tag(DType::kI32), ", b",
                      load.buffer, ", ", at.first, ", ", scope.count, "))");
}

absl::Status OpEmitter::Cast(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  const DType from = OperandDType(o, 0);
  LATHE_ASSIGN_OR_RETURN(const std::string packed, PackedWords(id, scope));
  if (!packed.empty()) return Define(id, packed);
  if (from == o.dtype) return Define(id, Operand(o, 0), MaskBytes(o.operands[0]));
  if (IsBool(from)) {
    const int bytes = LaneBytes(o.dtype);
    std::string one = "1";
    if (IsSmallFloat(o.dtype) || IsSubByte(o.dtype)) {
      uint16_t code = 0;
      StoreElement(&code, o.dtype, 0, Scalar(1));
      one = absl::StrCat(o.dtype == DType::kI1 ? "-1" : absl::StrCat(code));
    }
    return Define(id, absl::StrCat("hn::IfThenElseZero(", MaskAs(o.operands[0], bytes),
                                   ", hn::Set(", Tag(o.dtype), ", ", one, "))"));
  }
  LATHE_ASSIGN_OR_RETURN(
      std::string text,
      CastText(ShowsBits(o, 0, from) ? Shown(o, 0) : Operand(o, 0), from, o.dtype));
  const int mask_bytes = !IsBool(o.dtype) ? 0 : IsSmallFloat(from) ? 4 : LaneBytes(from);
  return Define(id, text, mask_bytes);
}

absl::Status OpEmitter::BitCast(int id) {
  const LoopOp& o = op(id);
  if (IsBool(o.dtype)) {
    const std::string tag = Tag(DType::kU8);
    return Define(
        id, absl::StrCat("hn::MaskFromBytes(hn::BitCast(", tag, ", ", Bytes(o.operands[0]), "))"),
        1);
  }
  std::string text = absl::StrCat("hn::BitCast(", Tag(o.dtype), ", ", Shown(o, 0), ")");
  if (IsSubByte(o.dtype)) {
    parts_.sub_byte = true;
    text = absl::StrCat("hn::WrapLanes<", BitWidth(o.dtype), ", ",
                        IsSigned(o.dtype) ? "true" : "false", ">(", text, ")");
  }
  return Define(id, text);
}

}  // namespace lathe::cpu
