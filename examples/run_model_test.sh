#!/bin/bash
# The mlp's softmax gives 32 probabilities a row.
set -euo pipefail
out=$("$1" third_party/models/mlp.pt2)
[[ $out == "f32[8, 32], first row starts with 0.0"* ]] || { echo "got: $out"; exit 1; }
