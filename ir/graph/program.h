#ifndef LATHE_IR_GRAPH_PROGRAM_H_
#define LATHE_IR_GRAPH_PROGRAM_H_

// A whole file: the main graph, the symbols that all its graphs share, and the weights.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/tensor/tensor.h"
#include "symbolic/shape_env.h"

namespace lathe {

struct Program {
  std::shared_ptr<ExprContext> context;
  std::shared_ptr<ShapeEnv> shapes;
  std::shared_ptr<Graph> main;
  // Graphs of the file that calls name (@then, @else); also reached through kGraph arguments.
  std::vector<std::shared_ptr<Graph>> subgraphs;
  // By the names in InputSpec::target. Two names may share one storage.
  std::map<std::string, Tensor> weights;
  std::string archive;                        // the .pt2 file the weights come from, "" when none
  std::vector<std::string> user_input_names;  // as the caller knows them
  // Arguments of the traced call that the program was specialised on: it takes them no more.
  struct FixedInput {
    std::string name, value;  // "n", "3"
  };
  std::vector<FixedInput> fixed_inputs;
  // One line each: what the file says and the program does without.
  std::vector<std::string> notes;
};

// A program with a fresh context and an empty main graph.
Program NewProgram(std::string main_name);

}  // namespace lathe

#endif  // LATHE_IR_GRAPH_PROGRAM_H_
