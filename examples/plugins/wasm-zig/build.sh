#!/bin/sh
# Builds plugin.wasm from src/ with zig, also the one from `pip install ziglang`.
set -eu
cd "$(dirname "$0")"
out=${1:-plugin.wasm}

if command -v zig >/dev/null 2>&1; then
    zig=zig
elif "${PYTHON:-python3}" -c 'import ziglang' >/dev/null 2>&1; then
    zig="${PYTHON:-python3} -m ziglang"
else
    echo "build.sh: needs zig (\`pip install ziglang\`)" >&2
    exit 1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
$zig build-exe src/plugin.zig -target wasm32-freestanding -fno-entry -rdynamic -O ReleaseSmall -fstrip \
    --cache-dir "$scratch" "-femit-bin=$out"
chmod -x "$out"  # it is data to everybody but wasmtime
