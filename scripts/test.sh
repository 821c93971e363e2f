#!/bin/sh
# Build and run every test, each where it shows most:
#
#   gcc        as users build it: every suite but `memory` and `slow`
#   asan       clang, AddressSanitizer + UBSan: whatever is C, also from the
#              outside, but `once`
#   tsan       clang, ThreadSanitizer: threads
#   valgrind   memcheck on the gcc build, for what is read before it is written:
#              unit (but not the slow ones), fuzz
#   coverage   gcc --coverage: lib; its line coverage must reach 95 %
#
#   scripts/test.sh [CONFIGURATION...]    default: all of them
#
# While one configuration is tested the next is built: most tests wait for something
# most of the time. CONTRIBUTING.md says which suite is for what.
#
# Prints a row per configuration, what failed and the ten slowest tests, and ends
# with the line `N passed, N failed`, which CI reads. Exits with 1 if anything failed.
set -u
cd "$(dirname "$0")/.." || exit 1

MIN_LINE_COVERAGE=95
ASAN_SUITES="unit fuzz cli replay translate e2e"
top=build-test
mkdir -p "$top"
rm -f "$top/summary" "$top"/built-*
all_passed=0
all_failed=0
cores=$(nproc)

row() {
    printf '%-10s %8s %8s %8s\n' "$1" "$2" "$3" "$4"
}

# finish NAME PASSED FAILED STARTED: print the row, add to the totals.
finish() {
    row "$1" "$2" "$3" "$(($(date +%s) - $4)) s"
    all_passed=$((all_passed + $2))
    all_failed=$((all_failed + $3))
}

# ===== builds =====

# build NAME SUITES MESON_ARGS...: configure $top/NAME and compile what the tests of
# these suites need; all there is, if SUITES is "all".
build() {
    dir=$top/$1
    suites=$2
    shift 2
    scripts/configure.sh "$dir" "$@" || return
    # A directory from before may not know yet what its meson.build says by now.
    ninja -C "$dir" build.ninja || return
    targets=
    # shellcheck disable=SC2086
    [ "$suites" = all ] || targets=$(scripts/targets.py "$dir" $suites) || return
    # shellcheck disable=SC2086
    nice -n "$nice" ninja -C "$dir" $targets
}

build_gcc() {
    CC=gcc build gcc all -Dexamples=true -Dwerror=true -Dbenchmarks=true
}

build_asan() {
    CC=clang build asan "$ASAN_SUITES" -Dwerror=true -Db_lundef=false \
        -Db_sanitize=address,undefined \
        -Dc_args='-fno-sanitize-recover=all -fsanitize=float-cast-overflow,local-bounds -fno-omit-frame-pointer'
}

build_tsan() {
    CC=clang build tsan threads -Dwerror=true -Db_lundef=false \
        -Db_sanitize=thread -Dc_args=-fno-omit-frame-pointer
}

build_valgrind() {
    build_gcc
}

build_coverage() {
    # Without asserts: their failing branch is not for a test to take.
    CC=gcc build coverage lib -Db_coverage=true -Db_ndebug=true \
        -Dbuildtype=debug -Dc_args=-fprofile-update=atomic
}

# build_all CONFIGURATION...: one after the other; built-NAME holds how it went. All
# but the first are in no hurry.
build_all() {
    nice=0
    for name in "$@"; do
        ("build_$name") >"$top/$name.log" 2>&1
        echo $? >"$top/building"
        mv "$top/building" "$top/built-$name"
        nice=10
    done
}

# built NAME: waits for it; says what was wrong, if it is not there.
built() {
    while [ ! -e "$top/built-$1" ]; do
        sleep 0.5
    done
    [ "$(cat "$top/built-$1")" -ne 0 ] || return 0
    grep -E '(error|ERROR)(:| )|undefined reference' "$top/$1.log" | head -n 60
    echo "--- the build failed; all of it is in $top/$1.log"
    return 1
}

# ===== tests =====

# run NAME DIR MESON_TEST_ARGS...: run tests; sets passed, failed.
run() {
    name=$1
    dir=$2
    shift 2
    rm -f "$dir/meson-logs/log-$name"*.json
    meson test -C "$dir" --no-rebuild --logbase "log-$name" --print-errorlogs \
        "$@" >"$top/$name.out" 2>&1
    rc=$?
    # Meson adds the wrapper's name to the log's, where there is one.
    json=$(ls "$dir/meson-logs/log-$name"*.json 2>/dev/null | head -n 1)
    counts=$(scripts/tally.py "${json:-none}" "$rc")
    passed=${counts% *}
    failed=${counts#* }
    [ -z "$json" ] || scripts/tally.py --skipped "$json"
    if [ "$failed" -ne 0 ]; then
        echo "--- $name"
        scripts/tally.py --failures "${json:-none}"
        [ -s "${json:-none}" ] || tail -n 40 "$top/$name.out"
        run_alone "$name" "$dir" "$@"
    fi
}

# run_alone NAME DIR MESON_TEST_ARGS...: a few tests of servers and clocks that failed in
# the crowd are run once more, one at a time. Whichever passes now failed for want of the
# machine, which is said; the others count as they did the first time.
run_alone() {
    crowded=$(scripts/tally.py --crowded "${json:-none}")
    [ -n "$crowded" ] || return 0
    shift 2
    rm -f "$dir/meson-logs/again-$name"*.json
    # shellcheck disable=SC2086
    meson test -C "$dir" --no-rebuild --logbase "again-$name" "$@" \
        --num-processes 1 $crowded >"$top/$name.again" 2>&1
    again=$(ls "$dir/meson-logs/again-$name"*.json 2>/dev/null | head -n 1)
    mended=$(scripts/tally.py --mended "$json" "${again:-none}")
    passed=$((passed + mended))
    failed=$((failed - mended))
}

test_gcc() {
    run gcc "$top/gcc" --no-suite memory --no-suite slow \
        --num-processes $((cores * 2)) -t 2
}

test_asan() {
    # handle_*=2: cmocka's own signal handlers must not hide a report.
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:handle_segv=2:handle_sigbus=2:handle_sigfpe=2
    UBSAN_OPTIONS=print_stacktrace=1
    export ASAN_OPTIONS UBSAN_OPTIONS
    suites=
    for suite in $ASAN_SUITES; do
        suites="$suites --suite $suite"
    done
    # shellcheck disable=SC2086
    run asan "$top/asan" $suites --no-suite once \
        --num-processes $((cores * 2)) -t 4
}

test_tsan() {
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:history_size=4
    export TSAN_OPTIONS
    # ThreadSanitizer of clang 14 cannot place its shadow where a kernel
    # randomises addresses with more bits; without randomisation it always can.
    if setarch -R true 2>/dev/null; then
        run tsan "$top/tsan" --suite threads -t 4 --wrapper "setarch -R"
    else
        run tsan "$top/tsan" --suite threads -t 4
    fi
}

test_valgrind() {
    # Tests may look at this and draw fewer samples.
    BIDE_TEST_VALGRIND=1
    export BIDE_TEST_VALGRIND
    run valgrind "$top/gcc" --suite unit --suite fuzz --no-suite slow -t 10 \
        --wrapper "valgrind --quiet --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --track-origins=no --error-exitcode=99"
}

test_coverage() {
    find "$top/coverage" -name '*.gcda' -delete
    run coverage "$top/coverage" --suite lib --no-suite slow -t 4
    if scripts/coverage.sh "$top/coverage" "$MIN_LINE_COVERAGE"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

[ $# -gt 0 ] || set -- gcc asan tsan valgrind coverage
for config in "$@"; do
    case $config in
    gcc | asan | tsan | valgrind | coverage) ;;
    *) echo "no configuration '$config'" >&2; exit 2 ;;
    esac
done

# The servers of the tests write each message through to a disk, which all of them share:
# on a slow one they wait for each other, until clients give up. In memory nobody waits.
# What is left after a loss of power is shown by test/store/power.c, on a disk of its own.
scratch=
if [ -z "${TMPDIR:-}" ] && scratch=$(mktemp -d /dev/shm/bide-XXXXXX 2>/dev/null); then
    chmod 1777 "$scratch"
    TMPDIR=$scratch
    export TMPDIR
fi

rm -f "$top"/*/meson-logs/log-*.json # of runs before this one
build_all "$@" &
builds=$!
tidy() {
    kill "$builds" 2>/dev/null
    [ -z "$scratch" ] || rm -rf "$scratch"
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM
row "" passed failed time
for config in "$@"; do
    started=$(date +%s)
    # In a subshell, so that no configuration's environment reaches another.
    (
        passed=0 failed=1
        ! built "$config" || "test_$config"
        echo "$passed $failed" >"$top/counts"
    )
    read -r passed failed <"$top/counts" || { passed=0 failed=1; }
    rm -f "$top/counts"
    finish "$config" "$passed" "$failed" "$started"
done

set -- "$top"/*/meson-logs/log-*.json
[ ! -e "$1" ] || scripts/tally.py --slowest "$@"
echo "$all_passed passed, $all_failed failed" >"$top/summary"
cat "$top/summary"
[ "$all_failed" -eq 0 ]
