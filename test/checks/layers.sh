#!/bin/sh
# The rule of lib/: no clock, no randomness, no memory, no I/O, no lock. What
# the engine needs from its host goes through the one named hook file, host.c.
# (symbols.sh checks the same from the other side, on the object files.)
set -eu
cd "$(dirname "$0")/../.."

files=$(ls lib/*.c lib/*.h 2>/dev/null | grep -v '^lib/host\.c$' || true)
[ -n "$files" ] || { echo "lib/ holds no source"; exit 1; }
files="$files $(ls include/bide/*.h)"

# Functions, as a call or as an address taken: the bare word.
words='clock_gettime|clock_nanosleep|gettimeofday|timespec_get|ftime|localtime|gmtime|mktime
malloc|calloc|realloc|aligned_alloc|posix_memalign|alloca|strdup|strndup|mmap|munmap|madvise
printf|fprintf|sprintf|snprintf|vprintf|vfprintf|vsnprintf|dprintf|puts|fputs|putchar|perror
fopen|fdopen|fclose|fread|fwrite|fgets|stdin|stdout|stderr
sleep|usleep|nanosleep|poll|select|epoll_wait|sched_yield|sched_getcpu
pthread_[a-z_]+|mtx_[a-z_]+|cnd_[a-z_]+|thrd_[a-z_]+|call_once
rand|srand|rand_r|random|srandom|drand48|getrandom|getentropy|arc4random
getenv|setenv|setlocale|localeconv|strtod|strtof|atof|strtok|strerror|errno
syscall|socket|connect|open|read|write|close|ioctl|fork|getpid|gettid|signal|sigaction'
# Words that are also good names for other things: only as a plain call, so that
# a struct's `time` member or a vtable's `->free(` is not one.
calls='time|clock|free|abort|exit|raise|atexit'
includes='time|stdio|unistd|pthread|threads|signal|fcntl|locale|sys/[a-z_/]+'

words=$(echo "$words" | tr '\n' '|' | sed 's/|$//')
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
# shellcheck disable=SC2086
test/checks/strip_comments.py $files >"$stripped"

fail=0
report() {
    echo "$1:"
    cat
    fail=1
}
found=$(grep -E ":[0-9]+:.*(^|[^A-Za-z0-9_.>])($words)[[:space:]]*([(;,)]|$)" "$stripped" || true)
[ -z "$found" ] || { echo "not in lib/ (host.c is the hook):"; echo "$found"; fail=1; }
found=$(grep -E ":[0-9]+:(.*[^A-Za-z0-9_.> ])?[[:space:]]*($calls)[[:space:]]*\(" "$stripped" || true)
[ -z "$found" ] || { echo "not in lib/ (host.c is the hook):"; echo "$found"; fail=1; }
found=$(grep -E ":[0-9]+:[[:space:]]*#[[:space:]]*include[[:space:]]*<($includes)\.h>" "$stripped" || true)
[ -z "$found" ] || { echo "headers that lib/ has no use for:"; echo "$found"; fail=1; }
found=$(grep -E ":[0-9]+:[[:space:]]*#[[:space:]]*define[[:space:]]+_(GNU|POSIX_C|DEFAULT|XOPEN)_SOURCE" "$stripped" || true)
[ -z "$found" ] || { echo "lib/ is plain C11:"; echo "$found"; fail=1; }

# The layers above must not be reached from below.
found=$(grep -E ":[0-9]+:[[:space:]]*#[[:space:]]*include[[:space:]]*\"(\.\./|(run|curl|config|net|proxy|queue|store|observe|sim|cli)/)" "$stripped" || true)
[ -z "$found" ] || { echo "lib/ includes a layer above it:"; echo "$found"; fail=1; }
exit $fail
