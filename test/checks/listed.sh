#!/bin/sh
# Every file that should be built is named in a meson.build. Lists are written
# by hand, so that a build never depends on what lies about; this check keeps
# a forgotten line from looking like a passing test.
set -eu
cd "$(dirname "$0")/../.."
fail=0

# listed FILE KEY LIST: KEY stands quoted in LIST.
listed() {
    grep -q "^ *'$2'," "$3" || {
        echo "$1 is not in $3 (as '$2')"
        fail=1
    }
}

for f in include/bide/*.h lib/*.c; do
    [ ! -e "$f" ] || listed "$f" "$(basename "$f")" lib/meson.build
done
for f in test/unit/test_*.c test/threads/test_*.c; do
    [ -e "$f" ] || continue
    name=$(basename "$f" .c)
    listed "$f" "${name#test_}" test/meson.build
done
for f in test/spin/*.pml; do
    [ ! -e "$f" ] || listed "$f" "$(basename "$f" .pml)" test/meson.build
done
for f in fuzz/*.c; do
    [ -e "$f" ] || continue
    grep -q LLVMFuzzerTestOneInput "$f" || continue
    [ "$f" != fuzz/replay_main.c ] || continue
    listed "$f" "$(basename "$f" .c)" fuzz/meson.build
done
for f in bench/bench_*.c; do
    [ -e "$f" ] || continue
    name=$(basename "$f" .c)
    listed "$f" "${name#bench_}" bench/meson.build
done
for f in examples/*.c; do
    [ ! -e "$f" ] || listed "$f" "$(basename "$f" .c)" examples/meson.build
done
exit $fail
