// A Plan for reading. Registers print as r4, storages as m4, tensors as t4.

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/abi/plan.h"

namespace lathe {
namespace {

std::string Slots(char letter, const std::vector<int32_t>& slots) {
  return absl::StrCat("[",
                      absl::StrJoin(slots, ", ",
                                    [&](std::string* out, int32_t slot) {
                                      slot < 0 ? absl::StrAppend(out, "none")
                                               : absl::StrAppend(out, std::string(1, letter), slot);
                                    }),
                      "]");
}
std::string Tensors(const std::vector<TensorSlot>& slots) { return Slots('t', slots); }
std::string Registers(const std::vector<Register>& slots) { return Slots('r', slots); }
std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::CHexEscape(text), "\"");
}
std::string At(const std::string& node, const std::string& source) {
  if (node.empty() && source.empty()) return "";
  return absl::StrCat("  // ", node, source.empty() ? "" : " at ", absl::CHexEscape(source));
}

std::string Instruction(const SizeInstruction& i) {
  std::string out = absl::StrCat("r", i.dst, " = ", Name(i.op));
  const Register operands[] = {i.a, i.b, i.c};
  for (int k = 0; k < OperandCount(i.op); ++k) {
    absl::StrAppend(&out, k == 0 ? " r" : ", r", operands[k]);
  }
  if (i.op == SizeOp::kConst) absl::StrAppend(&out, " ", i.immediate);
  return out;
}

class Printer {
 public:
  explicit Printer(const Plan& root) : root_(root) {}

  void Print(const Plan& plan, const std::string& indent) {
    indent_ = indent;
    Line("plan: ", plan.register_count, " registers, ", plan.storage_count, " storages, ",
         plan.tensor_count, " tensors");
    for (const PlanInput& input : plan.inputs) Input(input);
    for (size_t k = 0; k < plan.kernels.size(); ++k) {
      Line("kernel ", k, " ", plan.kernels[k].name, " grain ", plan.kernels[k].grain);
    }
    for (const PlanStep& step : plan.steps) {
      std::visit([&](const auto& s) { Step(s); }, step);
    }
    for (size_t k = 0; k < plan.subplans.size(); ++k) {
      indent_ = indent;
      Line("sub-plan ", k, ":");
      Print(plan.subplans[k], indent + "  ");
    }
  }
  std::string Take() { return std::move(out_); }

 private:
  template <typename... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&out_, indent_, parts..., "\n");
  }

  void Input(const PlanInput& input) {
    const char* what = input.is_weight ? "weight " : "input ";
    if (input.is_scalar) return Line(what, Quoted(input.name), " scalar r", input.scalar);
    std::vector<std::string> sizes;
    for (size_t d = 0; d < static_cast<size_t>(input.rank); ++d) {
      const int64_t expected = d < input.expected_sizes.size() ? input.expected_sizes[d] : -1;
      const Register r = d < input.size_registers.size() ? input.size_registers[d] : -1;
      sizes.push_back(expected >= 0 ? absl::StrCat(expected) : r >= 0 ? absl::StrCat("r", r) : "?");
    }
    Line(what, Quoted(input.name), " t", input.tensor, ": ", Name(input.dtype), "[",
         absl::StrJoin(sizes, ", "), "]", input.needs_contiguous ? " contiguous" : "",
         input.memory_order.empty() ? ""
                                    : absl::StrCat(" as ", absl::StrJoin(input.memory_order, ",")),
         input.is_mutated ? " mutated" : "");
  }

  void Step(const EvalStep& s) {
    Line("eval");
    for (const SizeInstruction& i : s.program.code) Line("  ", Instruction(i));
  }
  void Step(const ReserveStep& s) {
    Line("reserve");
    for (const auto& piece : s.pieces) {
      Line("  m", piece.storage, ", r", piece.size_bytes, " bytes, live ", piece.first_step, "..",
           piece.last_step, At(piece.node, ""));
    }
  }
  void Step(const AllocateStep& s) {
    Line("allocate m", s.storage, ", r", s.size_bytes, " bytes", At(s.node, ""));
  }
  void Step(const ViewStep& s) {
    Line("view t", s.tensor, ": ", Name(s.dtype), Registers(s.sizes), " strides ",
         Registers(s.strides), s.offset < 0 ? "" : absl::StrCat(" + r", s.offset), " of ",
         s.storage >= 0 ? absl::StrCat("m", s.storage) : absl::StrCat("t", s.base));
  }
  std::string Launch(const LaunchStep& s) const {
    const auto k = static_cast<size_t>(s.kernel);
    return absl::StrCat(
        k < root_.kernels.size() ? root_.kernels[k].name : "?", Tensors(s.buffers),
        s.offsets.empty() ? "" : absl::StrCat(" + (", absl::StrJoin(s.offsets, ", "), ")"),
        " scalars ", Registers(s.scalars), " extent r", s.extent, At(s.node, ""));
  }
  void Step(const LaunchStep& s) { Line("launch ", Launch(s)); }
  void Step(const ExternStep& s) {
    Line("extern ", s.id, Tensors(s.inputs), " -> ", s.allocates ? "new " : "", Tensors(s.outputs),
         s.attributes.empty() ? "" : " ", absl::CHexEscape(s.attributes),
         s.integers.empty() ? "" : " integers " + Registers(s.integers), At(s.node, s.source));
    for (const LaunchStep& operand : s.operands) {
      Line("  on rows of ", Name(s.operand_dtype), " by ", Launch(operand));
    }
    for (const LaunchStep& epilogue : s.epilogues) Line("  then ", Launch(epilogue));
  }
  void Step(const BindSizeStep& s) {
    Line("bind r", s.target, " = size ", s.dimension, " of t", s.tensor);
  }
  void Step(const BindItemStep& s) { Line("bind r", s.target, " = item of t", s.tensor); }
  void Step(const AssertStep& s) {
    Line("assert r", s.condition, " ", Quoted(s.message), At(s.node, s.source));
  }
  void Step(const CopyStep& s) { Line("copy t", s.destination, " = t", s.source); }
  void Step(const CondStep& s) {
    Line("cond r", s.predicate, " ? ", absl::StrJoin(s.branches, " : "), " ", Tensors(s.inputs),
         Registers(s.scalar_inputs), " -> ", Tensors(s.outputs), At(s.node, s.source));
  }
  void Step(const WhileStep& s) {
    Line("while ", s.condition, " do ", s.body, " ", Tensors(s.carried), Tensors(s.additional),
         Registers(s.scalar_inputs), " -> ", Tensors(s.outputs));
  }
  void Step(const CollectiveStartStep& s) {
    Line("start ", s.op, s.reduce.empty() ? "" : " ", s.reduce, " in ", Quoted(s.group), " ",
         Tensors(s.inputs), " -> ", Tensors(s.outputs), " as ", s.handle);
  }
  void Step(const CollectiveWaitStep& s) { Line("wait ", s.handle); }
  void Step(const OpaqueStep& s) {
    const auto k = static_cast<size_t>(s.callback);
    Line("call ", k < root_.callbacks.size() ? Quoted(root_.callbacks[k]) : "?", Tensors(s.inputs),
         s.integers.empty() ? "" : " integers " + Registers(s.integers), " -> new ",
         Tensors(s.outputs), At(s.node, s.source));
  }
  void Step(const ReturnStep& s) {
    Line("return [",
         absl::StrJoin(
             s.outputs, ", ",
             [](std::string* out, const auto& output) {
               using Kind = ReturnStep::Output::Kind;
               static constexpr const char* kNames[] = {"t", "int r", "float r", "bool r"};
               if (output.kind == Kind::kNone) return absl::StrAppend(out, "none");
               absl::StrAppend(out, kNames[static_cast<size_t>(output.kind)],
                               output.kind == Kind::kTensor ? output.tensor : output.scalar);
             }),
         "]");
  }

  const Plan& root_;
  std::string indent_, out_;
};

}  // namespace

std::string ToString(const Plan& plan) {
  Printer printer(plan);
  printer.Print(plan, "");
  return printer.Take();
}

}  // namespace lathe
