#!/bin/bash
# tlparse_accepts.sh LATHE TLPARSE: a run's trace passes the real parser with nothing left over, and
# its directory lists every artefact under one compile id.
set -euo pipefail
lathe=$1 tlparse=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/p.lathe" <<'P'
graph @p(%x: f32[s0, 8], %w: f32[8, 8]) where 2 <= s0, s0 <= 64 {
  %y = aten.mm(%x, %w)
  %z = aten.gelu(%y)
  return %z
}
P
"$lathe" run "$dir/p.lathe" -i x=4x8xf32=0.5 -i w=8x8xf32=0.25 --tier tile --trace "$dir" > /dev/null
"$tlparse" --strict --no-browser "$dir"/dedicated_log_torch_trace_*.log -o "$dir/out" > "$dir/log" 2>&1 ||
  { cat "$dir/log"; exit 1; }
python3 - "$dir/out/compile_directory.json" <<'P'
import json
import sys

directory = json.load(open(sys.argv[1]))
assert len(directory) == 1, "compile ids: %s" % list(directory)
names = [a["name"] for a in next(iter(directory.values()))["artifacts"]]
for wanted in ("exported_program", "dynamo_guards", "before_functionalize", "after_functionalize",
               "inductor_post_grad_graph", "inductor_output_code", "lathe_schedule", "lathe_plan",
               "lathe_memory", "compilation_metrics"):
    assert any(wanted in n for n in names), "%s is missing from %s" % (wanted, names)
P
