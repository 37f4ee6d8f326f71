#!/usr/bin/env python3
"""Writes a large .pt2 archive with the mix of operators of the models in third_party/models.

    generate_program.py NODES OUT.pt2

Attention, feed-forward, convolution, rotary and normalisation blocks follow one another on a tensor
f32[s0, 8, 64], so no two nodes are equal; s0 is the only symbol. Weights come from a small pool.
"""
import json
import struct
import sys
import zipfile

F32 = 7
SOURCE = ('File "model.py", line %d, in forward\n    x = self.layers[%d](x)')


def size(value):
    if isinstance(value, int):
        return {"as_int": value}
    return {"as_expr": {"expr_str": value, "hint": {"as_int": 4}}}


def contiguous(sizes):
    strides, step = [], "1"
    product = [1, False]
    for s in reversed(sizes):
        strides.append(product[0])
        if not isinstance(s, int):
            break
        product[0] *= s
    return list(reversed(strides))


class Writer:
    def __init__(self):
        self.nodes, self.values, self.weights = [], {}, {}
        self.block = 0

    def value(self, name, sizes, strides=None):
        strides = contiguous(sizes) if strides is None else strides
        self.values[name] = {
            "dtype": F32, "sizes": [size(s) for s in sizes], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [size(s) for s in strides],
            "storage_offset": {"as_int": 0}, "layout": 7}
        return name

    def weight(self, name, sizes):
        if name not in self.weights:
            self.weights[name] = sizes
            self.value(name, sizes)
        return name

    def call(self, op, inputs, sizes, strides=None):
        name = "v%d" % len(self.nodes)
        self.nodes.append({
            "target": "torch.ops.aten." + op,
            "inputs": [{"name": n, "arg": a, "kind": 1} for n, a in inputs],
            "outputs": [{"as_tensor": {"name": name}}],
            "metadata": {"stack_trace": SOURCE % (self.block % 900 + 1, self.block),
                         "nn_module_stack": "L__self__,,model.Model;L__self__%d,layers.%d,Block"
                                            % (self.block, self.block)},
            "is_hop_single_tensor_return": None, "name": name})
        return self.value(name, sizes, strides)


def tensor(name):
    return {"as_tensor": {"name": name}}


def ints(values):
    if all(isinstance(v, int) for v in values):
        return {"as_ints": values}
    return {"as_sym_ints": [{"as_name": "s0_value"} if v == "s0" else {"as_int": v}
                            for v in values]}


X = ["s0", 8, 64]


def linear(w, x, key, inner, outer):
    lead = X[:2]
    return w.call("linear.default", [("input", tensor(x)),
                  ("weight", tensor(w.weight("w_%s_%d_%d" % (key, outer, inner), [outer, inner]))),
                  ("bias", tensor(w.weight("b_%s_%d" % (key, outer), [outer])))], lead + [outer])


def unary(w, op, x, sizes, more=()):
    return w.call(op, [("self", tensor(x))] + list(more), sizes)


def binary(w, op, x, y, sizes=X):
    return w.call(op, [("self", tensor(x)), ("other", tensor(y))], sizes)


def dropout(w, x):
    return w.call("dropout.default", [("input", tensor(x)), ("p", {"as_float": 0.1}),
                                      ("train", {"as_bool": False})], X)


def layer_norm(w, x, key):
    return w.call("layer_norm.default", [
        ("input", tensor(x)), ("normalized_shape", {"as_ints": [64]}),
        ("weight", tensor(w.weight("ln_%s" % key, [64]))),
        ("bias", tensor(w.weight("lb_%s" % key, [64]))), ("eps", {"as_float": 1e-5}),
        ("cudnn_enable", {"as_bool": False})], X)


def heads(w, x):
    split = w.call("view.default", [("self", tensor(x)), ("size", ints(["s0", 8, 4, 16]))],
                   ["s0", 8, 4, 16])
    return w.call("transpose.int", [("self", tensor(split)), ("dim0", {"as_int": 1}),
                                    ("dim1", {"as_int": 2})], ["s0", 4, 8, 16], [512, 16, 64, 1])


def attention(w, x, key):
    q, k, v = (heads(w, linear(w, x, key + c, 64, 64)) for c in "qkv")
    y = w.call("scaled_dot_product_attention.default",
               [("query", tensor(q)), ("key", tensor(k)), ("value", tensor(v))],
               ["s0", 4, 8, 16], [512, 16, 64, 1])
    y = w.call("transpose.int", [("self", tensor(y)), ("dim0", {"as_int": 1}),
                                 ("dim1", {"as_int": 2})], ["s0", 8, 4, 16])
    y = w.call("reshape.default", [("self", tensor(y)), ("shape", ints(X))], X)
    y = dropout(w, linear(w, y, key + "o", 64, 64))
    return layer_norm(w, binary(w, "add.Tensor", x, y), key)


def feed_forward(w, x, key):
    y = linear(w, x, key + "u", 64, 128)
    y = unary(w, "gelu.default", y, ["s0", 8, 128])
    y = dropout(w, linear(w, y, key + "d", 128, 64))
    return layer_norm(w, binary(w, "add.Tensor", x, y), key + "f")


def convolution(w, x, key):
    y = w.call("permute.default", [("self", tensor(x)), ("dims", {"as_ints": [0, 2, 1]})],
               ["s0", 64, 8], [512, 1, 64])
    y = w.call("unsqueeze.default", [("self", tensor(y)), ("dim", {"as_int": 2})],
               ["s0", 64, 1, 8], [512, 1, 512, 64])
    y = w.call("conv2d.default", [("input", tensor(y)),
               ("weight", tensor(w.weight("cw_" + key, [64, 64, 1, 1]))),
               ("bias", tensor(w.weight("cb_" + key, [64])))], ["s0", 64, 1, 8],
               [512, 1, 512, 64])
    names = [tensor(w.weight("bn_%s_%s" % (key, n), [64])) for n in ("w", "b", "m", "v")]
    y = w.call("batch_norm.default", [
        ("input", tensor(y)), ("weight", names[0]), ("bias", names[1]),
        ("running_mean", names[2]), ("running_var", names[3]), ("training", {"as_bool": False}),
        ("momentum", {"as_float": 0.1}), ("eps", {"as_float": 1e-5}),
        ("cudnn_enabled", {"as_bool": False})], ["s0", 64, 1, 8], [512, 1, 512, 64])
    y = w.call("relu_.default", [("self", tensor(y))], ["s0", 64, 1, 8], [512, 1, 512, 64])
    y = w.call("squeeze.dim", [("self", tensor(y)), ("dim", {"as_int": 2})], ["s0", 64, 8],
               [512, 1, 64])
    y = w.call("permute.default", [("self", tensor(y)), ("dims", {"as_ints": [0, 2, 1]})], X)
    return binary(w, "add.Tensor", x, y)


def slice_of(w, x, begin, end):
    return w.call("slice.Tensor", [("self", tensor(x)), ("dim", {"as_int": 2}),
                  ("start", {"as_int": begin}), ("end", {"as_int": end})],
                  ["s0", 8, end - begin], [512, 64, 1])


def rotary(w, x, key):
    turned = unary(w, "neg.default", slice_of(w, x, 32, 64), ["s0", 8, 32])
    other = w.call("cat.default", [("tensors", {"as_tensors": [
        {"name": turned}, {"name": slice_of(w, x, 0, 32)}]}), ("dim", {"as_int": 2})], X)
    cos = w.call("unsqueeze.default", [("self", tensor(w.weight("cos_" + key, [8, 64]))),
                                       ("dim", {"as_int": 0})], [1, 8, 64])
    return binary(w, "add.Tensor", binary(w, "mul.Tensor", x, cos),
                  binary(w, "mul.Tensor", other, w.weight("sin_" + key, [8, 64])))


def rms_norm(w, x, key):
    row = ["s0", 8, 1]
    y = unary(w, "pow.Tensor_Scalar", x, X, [("exponent", {"as_int": 2})])
    y = w.call("mean.dim", [("self", tensor(y)), ("dim", {"as_ints": [2]}),
                            ("keepdim", {"as_bool": True})], row)
    y = w.call("add.Tensor", [("self", tensor(y)), ("other", {"as_float": 1e-6})], row)
    y = unary(w, "rsqrt.default", y, row)
    y = binary(w, "mul.Tensor", x, y)
    return binary(w, "mul.Tensor", w.weight("rms_" + key, [64]), y)


def build(count):
    w = Writer()
    w.nodes.append({
        "target": "torch.ops.aten.sym_size.int",
        "inputs": [{"name": "self", "arg": tensor("x"), "kind": 1},
                   {"name": "dim", "arg": {"as_int": 0}, "kind": 1}],
        "outputs": [{"as_sym_int": {"as_name": "s0_value"}}], "metadata": {},
        "is_hop_single_tensor_return": None, "name": "s0_value"})
    x = w.value("x", X)
    blocks = [attention, feed_forward, convolution, rotary, feed_forward, convolution, rms_norm,
              attention, convolution]
    while len(w.nodes) < count:
        key = str(w.block % 4)
        x = blocks[w.block % len(blocks)](w, x, key)
        w.block += 1
    return w, x


def program(w, result):
    weights = sorted(w.weights)
    inputs = weights + ["x"]
    return {
        "graph_module": {
            "graph": {
                "inputs": [tensor(n) for n in inputs], "outputs": [tensor(result)],
                "nodes": w.nodes, "tensor_values": w.values,
                "sym_int_values": {"s0_value": size("s0")}, "sym_bool_values": {},
                "is_single_tensor_return": False, "custom_obj_values": {},
                "sym_float_values": {}},
            "signature": {
                "input_specs": [{"parameter": {"arg": {"name": n}, "parameter_name": n}}
                                for n in weights] +
                               [{"user_input": {"arg": tensor("x")}}],
                "output_specs": [{"user_output": {"arg": tensor(result)}}]},
            "module_call_graph": [], "metadata": {}, "treespec_namedtuple_fields": {}},
        "opset_version": {"aten": 10},
        "range_constraints": {"s0": {"min_val": 1, "max_val": 1024}},
        "schema_version": {"major": 8, "minor": 14}, "verifiers": ["TRAINING"],
        "torch_version": "2.11.0", "guards_code": []}


def main():
    count, path = int(sys.argv[1]), sys.argv[2]
    w, result = build(count)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        add = lambda name, data: archive.writestr("generated/" + name, data)
        config = {}
        for k, (name, sizes) in enumerate(sorted(w.weights.items())):
            elements = 1
            for s in sizes:
                elements *= s
            values = [((i * 7919 + k * 104729) % 2001 - 1000) / 8000.0 for i in range(elements)]
            if name.endswith("_v"):
                values = [abs(v) + 0.5 for v in values]
            add("data/weights/weight_%d" % k, struct.pack("<%df" % elements, *values))
            config[name] = {"path_name": "weight_%d" % k, "is_param": True, "use_pickle": False,
                            "tensor_meta": w.values[name]}
        add("data/weights/model_weights_config.json", json.dumps({"config": config}))
        add("data/constants/model_constants_config.json", json.dumps({"config": {}}))
        add("models/model.json", json.dumps(program(w, result)))
        add("archive_format", "pt2")
        add("archive_version", "0")
        add("byteorder", "little")
        add(".data/version", "3\n")


if __name__ == "__main__":
    main()
