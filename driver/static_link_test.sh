#!/bin/bash
# The binary starts on other distributions: it needs no shared object but libc's own.
set -euo pipefail
if nm -D "$1" | grep -qE "__(asan|tsan|ubsan)_"; then
  echo "a sanitizer's runtime is a shared object"
  exit 0
fi
others=$(ldd "$1" | grep -vE "linux-vdso|ld-linux|lib(c|m|dl|pthread)\.so" || true)
if [[ -n $others ]]; then
  echo "unexpected shared objects: $others"
  exit 1
fi
