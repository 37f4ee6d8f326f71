#include "compiler.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "capture/pt2/load_pt2.h"
#include "codegen/cache/kernel_cache.h"
#include "codegen/cpu/emit.h"
#include "codegen/plan/emit_plan.h"
#include "codegen/plan/memory_report.h"
#include "codegen/tile/tile.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/base/trace.h"
#include "ir/loops/target.h"
#include "ir/ops/host_call.h"
#include "ir/passes/pipeline.h"
#include "ir/reference/evaluator.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "symbolic/evaluate.h"

namespace lathe {

absl::string_view TierName(Tier tier) {
  switch (tier) {
    case Tier::kAuto:
      return "auto";
    case Tier::kTile:
      return "tile";
    case Tier::kNative:
      return "native";
    case Tier::kReference:
      return "reference";
  }
  LATHE_UNREACHABLE();
}

struct Executable::Impl {
  CompileOptions options;
  Program source;   // as given: what the reference tier runs
  Program program;  // after the passes
  EmittedPlan emitted;
  CompileReport report;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<LoadedPlan> loaded;
  std::thread background;  // compiles native kernels for tier auto
  ~Impl() {
    if (background.joinable()) background.join();
  }
};

namespace {

class PhaseTimer {
 public:
  PhaseTimer(CompileReport& report, std::string name)
      : report_(report), name_(std::move(name)), trace_(name_) {}
  ~PhaseTimer() {
    report_.seconds[name_] +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  CompileReport& report_;
  std::string name_;
  TracePhase trace_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A private copy of the program: passes rewrite its graph.
Program CopyOf(const Program& program) {
  Program copy = program;
  copy.main = program.main->Clone();
  return copy;
}

// Text may name operators that the table lacks; here they are all reported at once.
absl::Status ResolveRest(Program* program, const OpRegistry& registry) {
  for (const Node* node = program->main->first(); node != nullptr; node = node->next) {
    if (node->row != nullptr) continue;
    *program = CopyOf(*program);
    return ResolveGraph(*program->main, registry);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  if (path == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return InvalidArgument(path, " is a directory, not a program");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read ", path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What a message about the text says first.
std::string PlaceOf(const std::string& path) {
  if (path == "-") return "stdin";
  return absl::EndsWith(path, ".lathe") ? path
                                        : absl::StrCat(path, " (read as text, as all but .pt2 is)");
}

// A text file names its archive relative to itself.
std::string ArchivePath(const std::string& text_path, const std::string& archive) {
  const size_t slash = text_path.rfind('/');
  if (archive[0] == '/' || slash == std::string::npos) return archive;
  return text_path.substr(0, slash + 1) + archive;
}

// ---- Callbacks: nodes that run by their reference evaluation ----

// Operands of a node in the order in which the plan passes them.
std::vector<const Value*> TensorOperands(const Node& node) {
  std::vector<const Value*> operands;
  for (const Argument& argument : node.arguments) {
    argument.ForEachValue([&](Value* value) {
      if (value->type.is_tensor()) operands.push_back(value);
    });
  }
  return operands;
}

OpaqueFunction CallbackOf(const PlanCallback& callback) {
  const Node* node = callback.node;
  return [node, operands = TensorOperands(*node), integers = callback.integers](
             absl::Span<const Tensor> inputs, absl::Span<const int64_t> numbers,
             std::vector<Tensor>* outputs) -> absl::Status {
    HostEnvironment environment;
    for (size_t k = 0; k < operands.size(); ++k) environment.values[operands[k]] = inputs[k];
    for (size_t k = 0; k < integers.size(); ++k) environment.symbols[integers[k]] = numbers[k];
    LATHE_RETURN_IF_ERROR(RunNode(*node, environment, nullptr));
    for (const Value* result : node->results) {
      outputs->push_back(environment.values.at(result).tensor());
    }
    return absl::OkStatus();
  };
}

// ---- Reports ----
void CountSteps(const Plan& plan, CompileReport* report) {
  for (const PlanStep& step : plan.steps) {
    report->kernels += std::holds_alternative<LaunchStep>(step);
    report->opaque_calls += std::holds_alternative<OpaqueStep>(step);
    if (const auto* call = std::get_if<ExternStep>(&step)) {
      ++report->externs;
      report->kernels += static_cast<int64_t>(call->epilogues.size() + call->operands.size());
    }
  }
  for (const Plan& subplan : plan.subplans) CountSteps(subplan, report);
}

absl::Status Fall(const CompileOptions& options, CompileReport* report, std::string line) {
  if (options.strict) return Unimplemented(line, " (an error because of --strict)");
  report->fallbacks.push_back(std::move(line));
  return absl::OkStatus();
}

absl::Status ReportOpaqueCalls(const EmittedPlan& emitted, const CompileOptions& options,
                               CompileReport* report) {
  for (const PlanCallback& callback : emitted.callbacks) {
    LATHE_RETURN_IF_ERROR(Fall(
        options, report,
        absl::StrCat(callback.node->op, " runs by its reference evaluation: ", callback.reason)));
  }
  return absl::OkStatus();
}

std::string KernelText(const EmittedPlan& emitted) {
  std::string text;
  for (const KernelSpec& spec : emitted.kernels) absl::StrAppend(&text, ToString(spec), "\n");
  return text;
}

absl::StatusOr<std::string> CodeText(const EmittedPlan& emitted) {
  std::string text;
  for (const KernelSpec& spec : emitted.kernels) {
    LATHE_ASSIGN_OR_RETURN(std::string code, cpu::EmitCpp(spec, HostTarget()));
    absl::StrAppend(&text, code, "\n");
  }
  return text;
}

std::string ScheduleText(const EmittedPlan& emitted) {
  std::string text;
  for (const Schedule& schedule : emitted.schedules) text += ToString(schedule);
  return text;
}

// What the arena of one call would be.
std::string MemoryText(const Executable::Impl& impl) {
  const absl::StatusOr<MemoryReport> report = ReportMemory(impl.emitted.plan, impl.program);
  return report.ok() ? ToString(*report) : absl::StrCat(report.status().message(), "\n");
}

std::string JsonText(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "\"";
}

// What the inputs must meet: ranges of symbols and preconditions.
std::string GuardsJson(const Program& program) {
  std::vector<std::string> guards;
  for (const Expr& symbol : program.shapes->symbols()) {
    const symbolic::Range range = program.shapes->RangeOf(symbol);
    guards.push_back(absl::StrCat(range.lower, " <= ", symbol.symbol_name(), " <= ", range.upper));
  }
  for (const Expr& condition : program.main->preconditions()) {
    guards.push_back(symbolic::ToString(condition));
  }
  std::string json = "[";
  for (const std::string& guard : guards) {
    absl::StrAppend(&json, json.size() > 1 ? ", " : "", "{\"code\": ", JsonText(guard), "}");
  }
  return json + "]";
}

// Totals of one compilation, after everything else.
void TraceMetrics(const Executable::Impl& impl) {
  TraceSink* trace = ActiveTrace();
  if (trace == nullptr) return;
  double total = 0;
  for (const auto& [phase, seconds] : impl.report.seconds) total += seconds;
  trace->Record(
      "compilation_metrics",
      absl::StrCat("{\"co_name\": ", JsonText(impl.program.main->name()),
                   ", \"co_filename\": ", JsonText(impl.program.archive),
                   ", \"co_firstlineno\": 0, \"graph_node_count\": ", impl.report.nodes_imported,
                   ", \"graph_op_count\": ", impl.report.nodes_compiled,
                   ", \"graph_input_count\": ", impl.program.main->inputs().size(),
                   ", \"guard_count\": ", impl.program.main->preconditions().size(),
                   ", \"entire_frame_compile_time_s\": ", total, "}"),
      "");
}

void TraceCompilation(const Executable::Impl& impl) {
  TraceSink* trace = ActiveTrace();
  if (trace == nullptr) return;
  trace->Record("exported_program", "{}", PrintProgram(impl.source));  // for tlparse --export
  trace->Artifact("exported_program", "string", PrintProgram(impl.source));
  trace->Record("dynamo_guards", "{}", GuardsJson(impl.program));
  trace->Record("inductor_post_grad_graph", "{}", PrintProgram(impl.program));
  trace->Artifact("lathe_schedule", "string", ScheduleText(impl.emitted));
  trace->Artifact("lathe_plan", "string", ToString(impl.emitted.plan));
  trace->Artifact("lathe_memory", "string", MemoryText(impl));
  trace->Record("inductor_output_code", "{\"filename\": \"kernels\"}", KernelText(impl.emitted));
}

// ---- Kernels ----
absl::Status CompileTiles(const EmittedPlan& emitted, int largest_tile,
                          std::vector<std::shared_ptr<const Kernel>>* kernels) {
  absl::flat_hash_map<std::string, std::shared_ptr<const Kernel>> by_name;
  for (const KernelSpec& spec : emitted.kernels) {
    std::shared_ptr<const Kernel>& kernel = by_name[spec.name];
    if (kernel == nullptr) {
      LATHE_ASSIGN_OR_RETURN(kernel, CompileTile(spec, largest_tile));
    }
    kernels->push_back(kernel);
  }
  return absl::OkStatus();
}

void NoteNative(const NativeReport& native, CompileReport* report) {
  report->deduplicated = native.deduplicated;
  report->cache_hits = native.memory_hits + native.disk_hits;
  report->compiled = native.compiled;
  if (!native.cache_problem.empty()) report->fallbacks.push_back(native.cache_problem);
}

// The kernels of the wanted tier; without a compiler the tile tier is the answer.
absl::Status MakeKernels(const EmittedPlan& emitted, const CompileOptions& options,
                         CompileReport* report,
                         std::vector<std::shared_ptr<const Kernel>>* kernels) {
  if (options.tier == Tier::kNative) {
    NativeReport native;
    auto compiled = CompileKernels(emitted.kernels, HostTarget(), {}, &native);
    if (compiled.ok()) {
      *kernels = *std::move(compiled);
      NoteNative(native, report);
      return absl::OkStatus();
    }
    if (!absl::IsNotFound(compiled.status()) && !absl::IsUnimplemented(compiled.status())) {
      return compiled.status();
    }
    LATHE_RETURN_IF_ERROR(Fall(
        options, report,
        absl::StrCat("the tile tier runs in place of native code: ", compiled.status().message())));
  }
  return CompileTiles(emitted, options.tile, kernels);
}

// Compiles natively beside the running program and swaps each kernel in. Without a compiler the
// tile kernels stay, which is what tier auto promises.
void CompileInBackground(Executable::Impl* impl) {
  impl->background = std::thread([impl] {
    NativeReport native;
    auto compiled = CompileKernels(impl->emitted.kernels, HostTarget(), {}, &native);
    if (!compiled.ok()) {
      if (absl::IsNotFound(compiled.status())) return;
      std::fprintf(stderr, "lathe: the tile tier stays in place of native code: %s\n",
                   std::string(compiled.status().message()).c_str());
      return;
    }
    for (size_t k = 0; k < compiled->size(); ++k) {
      impl->loaded->SwapKernel(static_cast<int>(k), std::move((*compiled)[k]));
    }
  });
}

absl::Status Load(Executable::Impl* impl) {
  const CompileOptions& options = impl->options;
  LoadOptions load;
  {
    PhaseTimer timer(impl->report, "codegen");
    LATHE_RETURN_IF_ERROR(MakeKernels(impl->emitted, options, &impl->report, &load.kernels));
  }
  PhaseTimer timer(impl->report, "load");
  load.weights = impl->program.weights;
  load.weights.insert(impl->emitted.constants.begin(), impl->emitted.constants.end());
  for (const PlanCallback& callback : impl->emitted.callbacks) {
    load.callbacks[callback.name] = CallbackOf(callback);
  }
  const int threads = options.threads > 0 ? options.threads : DefaultThreadCount();
  if (threads > 1) impl->pool = NewThreadPool(threads);
  load.pool = impl->pool.get();
  Plan plan = impl->emitted.plan;
  if (options.through_serialized_plan) {
    LATHE_ASSIGN_OR_RETURN(plan, ParsePlan(SerializePlan(plan)));
  }
  CountSteps(plan, &impl->report);
  LATHE_ASSIGN_OR_RETURN(impl->loaded, LoadedPlan::Load(std::move(plan), std::move(load)));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RunValue>> RunReference(const Program& program,
                                                   absl::Span<const RunValue> inputs) {
  std::vector<HostValue> values;
  for (const RunValue& input : inputs) {
    if (const auto* tensor = std::get_if<Tensor>(&input)) {
      values.push_back(*tensor);
    } else {
      values.push_back(std::get<Scalar>(input));
    }
  }
  LATHE_ASSIGN_OR_RETURN(ReferenceResult result, EvaluateReference(program, std::move(values)));
  std::vector<RunValue> outputs;
  for (HostValue& value : result.outputs) {
    if (value.is_tensor()) {
      outputs.push_back(value.tensor());
    } else if (const auto* number = std::get_if<Scalar>(&value)) {
      outputs.push_back(*number);
    } else {
      outputs.push_back(Tensor());
    }
  }
  return outputs;
}

}  // namespace

Executable::Executable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executable::Executable(Executable&&) = default;
Executable& Executable::operator=(Executable&&) = default;
Executable::~Executable() = default;

const CompileReport& Executable::report() const { return impl_->report; }
const std::vector<std::string>& Executable::input_names() const {
  return impl_->source.user_input_names;
}

absl::StatusOr<std::vector<RunValue>> Executable::Run(absl::Span<const RunValue> inputs) const {
  if (impl_->options.tier == Tier::kReference) return RunReference(impl_->source, inputs);
  return impl_->loaded->Run(inputs);
}

absl::StatusOr<std::string> Executable::Stage(absl::string_view stage) const {
  if (stage == "import") return PrintProgram(impl_->source);
  if (impl_->options.tier == Tier::kReference) {
    return NotFound("the reference tier has no stage ", stage);
  }
  if (stage == "functional" || stage == "decomposed") return PrintProgram(impl_->program);
  if (stage == "loops") return KernelText(impl_->emitted);
  if (stage == "schedule") return ScheduleText(impl_->emitted);
  if (stage == "plan") return ToString(impl_->emitted.plan);
  if (stage == "memory") return MemoryText(*impl_);
  if (stage == "code") return CodeText(impl_->emitted);
  return NotFound(
      "no stage ", stage,
      "; there are import, decomposed, functional, loops, schedule, code, plan, memory");
}

absl::StatusOr<Program> LoadProgram(const std::string& path, const OpRegistry* registry) {
  const OpRegistry& ops = registry != nullptr ? *registry : OpRegistry::Builtin();
  if (absl::EndsWith(path, ".pt2")) return LoadPt2(path, ops);
  LATHE_ASSIGN_OR_RETURN(std::string text, ReadText(path));
  absl::StatusOr<Program> parsed = ParseProgram(text, ops);
  if (!parsed.ok()) return Annotate(parsed.status(), PlaceOf(path));
  Program program = *std::move(parsed);
  if (!program.archive.empty()) {
    LATHE_ASSIGN_OR_RETURN(Program archive, LoadPt2(ArchivePath(path, program.archive), ops));
    program.weights = std::move(archive.weights);
  }
  return program;
}

absl::StatusOr<Executable> Compile(const Program& program, const CompileOptions& options) {
  if (options.device.type != Device::Type::kCpu) {
    return Unimplemented("device ", ToString(options.device), ": only the CPU is supported");
  }
  auto impl = std::make_unique<Executable::Impl>();
  impl->options = options;
  impl->source = program;  // shared: nothing changes it from here on
  impl->report.tier = std::string(TierName(options.tier));
  impl->report.nodes_imported = program.main->node_count();
  const OpRegistry& ops = options.registry != nullptr ? *options.registry : OpRegistry::Builtin();
  LATHE_RETURN_IF_ERROR(ResolveRest(&impl->source, ops));
  if (options.tier == Tier::kReference) return Executable(std::move(impl));
  impl->program = CopyOf(impl->source);
  {
    PhaseTimer timer(impl->report, "passes");
    LATHE_RETURN_IF_ERROR(RunPasses(impl->program, ops, InferencePasses()));
  }
  {
    PhaseTimer timer(impl->report, "schedule");
    LATHE_ASSIGN_OR_RETURN(impl->emitted,
                           EmitPlan(impl->program, {.fuse_epilogues = options.fuse_epilogues,
                                                    .keep_wide = options.numerics ==
                                                                 CompileOptions::Numerics::kFast}));
  }
  impl->report.nodes_compiled = impl->program.main->node_count();
  impl->report.distinct_kernels = static_cast<int64_t>(impl->emitted.kernels.size());
  LATHE_RETURN_IF_ERROR(ReportOpaqueCalls(impl->emitted, options, &impl->report));
  TraceCompilation(*impl);
  LATHE_RETURN_IF_ERROR(Load(impl.get()));
  TraceMetrics(*impl);
  if (options.tier == Tier::kAuto) CompileInBackground(impl.get());
  return Executable(std::move(impl));
}

}  // namespace lathe
