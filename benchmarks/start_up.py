#!/usr/bin/env python3
"""Start-up, compile time and loading, as ratios of medians of alternating runs.

    ./bazelw build --config=opt //:lathe
    python3 benchmarks/start_up.py --lathe bazel-bin/lathe
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

MODELS = "third_party/models"


def seconds(command, env=None):
    begin = time.perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def alternate(commands, times, prepare=lambda: None, env=None):
    """Median seconds of each command, run in turn."""
    taken = [[] for _ in commands]
    for _ in range(times):
        for k, command in enumerate(commands):
            prepare()
            taken[k].append(seconds(command, env))
    return [statistics.median(t) for t in taken]


def check(lathe, model, tier, more=()):
    return [lathe, "check", "%s/%s.pt2" % (MODELS, model),
            "%s/%s.io.safetensors" % (MODELS, model), "--tier", tier, *more]


def compile_report(lathe, arguments, env):
    out = subprocess.run([lathe] + arguments + ["--json"], env=env, check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)["compiled"]


def python_ratios(lathe, times):
    for model, bar in (("mlp", 3), ("hf_bert", 3), ("timm_test_resnet", 5)):
        ours, python = alternate([check(lathe, model, "tile"),
                                  ["/usr/bin/python3", "-c", "pass"]], times)
        print("start-up %-18s %.2f times python3 -c pass (bar %d)" % (model, ours / python, bar))


def native_ratios(lathe, models, env, cache):
    def clear():
        shutil.rmtree(cache, ignore_errors=True)

    with tempfile.NamedTemporaryFile("w", suffix=".lathe") as text:
        text.write("graph @f(%x: f32[8]) { %y = aten.neg(%x) return %y }\n")
        text.flush()
        near_empty = []
        for _ in range(5):
            clear()
            near_empty.append(compile_report(
                lathe, ["run", text.name, "-i", "x=8xf32=1", "--tier", "native"],
                env)["seconds"]["codegen"])
    empty = statistics.median(near_empty)
    for model in models:
        cold = []
        for _ in range(3):
            clear()
            report = compile_report(lathe, check(lathe, model, "native")[1:], env)
            cold.append(report["seconds"]["codegen"])
        allowed = 3 * empty + 0.5 * empty * report["distinct_kernels"]
        warm, tile = alternate([check(lathe, model, "native"), check(lathe, model, "tile")], 7,
                               env=env)
        print("native %-22s %2d kernels, compile %.2f of the bar, warm %.2f times tile (bar 1.5)"
              % (model, report["distinct_kernels"], statistics.median(cold) / allowed,
                 warm / tile))


def middle_end(lathe, directory):
    generate = os.path.join(os.path.dirname(__file__), "generate_program.py")
    taken = {}
    for count in (10000, 100000):
        path = os.path.join(directory, "g%d.pt2" % count)
        subprocess.run([sys.executable, generate, str(count), path], check=True)
        with open(os.devnull, "wb") as sink:
            subprocess.run(["cat", path], stdout=sink, check=True)
        taken[count] = statistics.median(
            seconds([lathe, "show", path, "--stage", "memory"]) for _ in range(3))
        report = compile_report(lathe, ["run", path, "-i", "x=4x8x64xf32=0.5", "--tier", "tile"],
                                None)
        print("middle end %6d nodes (%d after CSE): %.0f nodes a second after CSE, %s" % (
            count, report["nodes_compiled"], report["nodes_compiled"] / taken[count],
            {k: round(v, 3) for k, v in report["seconds"].items()}))
    print("middle end: 100 000 nodes take %.1f times 10 000 (bar 12)"
          % (taken[100000] / taken[10000]))


def big_archive(lathe, directory):
    """mlp with one more weight of 2 GB that the program does not read."""
    path = os.path.join(directory, "big.pt2")
    source = zipfile.ZipFile(MODELS + "/mlp.pt2")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("weights_config.json"):
                config = json.loads(data)
                first = next(iter(config["config"].values()))
                meta = json.loads(json.dumps(first["tensor_meta"]))
                meta["sizes"], meta["strides"] = [{"as_int": 1 << 29}], [{"as_int": 1}]
                config["config"]["big"] = dict(first, path_name="weight_big", tensor_meta=meta)
                data = json.dumps(config).encode()
            archive.writestr(name, data)
        # Records begin at multiples of 64 bytes, as PyTorch writes them: 30 bytes of header, the
        # name, the sizes in 64 bits, then padding.
        info = zipfile.ZipInfo("mlp/data/weights/weight_big")
        begin = archive.fp.tell() + 30 + len(info.filename) + 20 + 4
        padding = -begin % 64
        info.extra = struct.pack("<HH", 0x4246, padding) + bytes(padding)
        with archive.open(info, "w", force_zip64=True) as big:
            for _ in range(2048):
                big.write(bytes(1 << 20))
    show = [lathe, "show", "--stage", "import"]
    big, small = alternate([show[:2] + [path] + show[2:],
                            show[:2] + [MODELS + "/mlp.pt2"] + show[2:]], 9)
    child = subprocess.Popen(show[:2] + [path] + show[2:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    print("2 GB archive: %.1f ms more than the small one (bar 50), %.0f MB resident (bar 100), exit %d"
          % (1e3 * (big - small), usage.ru_maxrss / 1e3, status))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lathe", required=True)
    parser.add_argument("--times", type=int, default=21)
    parser.add_argument("--models", default="")
    arguments = parser.parse_args()
    models = arguments.models.split(",") if arguments.models else sorted(
        f[:-4] for f in os.listdir(MODELS) if f.endswith(".pt2"))
    with tempfile.TemporaryDirectory() as directory:
        cache = os.path.join(directory, "cache")
        env = dict(os.environ, LATHE_CACHE_DIR=cache)
        python_ratios(arguments.lathe, arguments.times)
        native_ratios(arguments.lathe, models, env, cache)
        big_archive(arguments.lathe, directory)
        middle_end(arguments.lathe, directory)


if __name__ == "__main__":
    main()
