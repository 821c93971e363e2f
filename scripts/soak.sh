#!/bin/sh
# soak.sh [REQUESTS]: the sidecar's conservation test with many requests (a
# million), as a release is built but with its asserts.
set -eu
cd "$(dirname "$0")/.."
dir=build-soak
mkdir -p "$dir"
scripts/configure.sh "$dir/build" -Doptimization=2 -Ddebug=true \
    >"$dir/log" 2>&1 &&
    ninja -C "$dir/build" cli/bide cli/bide-proxy test/fault/fault-server \
        >>"$dir/log" 2>&1 ||
    { tail -n 40 "$dir/log"; exit 1; }
BIDE_FAULT_SERVER=$PWD/$dir/build/test/fault/fault-server
export BIDE_FAULT_SERVER
exec test/proxy/e2e_conservation.py "$dir/build/cli/bide" "${1:-1000000}"
