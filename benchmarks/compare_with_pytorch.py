#!/usr/bin/env python3
"""Every model against PyTorch in one run: time against eager, kernels against torch.compile.

    python3 benchmarks/compare_with_pytorch.py --lathe bazel-bin/lathe [--models DIR] [--no-compile]

One thread on both sides, inputs as recorded. Rounds alternate between the two; a row gives the
median of the rounds' medians. Needs torch and safetensors; no part of the build uses this.
"""
import argparse
import glob
import json
import math
import os
import statistics
import subprocess
import time

import torch
from safetensors.torch import load_file

ROUNDS = 5


def eager_seconds(module, inputs, seconds=0.15):
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter()
        module(*inputs)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def lathe_seconds(args, model, answers, tier):
    command = [args.lathe, "bench", model, "-i", answers, "--tier", tier, "--threads", "1", "--json",
               "--calls", "200"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    report = json.loads(done.stdout)
    return report["median_seconds"], report["compiled"]


def compiled_kernels(module, inputs):
    """Kernels in the code that torch.compile writes for the CPU, extern calls apart."""
    import torch._inductor.metrics as metrics
    torch._dynamo.reset()
    metrics.reset()
    torch.compile(module, dynamic=False)(*inputs)
    return metrics.generated_kernel_count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lathe", required=True)
    parser.add_argument("--models", default="third_party/models")
    parser.add_argument("--no-compile", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, CPU {os.cpu_count()} cores")
    print(f"{'model':24} {'eager us':>9} {'tile us':>9} {'native us':>9} {'tile/eager':>10} "
          f"{'native/eager':>12} {'kernels':>8} {'torch.compile':>13}")
    ratios = []
    for model in sorted(glob.glob(os.path.join(args.models, "*.pt2"))):
        name = os.path.basename(model)[:-4]
        answers = model[:-4] + ".io.safetensors"
        recorded = load_file(answers)
        inputs = [recorded[f"in.{k}"] for k in range(len([n for n in recorded if n.startswith("in.")]))]
        try:
            module = torch.export.load(model).module()
            with torch.no_grad():
                module(*[x.clone() for x in inputs])
        except Exception as error:  # an archive that this release no longer reads
            print(f"{name:24} eager failed: {type(error).__name__}: {str(error)[:80]}")
            continue
        rows = {"eager": [], "tile": [], "native": []}
        kernels = None
        with torch.no_grad():
            eager_seconds(module, inputs)
            for _ in range(ROUNDS):
                rows["eager"].append(eager_seconds(module, inputs))
                for tier in ("tile", "native"):
                    seconds, report = lathe_seconds(args, model, answers, tier)
                    if seconds is None:
                        print(f"{name:24} {tier} failed: {report[:160]}")
                        continue
                    rows[tier].append(seconds)
                    kernels = report["kernels"]
            count = "-"
            if not args.no_compile:
                try:
                    count = compiled_kernels(module, inputs)
                except Exception as error:
                    count = type(error).__name__
        if not rows["tile"] or not rows["native"]:
            continue
        eager, tile, native = (statistics.median(rows[k]) * 1e6 for k in ("eager", "tile", "native"))
        ratios.append(native / eager)
        print(f"{name:24} {eager:9.1f} {tile:9.1f} {native:9.1f} {tile / eager:10.2f} "
              f"{native / eager:12.2f} {kernels:8} {count:>13}", flush=True)
    print(f"geomean native/eager {math.exp(statistics.mean(map(math.log, ratios))):.3f} "
          f"over {len(ratios)} models")


if __name__ == "__main__":
    main()
