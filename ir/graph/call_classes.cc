#include "ir/graph/call_classes.h"

#include <bit>
#include <cstring>

namespace lathe {

void CallWords::Add(const Expr& e) {
  constexpr int64_t kSmall = int64_t{1} << 61;
  if (!e.is_const()) {
    // Aligned, so never odd and never 2.
    Add(reinterpret_cast<uint64_t>(e.node()));
    if (const std::optional<bool> truth = e.AsBool()) Add(uint64_t{*truth});
    if (e.kind() == symbolic::ExprKind::kFloatConst) Add(std::bit_cast<uint64_t>(*e.AsFloat()));
    return;
  }
  const int64_t value = *e.AsInt();
  if (-kSmall < value && value < kSmall) return Add(static_cast<uint64_t>(value) * 2 + 1);
  Add(uint64_t{2});
  Add(static_cast<uint64_t>(value));
}

void CallWords::Add(const ValueType& type) {
  Add(uint64_t{type.index()});
  if (type.is_tensor()) {
    const TensorType& t = type.tensor();
    Add(static_cast<uint64_t>(t.dtype) << 40 ^ static_cast<uint64_t>(t.device.type) << 32 ^
        static_cast<uint32_t>(t.device.index));
    Add(t.sizes.size());
    for (const Expr& size : t.sizes) Add(size);
    for (const Expr& stride : t.strides) Add(stride);
    Add(t.offset);
  } else if (type.is_scalar()) {
    Add(static_cast<uint64_t>(type.scalar().kind));
    Add(type.scalar().value);
  } else if (type.is_list()) {
    Add(type.list().elements.size());
    for (const ValueType& element : type.list().elements) Add(element);
  }
}

void CallWords::AddText(absl::string_view text) {
  Add(text.size());
  for (size_t k = 0; k < text.size(); k += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + k, std::min<size_t>(8, text.size() - k));
    Add(word);
  }
}

bool CallWords::Add(const Argument& argument) {
  Add(static_cast<uint64_t>(argument.kind()));
  switch (argument.kind()) {
    case Argument::Kind::kNone:
      return true;
    case Argument::Kind::kValue:
      Add(argument.value()->type);
      return true;
    case Argument::Kind::kInt:
      Add(argument.expr());
      return true;
    case Argument::Kind::kBool:
      Add(uint64_t{argument.boolean()});
      return true;
    case Argument::Kind::kScalar: {
      const Scalar& number = argument.number();
      Add(static_cast<uint64_t>(number.kind()));
      const std::complex<double> z = number.ToComplex();
      Add(number.is_int() ? number.ToUInt() : std::bit_cast<uint64_t>(z.real()));
      if (number.is_complex()) Add(std::bit_cast<uint64_t>(z.imag()));
      return true;
    }
    case Argument::Kind::kString:
      AddText(argument.string());
      return true;
    case Argument::Kind::kDType:
      Add(static_cast<uint64_t>(argument.dtype()));
      return true;
    case Argument::Kind::kDevice:
      Add(static_cast<uint64_t>(argument.device().type));
      Add(static_cast<uint64_t>(argument.device().index));
      return true;
    case Argument::Kind::kLayout:
      Add(static_cast<uint64_t>(argument.layout()));
      return true;
    case Argument::Kind::kMemoryFormat:
      Add(static_cast<uint64_t>(argument.memory_format()));
      return true;
    case Argument::Kind::kList:
      Add(argument.list().size());
      for (const Argument& item : argument.list()) {
        if (!Add(item)) return false;
      }
      return true;
    case Argument::Kind::kGraph:
    case Argument::Kind::kTensor:
      return false;
  }
  return false;
}

std::optional<int> CallClasses::Of(const OpRow* row, absl::Span<const Argument> arguments) {
  words_.clear();
  words_.Add(reinterpret_cast<uint64_t>(row));
  words_.Add(arguments.size());
  for (const Argument& argument : arguments) {
    if (!words_.Add(argument)) return std::nullopt;
  }
  return classes_.Of(words_);
}

}  // namespace lathe
