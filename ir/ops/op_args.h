#ifndef LATHE_IR_OPS_OP_ARGS_H_
#define LATHE_IR_OPS_OP_ARGS_H_

// ATen schemas, and typed access to the arguments of one call, in schema order with defaults filled
// in.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/graph/graph.h"

namespace lathe {

struct SchemaArgument {
  enum class Type : uint8_t {
    kTensor,
    kTensorList,
    kInt,
    kIntList,
    kFloat,
    kFloatList,
    kBool,
    kBoolList,
    kScalar,
    kScalarList,
    kString,
    kDType,
    kDevice,
    kLayout,
    kMemoryFormat,
    kGraph,
    kAny
  };
  std::string name;
  Type type = Type::kTensor;
  bool optional = false;          // "Tensor?"
  bool list_of_optional = false;  // "Tensor?[]"
  int list_size = 0;              // "int[2]": a lone number stands for that many
  bool keyword_only = false;
  bool is_alias = false;    // "(a)": a result may be a view of it
  bool is_written = false;  // "(a!)"
  bool has_default = false;
  Argument default_value;
};

struct Schema {
  std::string name;  // "aten.add.Tensor" ("aten.relu" for .default)
  std::vector<SchemaArgument> arguments;
  struct Return {
    SchemaArgument::Type type = SchemaArgument::Type::kTensor;
    bool optional = false;
    std::string alias;        // "a" of "Tensor(a)": shares with the argument of that mark
    bool is_written = false;  // "Tensor(a!)": the argument itself
    std::string name;
  };
  std::vector<Return> returns;
  // Index of the argument that return `k` aliases, -1 for none.
  int AliasedArgument(int k) const;
  std::vector<std::string> alias_marks;  // of each argument, "" for none
};

// Reads "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
// InvalidArgument with the column.
absl::StatusOr<Schema> ParseSchema(absl::string_view text);

// Positional and named arguments into schema order, defaults filled in, lone ints widened to lists.
// InvalidArgument naming the argument that is missing, unknown, given twice, or of a wrong kind.
absl::StatusOr<std::vector<Argument>> BindArguments(const Schema& schema,
                                                    std::vector<Argument> arguments,
                                                    const std::vector<std::string>& names);

// Typed reading of bound arguments. The kind of each was checked by BindArguments; asking for
// another kind is a fault of the row (LATHE_CHECK). So is asking for a number that only a run knows
// (the float s0 / 2), except through Refusing.
class OpArgs {
 public:
  OpArgs(const Schema& schema, absl::Span<const Argument> arguments)
      : schema_(&schema), arguments_(arguments) {}
  // The same arguments for a rule that may ask for numbers which only a run knows: `refusal` then
  // names the argument, and the rule goes on with 1. Rules of a registry are called so.
  OpArgs Refusing(absl::Status* refusal) const;
  const Schema& schema() const { return *schema_; }
  int size() const { return static_cast<int>(arguments_.size()); }
  const Argument& operator[](int i) const { return arguments_[i]; }
  bool IsNone(int i) const { return arguments_[i].is_none(); }
  Value* Tensor(int i) const;          // LATHE_CHECK: present
  Value* OptionalTensor(int i) const;  // nullptr for none
  const TensorType& Type(int i) const { return Tensor(i)->type.tensor(); }
  std::vector<Value*> Tensors(int i) const;  // nullptr for none elements
  Expr Int(int i) const;
  std::optional<Expr> OptionalInt(int i) const;
  std::vector<Expr> Ints(int i) const;  // a symbolic value inside is read as its Expr
  std::optional<std::vector<Expr>> OptionalInts(int i) const;
  // Ints that must be constants (dims): InvalidArgument naming the argument otherwise.
  absl::StatusOr<int64_t> ConstantInt(int i) const;
  absl::StatusOr<std::vector<int64_t>> ConstantInts(int i) const;
  bool Bool(int i) const;
  double Float(int i) const;
  std::optional<double> OptionalFloat(int i) const;
  // A Scalar argument; a symbolic number has no Scalar: see ScalarExpr.
  Scalar Number(int i) const;
  std::vector<Scalar> Numbers(int i) const;     // of a list; empty for none
  std::optional<Expr> ScalarExpr(int i) const;  // the expression when it is a symbolic number
  const std::string& String(int i) const;
  std::optional<DType> OptionalDType(int i) const;
  std::optional<Device> OptionalDevice(int i) const;
  std::optional<MemoryFormat> OptionalMemoryFormat(int i) const;

 private:
  Scalar Constant(int i, const Argument& argument) const;  // argument i, or an element of it

  const Schema* schema_;
  absl::Span<const Argument> arguments_;
  absl::Status* refusal_ = nullptr;
};

// `dim` wrapped into [0, rank). OutOfRange in eager's words. A 0-dim tensor counts as rank 1.
absl::StatusOr<int> WrapDim(int64_t dim, int rank);

}  // namespace lathe

#endif  // LATHE_IR_OPS_OP_ARGS_H_
