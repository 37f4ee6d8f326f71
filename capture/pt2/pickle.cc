#include "capture/pt2/pickle.h"

#include <cstring>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

// What a name in the stream ("torch FloatStorage") means here.
enum class Global : uint8_t { kOrderedDict, kRebuildTensor, kRebuildParameter, kStorage };

struct KnownGlobal {
  absl::string_view name;
  Global global;
  DType dtype = DType::kU8;  // of a storage class
};

constexpr KnownGlobal kGlobals[] = {
    {"collections OrderedDict", Global::kOrderedDict},
    {"torch._utils _rebuild_tensor_v2", Global::kRebuildTensor},
    {"torch._utils _rebuild_parameter", Global::kRebuildParameter},
    {"torch FloatStorage", Global::kStorage, DType::kF32},
    {"torch DoubleStorage", Global::kStorage, DType::kF64},
    {"torch HalfStorage", Global::kStorage, DType::kF16},
    {"torch BFloat16Storage", Global::kStorage, DType::kBF16},
    {"torch LongStorage", Global::kStorage, DType::kI64},
    {"torch IntStorage", Global::kStorage, DType::kI32},
    {"torch ShortStorage", Global::kStorage, DType::kI16},
    {"torch CharStorage", Global::kStorage, DType::kI8},
    {"torch ByteStorage", Global::kStorage, DType::kU8},
    {"torch BoolStorage", Global::kStorage, DType::kBool},
    {"torch ComplexFloatStorage", Global::kStorage, DType::kC64},
    {"torch ComplexDoubleStorage", Global::kStorage, DType::kC128},
};

// Objects live in an arena and name each other by number, so sharing costs nothing and a cycle does
// no harm.
using Id = int;
struct Object {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kString,
    kTuple,
    kDict,
    kGlobal,
    kStorage,
    kTensor
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;    // kInt, kBool; kGlobal: index in kGlobals
  std::string text;       // kString
  std::vector<Id> items;  // kTuple; kDict: keys and values in turn
  PickledTensor tensor;   // kTensor; kStorage: its key, dtype and element count
};
using Kind = Object::Kind;

class Machine {
 public:
  explicit Machine(absl::string_view input) : input_(input), whole_(input.size()) {}
  absl::StatusOr<Id> Run();
  const Object& object(Id id) const { return objects_[id]; }

 private:
  template <typename... Parts>
  absl::Status Error(const Parts&... parts) const {
    return InvalidArgument("pickle, byte ", whole_ - input_.size(), ": ", parts...);
  }
  absl::StatusOr<absl::string_view> Take(size_t count);
  template <typename T>
  absl::StatusOr<T> TakeNumber();
  absl::StatusOr<absl::string_view> TakeLine();
  absl::Status Step(uint8_t opcode);
  absl::Status StepNumber(uint8_t opcode);
  absl::Status StepMemo(uint8_t opcode);
  absl::Status StepContainer(uint8_t opcode);

  Id Make(Object object) {
    objects_.push_back(std::move(object));
    return static_cast<Id>(objects_.size()) - 1;
  }
  absl::Status Push(Object object) {
    stack_.push_back(Make(std::move(object)));
    return absl::OkStatus();
  }
  absl::Status PushInt(int64_t value) {
    Object o;
    o.kind = Kind::kInt;
    o.integer = value;
    return Push(std::move(o));
  }
  absl::StatusOr<Id> Pop();
  absl::StatusOr<std::vector<Id>> PopToMark();
  absl::Status PushTuple(std::vector<Id> items);
  absl::Status SetItems(const std::vector<Id>& items);
  absl::Status PushGlobal();
  absl::Status PushPersistent();
  absl::Status Reduce();
  absl::Status RebuildTensor(const std::vector<Id>& arguments);
  absl::StatusOr<Dims> Integers(Id id) const;

  absl::string_view input_;
  size_t whole_;
  std::vector<Object> objects_;
  std::vector<Id> stack_;
  std::vector<size_t> marks_;  // stack heights
  absl::flat_hash_map<uint32_t, Id> memo_;
};

absl::StatusOr<absl::string_view> Machine::Take(size_t count) {
  if (count > input_.size()) return Error("cut short");
  absl::string_view taken = input_.substr(0, count);
  input_.remove_prefix(count);
  return taken;
}

template <typename T>
absl::StatusOr<T> Machine::TakeNumber() {
  LATHE_ASSIGN_OR_RETURN(absl::string_view bytes, Take(sizeof(T)));
  T value;
  memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

absl::StatusOr<absl::string_view> Machine::TakeLine() {
  size_t end = input_.find('\n');
  if (end == absl::string_view::npos) return Error("cut short");
  absl::string_view line = input_.substr(0, end);
  input_.remove_prefix(end + 1);
  return line;
}

absl::StatusOr<Id> Machine::Pop() {
  size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) return Error("the stack is empty");
  Id id = stack_.back();
  stack_.pop_back();
  return id;
}

absl::StatusOr<std::vector<Id>> Machine::PopToMark() {
  if (marks_.empty()) return Error("no mark on the stack");
  std::vector<Id> items(stack_.begin() + static_cast<int64_t>(marks_.back()), stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return items;
}

absl::Status Machine::PushTuple(std::vector<Id> items) {
  Object o;
  o.kind = Kind::kTuple;
  o.items = std::move(items);
  return Push(std::move(o));
}

absl::Status Machine::SetItems(const std::vector<Id>& items) {
  LATHE_ASSIGN_OR_RETURN(Id target, Pop());
  stack_.push_back(target);
  if (objects_[target].kind != Kind::kDict) return Error("items set on what is not a dictionary");
  if (items.size() % 2 != 0) return Error("a key without a value");
  for (Id id : items) objects_[target].items.push_back(id);
  return absl::OkStatus();
}

absl::Status Machine::PushGlobal() {
  LATHE_ASSIGN_OR_RETURN(absl::string_view module, TakeLine());
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, TakeLine());
  std::string full = absl::StrCat(module, " ", name);
  for (size_t k = 0; k < std::size(kGlobals); ++k) {
    if (kGlobals[k].name != full) continue;
    Object o;
    o.kind = Kind::kGlobal;
    o.integer = static_cast<int64_t>(k);
    return Push(std::move(o));
  }
  return Unimplemented("pickle: the name '", absl::CHexEscape(module), ".", absl::CHexEscape(name),
                       "' is not one that lathe reads");
}

// ("storage", class, key, location, element count)
absl::Status Machine::PushPersistent() {
  LATHE_ASSIGN_OR_RETURN(Id id, Pop());
  const std::vector<Id> items = objects_[id].items;
  if (objects_[id].kind != Kind::kTuple || items.size() != 5) return Error("not a storage");
  const Object &tag = objects_[items[0]], &type = objects_[items[1]], &key = objects_[items[2]],
               &count = objects_[items[4]];
  bool fits = tag.kind == Kind::kString && tag.text == "storage" && type.kind == Kind::kGlobal &&
              kGlobals[type.integer].global == Global::kStorage && key.kind == Kind::kString &&
              count.kind == Kind::kInt && count.integer >= 0;
  if (!fits) return Error("not a storage");
  Object o;
  o.kind = Kind::kStorage;
  o.tensor.storage_key = key.text;
  o.tensor.dtype = kGlobals[type.integer].dtype;
  o.tensor.storage_elements = count.integer;
  return Push(std::move(o));
}

absl::StatusOr<Dims> Machine::Integers(Id id) const {
  if (objects_[id].kind != Kind::kTuple) return Error("expected a tuple of integers");
  std::vector<int64_t> values;
  for (Id item : objects_[id].items) {
    if (objects_[item].kind != Kind::kInt) return Error("expected a tuple of integers");
    values.push_back(objects_[item].integer);
  }
  return Dims(values);
}

// (storage, offset, sizes, strides, requires_grad, hooks)
absl::Status Machine::RebuildTensor(const std::vector<Id>& arguments) {
  if (arguments.size() < 4 || objects_[arguments[0]].kind != Kind::kStorage ||
      objects_[arguments[1]].kind != Kind::kInt) {
    return Error("a tensor's arguments are damaged");
  }
  if (arguments.size() > 6) {
    return Unimplemented("pickle: a tensor with metadata is not read");
  }
  Object o;
  o.kind = Kind::kTensor;
  o.tensor = objects_[arguments[0]].tensor;
  o.tensor.offset = objects_[arguments[1]].integer;
  LATHE_ASSIGN_OR_RETURN(o.tensor.sizes, Integers(arguments[2]));
  LATHE_ASSIGN_OR_RETURN(o.tensor.strides, Integers(arguments[3]));
  return Push(std::move(o));
}

absl::Status Machine::Reduce() {
  LATHE_ASSIGN_OR_RETURN(Id arguments_id, Pop());
  LATHE_ASSIGN_OR_RETURN(Id function, Pop());
  if (objects_[function].kind != Kind::kGlobal || objects_[arguments_id].kind != Kind::kTuple) {
    return Error("a call of what is not a known name");
  }
  const std::vector<Id> arguments = objects_[arguments_id].items;
  const KnownGlobal& known = kGlobals[objects_[function].integer];
  switch (known.global) {
    case Global::kOrderedDict: {
      if (!arguments.empty()) return Error("OrderedDict with arguments");
      Object o;
      o.kind = Kind::kDict;
      return Push(std::move(o));
    }
    case Global::kRebuildTensor:
      return RebuildTensor(arguments);
    case Global::kRebuildParameter:  // (tensor, requires_grad, hooks)
      if (arguments.empty() || objects_[arguments[0]].kind != Kind::kTensor) {
        return Error("a parameter's arguments are damaged");
      }
      stack_.push_back(arguments[0]);
      return absl::OkStatus();
    case Global::kStorage:
      break;
  }
  return Error("a call of ", known.name);
}

absl::Status Machine::StepNumber(uint8_t opcode) {
  switch (opcode) {
    case 'K': {  // BININT1
      LATHE_ASSIGN_OR_RETURN(uint8_t v, TakeNumber<uint8_t>());
      return PushInt(v);
    }
    case 'M': {  // BININT2
      LATHE_ASSIGN_OR_RETURN(uint16_t v, TakeNumber<uint16_t>());
      return PushInt(v);
    }
    case 'J': {  // BININT
      LATHE_ASSIGN_OR_RETURN(int32_t v, TakeNumber<int32_t>());
      return PushInt(v);
    }
    default: {  // LONG1: little-endian two's complement of a given length
      LATHE_ASSIGN_OR_RETURN(uint8_t count, TakeNumber<uint8_t>());
      LATHE_ASSIGN_OR_RETURN(absl::string_view bytes, Take(count));
      if (count > 8) return Error("an integer of more than 64 bits");
      int64_t value = count > 0 && static_cast<int8_t>(bytes.back()) < 0 ? -1 : 0;
      memcpy(&value, bytes.data(), bytes.size());
      return PushInt(value);
    }
  }
}

absl::Status Machine::StepMemo(uint8_t opcode) {
  bool is_long = opcode == 'r' || opcode == 'j';
  uint32_t index = 0;
  if (is_long) {
    LATHE_ASSIGN_OR_RETURN(index, TakeNumber<uint32_t>());
  } else {
    LATHE_ASSIGN_OR_RETURN(index, TakeNumber<uint8_t>());
  }
  if (opcode == 'q' || opcode == 'r') {  // BINPUT, LONG_BINPUT
    LATHE_ASSIGN_OR_RETURN(Id id, Pop());
    stack_.push_back(id);
    memo_[index] = id;
    return absl::OkStatus();
  }
  auto it = memo_.find(index);  // BINGET, LONG_BINGET
  if (it == memo_.end()) return Error("memo ", index, " is not set");
  stack_.push_back(it->second);
  return absl::OkStatus();
}

absl::Status Machine::StepContainer(uint8_t opcode) {
  switch (opcode) {
    case '}': {  // EMPTY_DICT
      Object o;
      o.kind = Kind::kDict;
      return Push(std::move(o));
    }
    case ')':  // EMPTY_TUPLE
      return PushTuple({});
    case 't': {  // TUPLE
      LATHE_ASSIGN_OR_RETURN(std::vector<Id> items, PopToMark());
      return PushTuple(std::move(items));
    }
    case 0x85:  // TUPLE1, TUPLE2, TUPLE3
    case 0x86:
    case 0x87: {
      std::vector<Id> items(opcode - 0x84);
      for (size_t k = items.size(); k-- > 0;) {
        LATHE_ASSIGN_OR_RETURN(items[k], Pop());
      }
      return PushTuple(std::move(items));
    }
    case 's': {  // SETITEM
      LATHE_ASSIGN_OR_RETURN(Id value, Pop());
      LATHE_ASSIGN_OR_RETURN(Id key, Pop());
      return SetItems({key, value});
    }
    default: {  // SETITEMS
      LATHE_ASSIGN_OR_RETURN(std::vector<Id> items, PopToMark());
      return SetItems(items);
    }
  }
}

absl::Status Machine::Step(uint8_t opcode) {
  switch (opcode) {
    case 0x80: {  // PROTO
      LATHE_ASSIGN_OR_RETURN(uint8_t version, TakeNumber<uint8_t>());
      if (version == 2) return absl::OkStatus();
      return Unimplemented("pickle: protocol ", version, "; lathe reads 2");
    }
    case '(':  // MARK
      marks_.push_back(stack_.size());
      return absl::OkStatus();
    case 'N':
      return Push(Object());
    case 0x88:
    case 0x89: {  // NEWTRUE, NEWFALSE
      Object o;
      o.kind = Kind::kBool;
      o.integer = opcode == 0x88;
      return Push(std::move(o));
    }
    case 'K':
    case 'M':
    case 'J':
    case 0x8a:
      return StepNumber(opcode);
    case 'X': {  // BINUNICODE
      LATHE_ASSIGN_OR_RETURN(uint32_t count, TakeNumber<uint32_t>());
      LATHE_ASSIGN_OR_RETURN(absl::string_view text, Take(count));
      Object o;
      o.kind = Kind::kString;
      o.text = std::string(text);
      return Push(std::move(o));
    }
    case 'q':
    case 'r':
    case 'h':
    case 'j':
      return StepMemo(opcode);
    case '}':
    case ')':
    case 't':
    case 0x85:
    case 0x86:
    case 0x87:
    case 's':
    case 'u':
      return StepContainer(opcode);
    case 'c':
      return PushGlobal();
    case 'Q':
      return PushPersistent();
    case 'R':
      return Reduce();
    case 'b': {  // BUILD: attributes of a dictionary, such as a state dict's _metadata
      LATHE_RETURN_IF_ERROR(Pop().status());
      LATHE_ASSIGN_OR_RETURN(Id target, Pop());
      stack_.push_back(target);
      if (objects_[target].kind == Kind::kDict) return absl::OkStatus();
      return Error("attributes set on what is not a dictionary");
    }
    default:
      return Unimplemented("pickle: opcode 0x", absl::Hex(opcode, absl::kZeroPad2),
                           " is not one that lathe reads");
  }
}

absl::StatusOr<Id> Machine::Run() {
  while (true) {
    LATHE_ASSIGN_OR_RETURN(uint8_t opcode, TakeNumber<uint8_t>());
    if (opcode == '.') return Pop();  // STOP
    LATHE_RETURN_IF_ERROR(Step(opcode));
  }
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, PickledTensor>>> ReadTensorDict(
    absl::string_view pickle) {
  Machine machine(pickle);
  LATHE_ASSIGN_OR_RETURN(Id top, machine.Run());
  const Object& dict = machine.object(top);
  if (dict.kind != Kind::kDict) return InvalidArgument("pickle: not a dictionary of tensors");
  std::vector<std::pair<std::string, PickledTensor>> tensors;
  for (size_t k = 0; k + 1 < dict.items.size(); k += 2) {
    const Object &key = machine.object(dict.items[k]), &value = machine.object(dict.items[k + 1]);
    if (key.kind != Kind::kString) return InvalidArgument("pickle: a key that is not a string");
    if (value.kind != Kind::kTensor) {
      return Unimplemented("pickle: '", absl::CHexEscape(key.text), "' is not a tensor");
    }
    tensors.emplace_back(key.text, value.tensor);
  }
  return tensors;
}

}  // namespace lathe::pt2
