#!/usr/bin/env python3
"""Exports small modules of torch.nn with their inputs and outputs, as third_party/models has them.

    python3 third_party/modules/export_modules.py third_party/modules

Needs torch 2.11 and safetensors; the build needs neither. NAME.pt2 is the program, NAME.io.safetensors
holds in.K, out.K (eager's), ref.K (eager's in float64), and in2.K, out2.K of other sizes where the
program has dynamic ones.
"""
import copy
import re
import sys

import torch
from safetensors.torch import save_file
from torch import nn
from torch._higher_order_ops.while_loop import while_loop
from torch.utils import _pytree as pytree

AUTO = torch.export.Dim.AUTO


class Sequence(nn.Module):
    """A recurrent layer that starts from zeros."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


class PositionBias(nn.Module):
    """Scores with the last rows of a table added: max(0, 1 - s) rows are cut from one row."""

    def __init__(self):
        super().__init__()
        self.register_buffer("bias", torch.arange(48.0).reshape(3, 1, 16) / 8)

    def forward(self, x):
        s = x.shape[2]
        bias = self.bias[:, torch.sym_max(0, 1 - s):, torch.sym_max(0, 16 - s):]
        return torch.softmax(x @ x.transpose(2, 3) + bias, -1)


class Resized(nn.Module):
    def forward(self, x):
        return nn.functional.interpolate(x, size=(7, 9), mode="bicubic", align_corners=False)


class Grid(nn.Module):
    def forward(self, x, y):
        return torch.meshgrid(x, y, indexing="xy")


class Placed(nn.Module):
    """Indexes without dimensions."""

    def forward(self, x, index, value):
        return (x.scatter(0, index, value), x.scatter_add(0, index, value),
                x.scatter(0, index, 2.5))


class Counted(nn.Module):
    """Of the places only their number is wanted."""

    def forward(self, x):
        return x + 1, (x > 0).nonzero().shape[0] * 2


class Halved(nn.Module):
    """A size that is 2 * h: no input gives h itself."""

    def forward(self, x):
        return nn.functional.pixel_unshuffle(x, 2).mean(1)


class NumbersOfSizes(nn.Module):
    """Fills and ranges by floats and conditions that sizes give."""

    def forward(self, x):
        s = x.shape[0]
        return (torch.full((3,), s / 2), torch.full_like(x, s / 4), x.new_full((2,), s / 3) * x[:1, :2],
                torch.scalar_tensor(s / 4), torch.arange(0, s / 2, 0.5), torch.arange(0.25, s / 4),
                torch.arange(s / 2, 0, -0.75))


class Forgetful(nn.Module):
    """Draws that nobody looks at, dropout in place, parts written in another type, halves."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Sequential(nn.Hardswish(inplace=True), nn.Dropout(0.5, inplace=True))
        self.norm = nn.RMSNorm(4, dtype=torch.bfloat16)

    def forward(self, x):
        torch.rand([])
        y = self.drop(x * 2)
        row = x[0].to(torch.bfloat16)
        return (y, y.slice_scatter(row[None], 0, 1, 2), y.select_scatter(row, 0, 0),
                y.diagonal_scatter(row[:3]), self.norm(row / 64))


class Autocast(nn.Module):
    """Products in bf16, losses in f32, and a region inside that stays f32."""

    def __init__(self):
        super().__init__()
        self.conv, self.batch = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.linear, self.layer = nn.Linear(4, 4), nn.LayerNorm(4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.batch(self.conv(x)).relu().mean((2, 3))
            z = self.layer(self.linear(y))
            loss = nn.functional.mse_loss(z, y)
            with torch.autocast("cpu", enabled=False):
                exact = self.linear(x.mean((1, 2))[:, :4])
        return y, z, loss, exact


class Turns(nn.Module):
    """A layer taken as often as the first of some numbers says."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, count):
        def goes_on(turn, y):
            return turn < count[0]

        def body(turn, y):
            return turn + 1, torch.tanh(self.linear(y)) + 0.5 * y

        start = torch.zeros((), dtype=torch.int64)
        turn, y = while_loop(goes_on, body, (start, x))
        return y, turn


class BatchStatistics(nn.Module):
    """Batch normalization that keeps training: the running statistics change."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3, momentum=0.3)
        self.alone = nn.BatchNorm2d(3, affine=False, track_running_stats=False)

    def train(self, mode=True):
        return super().train(True)

    def forward(self, x):
        return self.alone(self.norm(x)), self.norm.running_mean * 2, self.norm.running_var + 1


class Rotation(nn.Module):
    """Rotary embedding by complex numbers."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(6.0), 1 / 100 ** (torch.arange(4.0) / 4))
        self.register_buffer("turns", torch.polar(torch.ones(6, 4), angles))

    def forward(self, x):
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], 4, 2))
        turned = torch.view_as_real(pairs * self.turns.to(pairs.dtype)[None, :, None]).flatten(3)
        z = torch.complex(x[0], x[1])
        return turned, (z.conj() * z).real, (z * torch.polar(x[0].abs(), x[1])).imag, z.abs()


def uniform(*sizes):
    return torch.rand(*sizes) * 2 - 1


# name: module, inputs, inputs of another size (where dimension 0, or those named, are dynamic)
MODULES = {
    "lstm": (lambda: Sequence(nn.LSTM(8, 6, 2, bidirectional=True)), (uniform(5, 3, 8),), None),
    "lstm_batch_first": (lambda: Sequence(nn.LSTM(8, 6, batch_first=True)), (uniform(3, 5, 8),),
                         (uniform(2, 5, 8),)),
    "lstm_projected": (lambda: Sequence(nn.LSTM(8, 6, 2, bidirectional=True, proj_size=3)),
                       (uniform(5, 3, 8),), None),
    "lstm_projected_without_bias": (lambda: Sequence(nn.LSTM(8, 6, bias=False, proj_size=3)),
                                    (uniform(4, 2, 8),), None),
    "self_attention": (SelfAttention, (uniform(2, 7, 16),), (uniform(3, 7, 16),)),
    "encoder_layer": (lambda: nn.TransformerEncoderLayer(16, 4, 24, batch_first=True),
                      (uniform(2, 7, 16),), (uniform(4, 7, 16),)),
    "decoder_layer": (lambda: nn.TransformerDecoderLayer(16, 4, 24, batch_first=True),
                      (uniform(2, 7, 16), uniform(2, 5, 16)), (uniform(3, 7, 16), uniform(3, 5, 16))),
    "position_bias": (PositionBias, (uniform(2, 3, 5, 4),), (uniform(2, 3, 9, 4),), {2: AUTO}),
    "bicubic": (Resized, (uniform(2, 3, 5, 6),), (uniform(1, 3, 5, 6),)),
    "grid_xy": (Grid, (uniform(3), uniform(2)), None),
    "scatter_without_dimensions": (Placed, (uniform(4), torch.tensor(2), torch.tensor(1.5)), None),
    "number_of_places": (Counted, (uniform(4, 5),), None),
    "derived_size": (Halved, (uniform(2, 3, 6, 4),), (uniform(2, 3, 10, 4),),
                     {2: 2 * torch.export.Dim("h", min=2, max=64)}),
    "forgetful": (Forgetful, (uniform(3, 4),), None),
    "autocast": (Autocast, (uniform(2, 3, 8, 8),), (uniform(3, 3, 8, 8),)),
    "turns": (Turns, (uniform(3, 4), torch.tensor([5, 0])), (uniform(6, 4), torch.tensor([0]))),
    "batch_statistics": (BatchStatistics, (uniform(4, 3, 6, 6),), (uniform(7, 3, 6, 6),)),
    "batch_statistics_decomposed": (BatchStatistics, (uniform(4, 3, 6, 6),), None),
    "rotation": (Rotation, (uniform(2, 6, 3, 8),), (uniform(3, 6, 3, 8),)),
    "numbers_of_sizes": (NumbersOfSizes, (uniform(7, 4),), (uniform(10, 4),)),
    "conv3d": (lambda: nn.Conv3d(4, 6, (3, 2, 3), (2, 1, 1), (1, 0, 1), (2, 1, 1), 2),
               (uniform(2, 4, 7, 6, 5),), (uniform(1, 4, 7, 6, 5),)),
    "conv_transpose1d": (lambda: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1), (uniform(2, 4, 7),),
                         (uniform(3, 4, 7),)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(4, 6, (3, 2), (2, 3), (1, 0), (1, 2), 2, True,
                                                    (1, 2)),
                         (uniform(2, 4, 5, 6),), (uniform(1, 4, 5, 6),)),
    "conv_transpose3d": (lambda: nn.ConvTranspose3d(2, 3, 2, 2), (uniform(2, 2, 3, 4, 3),),
                         (uniform(1, 2, 3, 4, 3),)),
}


def tensors(prefix, tree):
    return {"%s.%d" % (prefix, k): leaf.detach().clone().contiguous()
            for k, leaf in enumerate(pytree.tree_leaves(tree)) if isinstance(leaf, torch.Tensor)}


def export(name, directory):
    make, inputs, others, *rest = MODULES[name]
    torch.manual_seed(0)
    module = make().eval().requires_grad_(False)
    dynamic = None if others is None else tuple((rest[0] if rest else {0: AUTO}) for _ in inputs)
    program = torch.export.export(module, inputs, dynamic_shapes=dynamic)
    if name.endswith("_decomposed"):
        program = program.run_decompositions()
    graphs = [m.graph for m in program.graph_module.modules() if hasattr(m, "graph")]
    for node in [node for graph in graphs for node in graph.nodes]:
        if "stack_trace" in node.meta:
            node.meta["stack_trace"] = re.sub(r'"[^"]*/(site-packages/)?([^"/]*)"', r'"\2"',
                                              node.meta["stack_trace"])
    torch.export.save(program, "%s/%s.pt2" % (directory, name))
    # Before the module runs: it may change its buffers.
    exact = copy.deepcopy(module).double()(*[x.double() if x.is_floating_point() else x for x in inputs])
    record = {**tensors("in", inputs), **tensors("out", module(*inputs)), **tensors("ref", exact)}
    if others is not None:
        record.update({**tensors("in2", others), **tensors("out2", module(*others))})
    save_file(record, "%s/%s.io.safetensors" % (directory, name))


if __name__ == "__main__":
    for each in sys.argv[2:] or MODULES:
        export(each, sys.argv[1])
