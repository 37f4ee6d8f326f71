#ifndef LATHE_IR_TEXT_PRINTER_H_
#define LATHE_IR_TEXT_PRINTER_H_

// Writes the text form (grammar.md); parser.h reads it back to an equal graph.

#include <string>

#include "ir/graph/graph.h"
#include "ir/graph/program.h"

namespace lathe {

// The archive, the main graph, then every graph that is called or listed in `subgraphs`. Graphs of
// one name get suffixes. Arguments that equal their default are left out.
std::string PrintProgram(const Program& program);

// A graph and the graphs that it calls.
std::string PrintGraph(const Graph& graph);

// One statement, without a line end: for messages.
std::string PrintNode(const Node& node);

}  // namespace lathe

#endif  // LATHE_IR_TEXT_PRINTER_H_
