#!/bin/sh
# The rule of lib/ (scripts/rooms.py holds who may use whom): no clock, no randomness, no memory, no I/O, no lock. What
# the engine needs from its host goes through the one named hook, host.c and host.h.
# (symbols.sh checks the same from the other side, on the object files.)
set -eu
cd "$(dirname "$0")/../.."

files=$(ls lib/*.c lib/*.h 2>/dev/null | grep -v '^lib/host\.[ch]$' || true)
[ -n "$files" ] || { echo "lib/ holds no source"; exit 1; }
# Of the headers, the engine's own.
files="$files $(sed -n "/^bide_header_names = \[/,/^]/s/^ *'\(.*\)',.*/include\/bide\/\1/p" \
    include/bide/meson.build)"

# Functions, as a call or as an address taken: the bare word.
words='clock_gettime|clock_nanosleep|gettimeofday|timespec_get|localtime|gmtime|mktime
malloc|calloc|realloc|aligned_alloc|posix_memalign|alloca|strdup|strndup|mmap|munmap|madvise
printf|fprintf|sprintf|snprintf|vprintf|vfprintf|vsnprintf|dprintf|puts|fputs|putchar|perror
fopen|fdopen|fclose|fread|fwrite|fgets|stdin|stdout|stderr
usleep|nanosleep|epoll_wait|sched_yield|sched_getcpu|pthread_[a-z_]+|mtx_[a-z_]+|cnd_[a-z_]+|thrd_[a-z_]+
srand|rand_r|srandom|drand48|getrandom|getentropy|arc4random
getenv|setenv|setlocale|localeconv|strtod|strtof|atof|strtok|strerror|errno|syscall|ioctl|sigaction'
# Words that are also good names for other things: only as a plain call, so that
# a member named `open` or a vtable's `->free(` is not one.
calls='time|clock|free|abort|exit|raise|atexit|rand|random|sleep|poll|select|signal
open|read|write|close|socket|connect|send|recv|fork|getpid|gettid'
includes='time|stdio|unistd|pthread|threads|signal|fcntl|locale|sys/[a-z_/]+'

words=$(echo "$words" | paste -sd '|')
calls=$(echo "$calls" | paste -sd '|')
stripped=$(mktemp)
trap 'rm -f "$stripped" "$stripped.found"' EXIT
# shellcheck disable=SC2086
test/checks/strip_comments.py $files >"$stripped"

fail=0
# forbid MESSAGE PATTERN: no line of code matches.
forbid() {
    if grep -E ":[0-9]+:$2" "$stripped" >"$stripped.found"; then
        echo "$1:"
        cat "$stripped.found"
        fail=1
    fi
}

forbid "not in lib/ (host.c is the hook)" \
    "(.*[^A-Za-z0-9_.>])?($words)[[:space:]]*([(;,)]|\$)"
forbid "not in lib/ (host.c is the hook)" \
    "(.*([^A-Za-z0-9_.>[:space:]]|\b(return|else|do)))?[[:space:]]*($calls)[[:space:]]*\("
directive='[[:space:]]*#[[:space:]]*'
forbid "headers that lib/ has no use for" \
    "${directive}include[[:space:]]*<($includes)\.h>"
forbid "lib/ is plain C11" \
    "${directive}define[[:space:]]+_(GNU|POSIX_C|DEFAULT|XOPEN)_SOURCE"
exit $fail
