#!/bin/sh
# Build the benchmarks as a release is built (-O2 -DNDEBUG) and print their
# tables. Figures are for comparison within one run, on one machine. BIDE_BASE=DIR
# sets an earlier build, made the same way in DIR, beside the sidecar.
set -eu
cd "$(dirname "$0")/.."
dir=build-bench
mkdir -p "$dir"
scripts/configure.sh "$dir/release" -Doptimization=2 -Ddebug=false \
    -Db_ndebug=true -Dtests=false -Dexamples=false -Dbenchmarks=true \
    >"$dir/log" 2>&1 && ninja -C "$dir/release" >>"$dir/log" 2>&1 ||
    { tail -n 40 "$dir/log"; exit 1; }
names=$(sed -n "/^bench_names/,/^]/s/^ *'\(.*\)',.*/\1/p" bench/meson.build)
for name in $names; do
    program=$dir/release/bench/bench_$name
    "$program"
done
bench/bench_store.py "$dir/release/bench/bench_store" "$dir/release/cmd/bide"
bench/bench_brokers.py "$dir/release/bench/bench_brokers"
bench/bench_run.py "$dir/release/cmd/bide"
bench/bench_proxy.py "$dir/release/cmd/bide" 3 5
bench/bench_http2.py "$dir/release/cmd/bide"
bench/bench_observe.py "$dir/release/cmd/bide" 2 7
bench/bench_restart.py "$dir/release/cmd/bide"
