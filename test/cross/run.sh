#!/bin/sh
# run.sh MACHINE [TEST...]: the engine and the runner on another machine: built with clang and
# Debian's cross libraries, their unit tests run under qemu. MACHINE:
#
#   i386      32 bits; 64-bit atomics by cmpxchg8b
#   armel     32 bits, without 64-bit atomics: needs libatomic
#   i386-t64, armel-t64   the same with 64-bit time (_TIME_BITS=64)
#   s390x     64 bits, big-endian
#   musl      this machine, another C library
#
# Exits with 77, and says why, where a tool is missing.
set -eu
machine=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
flags= libs= run=
case $machine in
*-t64) flags="-D_TIME_BITS=64 -D_FILE_OFFSET_BITS=64" ;;
esac
case $machine in
i386*)
    triple=i686-linux-gnu qemu=qemu-i386-static
    flags="$flags -msse2 -mfpmath=sse" # as meson.build does
    ;;
armel*)
    triple=arm-linux-gnueabi qemu=qemu-arm-static libs=-latomic
    flags="$flags -Wno-atomic-alignment" # every atomic operation is a call there
    ;;
s390x) triple=s390x-linux-gnu qemu=qemu-s390x-static ;;
musl) triple= qemu= ;;
*) echo "no machine '$machine'" >&2; exit 2 ;;
esac

skip() {
    echo "skipped: $1 (scripts/setup.sh test installs it)"
    exit 77
}
if [ "$machine" = musl ]; then
    command -v musl-gcc >/dev/null || skip "no musl-gcc"
    cc=musl-gcc
    # Headers of the kernel, which musl does not bring.
    mkdir "$out/kernel"
    for d in linux asm asm-generic; do
        for from in /usr/include/$d /usr/include/x86_64-linux-gnu/$d; do
            [ ! -d "$from" ] || ln -sfn "$from" "$out/kernel/$d"
        done
    done
    flags="-isystem $out/kernel"
else
    command -v clang >/dev/null || skip "no clang"
    command -v "$qemu" >/dev/null || skip "no $qemu"
    gcc=/usr/lib/gcc-cross/$triple/12
    [ -d "$gcc" ] && [ -d "/usr/$triple/include" ] || skip "no libraries for $triple"
    command -v "$triple-ld" >/dev/null || skip "no linker for $triple"
    # Static: qemu then needs nothing but the program.
    cc="clang -Wno-unused-command-line-argument --target=$triple --ld-path=$(command -v "$triple-ld") -B$gcc -L$gcc
        -isystem /usr/$triple/include -B/usr/$triple/lib -L/usr/$triple/lib"
    run=$qemu
    # This machine runs programs for i386 itself, and better: threads that are
    # signalled crash qemu 7.2.
    case $machine-$(uname -m) in
    i386*-x86_64) run= ;;
    esac
fi
flags="$flags -std=c11 -O1 -g -Wall -Wextra -Werror
    -D_GNU_SOURCE= -iquote . -iquote test -Iinclude -Itest/cross"

# Compiled two at a time; the library's list is the build's.
sources=$(sed -n "/^bide_source_names/,/^]/s/^  '\(.*\)',/lib\/\1/p" lib/meson.build)
sources="$sources $(sed -n "/^run_source_names/,/^]/s/^  '\(.*\)',/run\/\1/p" run/meson.build)"
echo "$sources" | tr ' ' '\n' | xargs -P 2 -I{} sh -c \
    'f={}; '"$(echo $cc $flags)"' -c $f -o '"$out"'/$(echo $f | tr / _).o' || exit 1

tests="test/cross/test_sleep.c"
[ $# -gt 0 ] || set -- ns rng sized window spend lane backoff classify hint problem budget \
    budget_quota breaker breaker_half_open limit rate latency histogram policy dep \
    call call_wait hedge stats plain
for name in "$@"; do
    tests="$tests test/unit/test_$name.c"
done
tests="$tests test/run/test_wheel.c"
[ -n "$run" ] || tests="$tests test/run/test_run.c" # crowds of threads
n=0
for test in $tests; do
    program=$out/$(basename "$test" .c)
    # shellcheck disable=SC2086
    $cc $flags -static "$test" "$out"/*.o -o "$program" $libs -lm -lpthread || exit 1
    rc=0
    $run "$program" >"$out/said" 2>&1 || rc=$?
    [ $rc -ne 126 ] || skip "this kernel runs no programs for $machine"
    [ $rc -eq 0 ] ||
        { echo "$machine: $test failed"; tail -n 5 "$out/said"; exit 1; }
    n=$((n + 1))
done
echo "$machine: $n test programs passed"
