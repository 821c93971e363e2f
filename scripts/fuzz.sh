#!/bin/sh
# fuzz.sh SECONDS [NAME...]: fuzz each target for so long, two at a time, from
# the inputs in fuzz/corpus/. New inputs go to build-fuzz/corpus/, crashing ones
# to build-fuzz/crashes/: put those worth keeping into fuzz/corpus/<name>/.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift
dir=build-fuzz
mkdir -p "$dir"
CC=clang scripts/configure.sh "$dir/clang" -Dfuzzers=true -Dtests=false \
    -Dexamples=false -Db_lundef=false -Db_sanitize=address,undefined \
    -Dc_args='-fno-sanitize-recover=all -fsanitize=float-cast-overflow,local-bounds' \
    >"$dir/log" 2>&1 && ninja -C "$dir/clang" >>"$dir/log" 2>&1 ||
    { tail -n 40 "$dir/log"; exit 1; }

names=${*:-$(cd "$dir/clang/fuzz" && ls -d fuzz_* | grep -v '\.p$' | sed 's/^fuzz_//')}
fuzz_one() {
    mkdir -p "$dir/corpus/$1" "$dir/crashes"
    dict=
    [ ! -f "fuzz/$1.dict" ] || dict="-dict=fuzz/$1.dict"
    # shellcheck disable=SC2086
    if "$dir/clang/fuzz/fuzz_$1" -max_total_time="$seconds" -max_len=4096 \
        -timeout=5 -print_final_stats=1 $dict \
        -artifact_prefix="$dir/crashes/$1-" \
        "$dir/corpus/$1" "fuzz/corpus/$1" >"$dir/$1.log" 2>&1; then
        echo "$1: $(awk '/number_of_executed_units/ { print $2 }' "$dir/$1.log") inputs, no crash"
    else
        echo "$1: FAILED, see $dir/$1.log"
        tail -n 40 "$dir/$1.log"
        return 1
    fi
}

fail=0
pids=
running=0
for name in $names; do
    fuzz_one "$name" &
    pids="$pids $!"
    running=$((running + 1))
    if [ $running -eq 2 ]; then
        for pid in $pids; do wait "$pid" || fail=1; done
        pids=
        running=0
    fi
done
for pid in $pids; do wait "$pid" || fail=1; done
exit $fail
