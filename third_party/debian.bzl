"""Libraries of Debian 12 as Bazel repositories: headers copied, archives linked."""

def _debian_impl(ctx):
    present = all([ctx.path(p).exists for p in ctx.attr.headers])
    if not present and not ctx.attr.optional:
        fail("%s is missing: run ./bazelw, or apt-get install %s" % (ctx.name, ctx.attr.package))

    # Copied, not linked, so that --sandbox_block_path can hide the originals.
    ctx.execute(["mkdir", "-p", "include"])
    for p in (ctx.attr.headers if present else []):
        ctx.execute(["cp", "-aL", p, "include/"])
    ctx.file("defs.bzl", "PRESENT = %s\n" % present)
    srcs = []
    if ctx.attr.source and present:
        ctx.symlink(ctx.attr.source, "source.cc")
        srcs = ["source.cc"]

    # A directory as hdrs: a glob would make the sandbox link hundreds of files for every compile.
    ctx.file("BUILD.bazel", """package(default_visibility = ["//visibility:public"])
filegroup(name = "files", srcs = ["include"])
cc_library(name = "%s", srcs = %r, hdrs = ["include"], includes = ["include"], defines = %r, linkopts = %r, target_compatible_with = %r)
""" % (ctx.name, srcs, ctx.attr.defines, ctx.attr.linkopts, [] if present else ["@lathe//third_party:absent"]))

debian = repository_rule(implementation = _debian_impl, local = True, attrs = {
    "package": attr.string(mandatory = True),
    "headers": attr.string_list(mandatory = True),
    "defines": attr.string_list(),
    "linkopts": attr.string_list(),
    "optional": attr.bool(),
    # Compiled in place of the package's library.
    "source": attr.label(allow_single_file = True),
})

_ABSL = ["statusor", "status", "cord", "cordz_info", "cord_internal", "cordz_functions", "cordz_handle", "hash", "city", "low_level_hash", "raw_hash_set", "hashtablez_sampler", "exponential_biased", "str_format_internal", "strings", "strings_internal", "strerror", "int128", "synchronization", "graphcycles_internal", "stacktrace", "symbolize", "demangle_internal", "debugging_internal", "malloc_internal", "time", "civil_time", "time_zone", "bad_optional_access", "bad_variant_access", "base", "spinlock_wait", "throw_delegate", "raw_logging_internal", "log_severity"]

def _static(libs):
    # The shipped binary starts on other distributions, and 4 ms sooner.
    return ["-Wl,--push-state,-Bstatic,--start-group"] + ["-l" + l for l in libs] + ["-Wl,--end-group,--pop-state"]

def debian_libraries():
    i = "/usr/include/"
    debian(name = "absl", package = "libabsl-dev", headers = [i + "absl"], linkopts = _static(["absl_" + l for l in _ABSL]) + ["-lpthread"])
    debian(name = "hwy", package = "libhwy-dev", headers = [i + "hwy"], source = "@lathe//third_party:highway_targets.cc",
           # Our baseline is scalar with every compiler: since g++ 12.3 it would be vectors of 16 bytes.
           defines = ["HWY_BROKEN_EMU128=1"])
    debian(name = "eigen", package = "libeigen3-dev", headers = [i + "eigen3/Eigen", i + "eigen3/unsupported"])
    debian(name = "gtest", package = "libgmock-dev", headers = [i + "gtest", i + "gmock"], linkopts = ["-lgmock_main", "-lgmock", "-lgtest", "-lpthread"])
    debian(name = "benchmark", package = "libbenchmark-dev", headers = [i + "benchmark"], linkopts = ["-lbenchmark", "-lpthread"])
    debian(name = "rapidjson", package = "rapidjson-dev", headers = [i + "rapidjson"])
    debian(name = "minizip", package = "libminizip-dev", headers = [i + "minizip"], linkopts = _static(["minizip", "z"]))
    debian(name = "zlib", package = "zlib1g-dev", headers = [i + "zlib.h", i + "zconf.h"], linkopts = _static(["z"]))
    debian(name = "xxhash", package = "libxxhash-dev", headers = [i + "xxhash.h", i + "xxh3.h"], linkopts = _static(["xxhash"]))
    debian(name = "libmd", package = "libmd-dev", headers = [i + "md5.h"], linkopts = _static(["md"]))
    # A faster malloc, for binaries alone; sanitizers bring their own.
    debian(name = "jemalloc", package = "libjemalloc-dev", headers = [i + "jemalloc"], linkopts = _static(["jemalloc_pic"]) + ["-lpthread"])
