#!/bin/sh
# Builds plugin.wasm from src/. Takes zig (also from `pip install ziglang`) or a clang that has lld.
set -eu
cd "$(dirname "$0")"
out=${1:-plugin.wasm}

flags="-Os -std=c11 -Wall -Wextra -Wno-unused -ffreestanding -nostdlib -Wl,--no-entry -Wl,--strip-all"
if command -v zig >/dev/null 2>&1; then
    compiler="zig cc -target wasm32-freestanding"
elif "${PYTHON:-python3}" -c 'import ziglang' >/dev/null 2>&1; then
    compiler="${PYTHON:-python3} -m ziglang cc -target wasm32-freestanding"
elif command -v clang >/dev/null 2>&1 && command -v wasm-ld >/dev/null 2>&1; then
    compiler="clang --target=wasm32"
else
    echo "build.sh: needs zig (\`pip install ziglang\`) or clang with lld" >&2
    exit 1
fi
# shellcheck disable=SC2086  # words on purpose
$compiler $flags -o "$out" src/plugin.c
chmod -x "$out"  # it is data to everybody but wasmtime
