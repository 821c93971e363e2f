#!/bin/sh
# Build and run every test, in every configuration:
#
#   gcc        every suite, also those against real servers
#   asan       clang, AddressSanitizer + UBSan: unit, fuzz replay, the program,
#              and the drivers against real servers
#   tsan       clang, ThreadSanitizer: threads
#   valgrind   memcheck on the gcc build: unit (but not the slow ones), fuzz
#   coverage   gcc --coverage: line coverage of lib/ must reach 95 %
#
#   scripts/test.sh [CONFIGURATION...]    default: all of them
#
# Prints a row per configuration, what failed and the ten slowest tests, and ends
# with the line `N passed, N failed`, which CI reads. Exits with 1 if anything failed.
set -u
cd "$(dirname "$0")/.." || exit 1

MIN_LINE_COVERAGE=95
top=build-test
mkdir -p "$top"
rm -f "$top/summary"
all_passed=0
all_failed=0

row() {
    printf '%-10s %8s %8s %8s\n' "$1" "$2" "$3" "$4"
}

# finish NAME PASSED FAILED STARTED: print the row, add to the totals.
finish() {
    row "$1" "$2" "$3" "$(($(date +%s) - $4)) s"
    all_passed=$((all_passed + $2))
    all_failed=$((all_failed + $3))
}

# build NAME MESON_ARGS...: configure and compile $top/NAME.
build() {
    dir=$top/$1
    log=$top/$1.log
    shift
    if scripts/configure.sh "$dir" -Dexamples=true "$@" >"$log" 2>&1 &&
        ninja -C "$dir" >>"$log" 2>&1; then
        return 0
    fi
    grep -E '(error|ERROR)(:| )|undefined reference' "$log" | head -n 60
    echo "--- the build failed; all of it is in $log"
    return 1
}

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
    fi
}

config_gcc() {
    CC=gcc build gcc -Dwerror=true -Dbenchmarks=true ||
        { passed=0 failed=1; return; }
    run gcc "$top/gcc"
}

config_asan() {
    # handle_*=2: cmocka's own signal handlers must not hide a report.
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:handle_segv=2:handle_sigbus=2:handle_sigfpe=2
    UBSAN_OPTIONS=print_stacktrace=1
    export ASAN_OPTIONS UBSAN_OPTIONS
    CC=clang build asan -Dwerror=true -Db_lundef=false \
        -Db_sanitize=address,undefined \
        -Dc_args='-fno-sanitize-recover=all -fsanitize=float-cast-overflow,local-bounds -fno-omit-frame-pointer' ||
        { passed=0 failed=1; return; }
    run asan "$top/asan" --suite unit --suite fuzz --suite cli --suite replay \
        --suite translate --suite e2e -t 4
}

config_tsan() {
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:history_size=4
    export TSAN_OPTIONS
    CC=clang build tsan -Dwerror=true -Db_lundef=false -Db_sanitize=thread \
        -Dc_args=-fno-omit-frame-pointer ||
        { passed=0 failed=1; return; }
    # ThreadSanitizer of clang 14 cannot place its shadow where a kernel
    # randomises addresses with more bits; without randomisation it always can.
    if setarch -R true 2>/dev/null; then
        run tsan "$top/tsan" --suite threads -t 4 --wrapper "setarch -R"
    else
        run tsan "$top/tsan" --suite threads -t 4
    fi
}

config_valgrind() {
    CC=gcc build gcc -Dwerror=true -Dbenchmarks=true ||
        { passed=0 failed=1; return; }
    # Tests may look at this and draw fewer samples.
    BIDE_TEST_VALGRIND=1
    export BIDE_TEST_VALGRIND
    run valgrind "$top/gcc" --suite unit --suite fuzz --no-suite slow -t 10 \
        --wrapper "valgrind --quiet --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --track-origins=no --error-exitcode=99"
}

config_coverage() {
    # Without asserts: their failing branch is not for a test to take.
    CC=gcc build coverage -Db_coverage=true -Db_ndebug=true -Dbuildtype=debug \
        -Dc_args=-fprofile-update=atomic ||
        { passed=0 failed=1; return; }
    find "$top/coverage" -name '*.gcda' -delete
    run coverage "$top/coverage" --suite unit --suite threads --suite fuzz
    if scripts/coverage.sh "$top/coverage" "$MIN_LINE_COVERAGE"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

rm -f "$top"/*/meson-logs/log-*.json # of runs before this one
row "" passed failed time
for config in ${*:-gcc asan tsan valgrind coverage}; do
    case $config in
    gcc | asan | tsan | valgrind | coverage) ;;
    *) echo "no configuration '$config'" >&2; exit 2 ;;
    esac
    started=$(date +%s)
    # In a subshell, so that no configuration's environment reaches another.
    ("config_$config"; echo "$passed $failed" >"$top/counts")
    read -r passed failed <"$top/counts" || { passed=0 failed=1; }
    rm -f "$top/counts"
    finish "$config" "$passed" "$failed" "$started"
done

set -- "$top"/*/meson-logs/log-*.json
[ ! -e "$1" ] || scripts/tally.py --slowest "$@"
echo "$all_passed passed, $all_failed failed" >"$top/summary"
cat "$top/summary"
[ "$all_failed" -eq 0 ]
