#!/bin/bash
# The binary as a user meets it: output, exit codes, streams.
set -u
lathe=$PWD/lathe
models=third_party/models
vectors=third_party/vectors
tmp=$TEST_TMPDIR
failures=0

# expect CODE STDOUT-PATTERN STDERR-PATTERN ARGUMENTS...   (extended regular expressions, "" nothing)
expect() {
  local code=$1 out=$2 err=$3
  shift 3
  "$lathe" "$@" >"$tmp/out" 2>"$tmp/err" <"${input:-/dev/null}"
  local got=$?
  local problem=""
  [[ $got == "$code" ]] || problem="exit code $got, expected $code"
  matches "$tmp/out" "$out" || problem+="; stdout does not match '$out'"
  matches "$tmp/err" "$err" || problem+="; stderr does not match '$err'"
  [[ -z $problem ]] && return
  echo "lathe $*: $problem"
  head -c 1000 "$tmp/out" "$tmp/err"
  failures=$((failures + 1))
}
matches() {
  if [[ -z $2 ]]; then [[ ! -s $1 ]]; else grep -Eq -- "$2" "$1"; fi
}

# The README shows the stages of a program as the tool prints them.
readme=$(<README.md)
for stage in import decomposed loops; do
  shown=$("$lathe" show examples/gate.lathe --stage $stage)
  [[ -n $shown && $readme == *"$shown"* ]] && continue
  echo "README.md does not show the stage $stage as the tool prints it"
  failures=$((failures + 1))
done

expect 2 "" "lathe run MODEL"
expect 0 "lathe check MODEL" "" --help
expect 2 "" "unknown command 'frob'" frob
expect 2 "" "unknown option --frob" run --frob
expect 2 "" "usage: lathe run" run
expect 0 '^\{.*"operators": [0-9]+\}$' "" info --json

expect 0 '^f32\[2, 32\] \[\[0\.0' "" run $models/mlp.pt2 -i input=2x64xf32=0.5
# Values on the command line take the layout that the program declares.
echo 'graph @f(%x: f32[2, 3]{1, 2}) { %y = aten.neg(%x) return %y }' >"$tmp/strided.lathe"
for tier in tile reference; do
  expect 0 '^f32\[2, 3\] \[\[-1' "" run "$tmp/strided.lathe" -i x=2x3xf32=1 --tier $tier
done
# So do packed rows that start at whole bytes, and what lies behind an offset.
echo 'graph @f(%x: u3[4, 5]{8, 1}+3) { %y = aten.add.Tensor(%x, %x) return %y }' >"$tmp/rows.lathe"
for tier in tile reference; do
  expect 0 '^u3\[4, 5\] \[\[0, 2, 4, 6, 0\]' "" run "$tmp/rows.lathe" --tier $tier \
    -i 'x=4x5xu3=[[0,1,2,3,4],[5,6,7,0,1],[2,3,4,5,6],[7,6,5,4,3]]'
done
# Bits past the last packed element are nobody's.
header='{"__metadata__":{"x":"u3[4,5]"},"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}}'
printf "\\x$(printf %02x ${#header})"'\0\0\0\0\0\0\0%s\xff\xff\xff\xff\xff\xff\xff\xff' "$header" >"$tmp/u3.safetensors"
echo 'graph @f(%x: u3[4, 5]) { %y = aten.bitwise_not(%x) return %y }' >"$tmp/u3.lathe"
expect 0 '^u3\[4, 5\] \[\[0, 0' "" run "$tmp/u3.lathe" -i "$tmp/u3.safetensors"
if grep -q changed "$tmp/out"; then
  echo "a program that changes nothing changed its input: $(<"$tmp/out")"
  failures=$((failures + 1))
fi
echo 'graph @f(%x: u3[4, 5]) { %y = aten.as_strided(%x, [4, 5], [5, 1], 1) return %y }' \
  >"$tmp/padding.lathe"
for tier in tile reference; do
  expect 2 "" "no element past number 19" run "$tmp/padding.lathe" -i x=4x5xu3=1 --tier $tier
done
echo 'graph @f(%x: u3[4, 5]+9223372036854775807) { return %x }' >"$tmp/far.lathe"
expect 2 "" "place overflows" run "$tmp/far.lathe" -i x=4x5xu3=1
expect 2 "" "must end in .safetensors" run $models/nothing.pt2 -o "$tmp/out.txt"
expect 2 "" "README.md .read as text.*1:1" run README.md
expect 2 "" "no value for the input 'input': f32\[s31, 64\]" run $models/mlp.pt2
expect 2 "" "input" run $models/mlp.pt2 -i input=2x63xf32=0.5
expect 2 "" "at most 4096" run $models/mlp.pt2 -i input=4097x64xf32=0
expect 2 "" "nothing.pt2" run $models/nothing.pt2
expect 2 "" "tier must be" run $models/mlp.pt2 --tier fast
expect 0 '^x changed to f32\[4, 6\]' "" run $models/views_mutation.pt2 -i x=4x6xf32=1
expect 0 '^\{"outputs": \[\{"dtype": "f32", "sizes": \[2, 32\]' "" \
  run $models/mlp.pt2 -i input=2x64xf32=0.5 --json
expect 0 '^f32' "verify: [0-9]+ values at kernel borders agree" \
  run $models/hf_llama.pt2 -i $models/hf_llama.io.safetensors --verify
expect 0 '^f32' "verify: [0-9]+ values agree" \
  run $models/mlp.pt2 -i input=2x64xf32=0.5 --verify=each
expect 2 "" "verify takes" run $models/mlp.pt2 -i input=2x64xf32=0.5 --verify=frob
expect 0 "" "" run $models/mlp.pt2 -i $models/mlp.io.safetensors -o "$tmp/out.safetensors"
[[ -s $tmp/out.safetensors ]] || { echo "no output file"; failures=$((failures + 1)); }

echo 'graph @f(%x: f32[s0]) { %y = aten.relu(%x)  return %y }' >"$tmp/relu.lathe"
expect 0 '^f32\[3\] \[0\.0, 2\.0, nan\]$' "" run "$tmp/relu.lathe" -i 'x=3xf32=[-1, 2, nan]'
echo 'graph @f(%x: f32[s0]) { %y = my.op(%x) : f32[s0]  return %y }' >"$tmp/unknown.lathe"
expect 3 "" "my.op" run "$tmp/unknown.lathe" -i x=3xf32=1
echo 'graph @f(' >"$tmp/broken.lathe"
expect 2 "" "[0-9]+:[0-9]+" run "$tmp/broken.lathe"

expect 0 "1 passed, 0 failed" "" check $models/mlp.pt2 $models/mlp.io.safetensors
expect 0 "1 passed, 0 failed" "" check $models/mlp.pt2 $models/mlp.io.safetensors --set 2
expect 2 "" "holds no in2.0" check $models/gru.pt2 $models/gru.io.safetensors --set 2
# Other inputs than those of the answers.
expect 1 "FAILED out.0" "" check "$tmp/relu.lathe" $models/unbacked_nonzero.io.safetensors

expect 0 'graph @main\(' "" show $models/mlp.pt2
expect 0 '^s31: size 0 of input input, range \[1, 4096\], example 8$' "" \
  show $models/mlp.pt2 --stage shapes
expect 0 '^2 aten.linear$' "" show $models/mlp.pt2 --stage ops
expect 2 "" "no stage 'frob'; there are import, ops, shapes, decomposed, functional, loops, schedule, code, plan, memory" \
  show $models/mlp.pt2 --stage frob
expect 0 'aten.relu' "" opt --passes=cse,dce "$tmp/relu.lathe"
expect 2 "" "frob" opt --passes=frob "$tmp/relu.lathe"
expect 2 "" "empty name" opt --passes= "$tmp/relu.lathe"
expect 2 "" "empty name" opt --passes=cse,,dce "$tmp/relu.lathe"
expect 2 "" "$tmp is a directory, not a program" run "$tmp"
expect 0 '^lathe [0-9.]+, plans of version [0-9]+$' "" --version
expect 0 "calls: median" "" bench "$tmp/relu.lathe" --calls 3 --tier tile

expect 0 "^[1-9][0-9]* passed, 0 failed, 0 unsupported$" "" \
  conform $vectors/ops.jsonl $vectors/ops.safetensors --filter '^aten.tanh'
expect 2 "" "filter" conform $vectors/ops.jsonl $vectors/ops.safetensors --filter '('
for layout in transposed sliced expanded; do
  expect 0 "[1-9][0-9]* passed, 0 failed, 0 unsupported" "" \
    conform $vectors/ops.jsonl $vectors/ops.safetensors --filter '^aten.(tanh|sum|add)\.' --relayout $layout
done
expect 2 "" "relayout must be transposed" \
  conform $vectors/ops.jsonl $vectors/ops.safetensors --relayout frob
expect 0 "[1-9][0-9]* passed, 0 failed, 0 unsupported" "" \
  conform $vectors/ops.jsonl $vectors/ops.safetensors --filter '^aten.(softmax|sum|tanh)\.' --tile 64
expect 2 "" "power of two" conform $vectors/ops.jsonl $vectors/ops.safetensors --tile 100
expect 0 "0 passed, 0 failed, [1-9][0-9]* unsupported" "no operator has a derivative yet" \
  conform $vectors/ops.jsonl $vectors/ops.safetensors --filter '^aten.tanh' --grad

# A failure inside a branch names the branch's node, not a step of the plan.
cat >"$tmp/cond.lathe" <<'EOF'
graph @f(%x: f32[s0], %i: i64[1], %p: bool[]) { %y = cond(%p, @then, @else, [%x, %i]) return %y }
graph @then(%x: f32[s0], %i: i64[1]) { %picked = aten.index_select(%x, 0, %i) return %picked }
graph @else(%x: f32[s0], %i: i64[1]) { %j = aten.mul.Scalar(%i, 0) %c = aten.index_select(%x, 0, %j) return %c }
EOF
expect 0 '^f32\[1\] \[1\.0\]$' "" run "$tmp/cond.lathe" -i x=3xf32=1 -i i=1xi64=2 -i p=bool=true
expect 2 "" "at %picked" run "$tmp/cond.lathe" -i x=3xf32=1 -i i=1xi64=7 -i p=bool=true
expect 0 "^true" "" prove $vectors/claims.txt
echo '|- s0 < 3 => true' >"$tmp/claims"
expect 1 "^unknown" "expected true" prove "$tmp/claims"
echo '2 <= s0, s1 <= 7 |- min(8*s0, 16*s0) == 8*s0' >"$tmp/why"
expect 0 '^  2 <= s0$' "" prove --why "$tmp/why"
expect 0 '"reasons": \["2 <= s0"\]' "" prove --why --json "$tmp/why"
echo '2 <= s0, s1 <= |- s0 < 3' >"$tmp/bad"
expect 2 "" "bad:1.*column 15" prove "$tmp/bad"
input="$tmp/claims" expect 1 "^unknown" "-:1: expected true" prove -
# A line that cannot be read or contradicts itself does not keep the next one from its answer.
printf '%s\n' '1 <= a, a <= 0 |- a == 1' '  s0 < |- s0 < 3' '|- 2 < 3' >"$tmp/mixed"
expect 2 "^true" "mixed:1: .*contradicts" prove "$tmp/mixed"
expect 2 "^true" "mixed:2: column 7" prove "$tmp/mixed"
expect 2 '"line": 1, "error": .*"answer": "true"' "mixed:1" prove --json "$tmp/mixed"
expect 0 '^s0: size 0 of input x, range' "" show "$tmp/relu.lathe" --stage shapes
expect 0 '"symbols": \[\{"name": "s0"' "" show "$tmp/relu.lathe" --stage shapes --json

# Python's operators on sizes as exported graphs contain them.
cat >"$tmp/sizes.lathe" <<'END'
graph @f(%x: f32[s0, 4]) {
  %a = operator.lshift(s0, 2)
  %b = operator.rshift(s0, 1)
  %c = sym_sqrt(s0)
  %d = operator.xor(s0, 3)
  %e = operator.or_(s0, 8)
  %f = math.floor(%c)
  %g = operator.pos(%f)
  %h = operator.abs(%g)
  %i = sym_int(%c)
  %rows = aten.slice.Tensor(%x, 0, 2)
  %o = aten.sym_storage_offset(%rows)
  return %a, %b, %c, %d, %e, %h, %i, %o
}
END
for tier in tile reference; do
  numbers=$("$lathe" run "$tmp/sizes.lathe" -i x=9x4xf32=1 --tier $tier | tr '\n' ' ')
  [[ $numbers == "36 4 3.0 10 9 3 3 8 " ]] && continue
  echo "sizes.lathe on $tier: $numbers"
  failures=$((failures + 1))
done

# What a call must meet: assertions, and what the operators take for granted.
cat >"$tmp/meets.lathe" <<'END'
graph @f(%x: f32[s0, 4], %y: f32[s1, 4], %n: i64[]) {
  %sum = aten.add.Tensor(%x, %y) at "m.py:3"
  %k = aten.item(%n)
  %fits = operator.le(%k, s0)
  aten._assert_scalar(%fits, "k rows are there") at "m.py:7"
  %two = operator.mul(s0, 2)
  return %sum, %two
}
END
expect 0 '^assert u0 <= s0 \(asked by aten._assert_scalar at m.py:7\): k rows are there$' "" \
  show "$tmp/meets.lathe" --stage shapes
expect 0 '^assume s0 == s1 \(asked by %sum at m.py:3\): aten.add.Tensor$' "" \
  show "$tmp/meets.lathe" --stage shapes
expect 0 '^output 1: int\(2\*s0\)$' "" show "$tmp/meets.lathe" --stage shapes
expect 0 '^u0: item of %k, range' "" show "$tmp/meets.lathe" --stage shapes
expect 0 '"assertions": \[\{"condition": "u0 <= s0", "asked": "asked by aten._assert_scalar at m.py:7", "message": "k rows are there"' \
  "" show "$tmp/meets.lathe" --stage shapes --json
expect 0 '"assumptions": \[\{"condition": "s0 == s1", "asked": "asked by %sum at m.py:3", "message": "aten.add.Tensor"' \
  "" show "$tmp/meets.lathe" --stage shapes --json
# A precondition says where it comes from and which nodes could not do without it.
expect 0 '^  range of size 0 of input input$' "" show $models/mlp.pt2 --stage shapes
expect 0 '"preconditions": \[\{"condition": "1 <= s31", "reasons": \["range of size 0 of input input"' \
  "" show $models/mlp.pt2 --stage shapes --json
echo 'graph @f(%x: f32[s0, 3], %y: f32[s1, 3]) where s0 == s1 { %z = aten.add.Tensor(%x, %y) at "m.py:4" return %z }' \
  >"$tmp/needs.lathe"
expect 0 'aten.add.Tensor needs it \(asked by %z' "" show "$tmp/needs.lathe" --stage shapes
expect 0 '^u0: item of %nonzero' "" show $models/unbacked_nonzero.pt2 --stage shapes
# No empty batch of texts: a view of it has no size -1.
expect 0 '^s[0-9]+: size [01] of input input_ids, range \[1, 60\]' "" \
  show $models/hf_bert.pt2 --stage shapes

# The layout that a program declares in terms of its sizes is the caller's no more than a fixed one.
echo 'graph @f(%x: f32[s0, 3, s1]{3*s1, 1, 3}) { %y = aten.neg(%x) return %y }' >"$tmp/last.lathe"
for tier in tile reference; do
  expect 0 '^f32\[2, 3, 4\] \[\[\[-1' "" run "$tmp/last.lathe" -i x=2x3x4xf32=1 --tier $tier
done

# A refusal names the input, the rule and the value.
echo 'graph @f(%x: f32[s0, 8], %y: f32[s0]) where s0 % 4 == 0 { %z = aten.neg(%x) return %z, %y }' >"$tmp/rule.lathe"
for tier in tile reference; do
  expect 2 "" 'precondition s0 % 4 == 0 \(size 0 of input x = 14\)' \
    run "$tmp/rule.lathe" -i x=14x8xf32=1 -i y=14xf32=1 --tier $tier
  expect 2 "" "input '?x'?: size 1 (must be 8, given 10|is 10, but must be 8)" \
    run "$tmp/rule.lathe" -i x=4x10xf32=1 -i y=4xf32=1 --tier $tier
done
expect 2 "" 'size 0 of input y must be s0, which is size 0 of input x \(expected = 4, given = 3\)' \
  run "$tmp/rule.lathe" -i x=4x8xf32=1 -i y=3xf32=1 --tier tile
# A condition that hangs on a division by zero does not hold; one that is decided before does.
echo 'graph @f(%x: f32[s0], %n: int(s1)) where s0 == 5 or (1 <= s1 and s0 % s1 == 0) { %y = aten.neg(%x) return %y }' >"$tmp/lazy.lathe"
expect 2 "" 'precondition .*s0 % s1 == 0.*input n = 0' \
  run "$tmp/lazy.lathe" -i x=12xf32=1 -i n=0 --tier tile
for tier in tile reference; do
  expect 0 '^f32\[5\]' "" run "$tmp/lazy.lathe" -i x=5xf32=1 -i n=0 --tier $tier
done
# A number of parts that a precondition decides.
cat >"$tmp/parts.lathe" <<'END'
graph @f(%x: f32[s0]) where (s0 + (s0 + 2)//3 - 1)//((s0 + 2)//3) == 3 {
  %a, %b, %c = aten.chunk(%x, 3)
  return %c
}
END
expect 0 '^f32\[2\]' "" run "$tmp/parts.lathe" -i x=8xf32=1 --tier tile
expect 2 "" "size 0 of input x must be at least 1" run "$tmp/parts.lathe" -i x=0xf32=1 --tier tile

cat >"$tmp/long.lathe" <<'END'
graph @f(%x: f32[s0]) { %a = aten.relu(%x) %b = aten.exp(%a) %c = aten.sin(%b) return %c, %a }
END
expect 0 'return %b' "" reduce --check="grep -q aten.exp" "$tmp/long.lathe"
expect 2 "" "does not pass the check" reduce --check=false "$tmp/long.lathe"

echo "$failures failures"
[[ $failures == 0 ]]
