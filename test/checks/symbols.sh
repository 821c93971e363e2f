#!/bin/sh
# symbols.sh LIBBIDE.SO LIBBIDE.A
#
# 1. The shared library exports exactly what symbols.txt lists (exports.sh).
# 2. No object but host.o needs more of the outside world than a few functions
#    of string.h and math.h (undefined.txt); host.o has its own short list.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || { echo "usage: $0 LIBBIDE.SO LIBBIDE.A" >&2; exit 2; }
archive=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C

fail=0
"$here/exports.sh" "$1" symbols.txt || fail=1

# A symbol that another object of the archive defines is not the outside.
nm --defined-only -g "$archive" | awk 'NF == 3 { print $3 }' | sort -u >"$tmp/own"
nm -u -A "$archive" 2>/dev/null | awk '{
    n = split($1, part, ":"); print part[n - 1] == "" ? part[n] : part[n - 1], $NF
}' | sort -u >"$tmp/needed"

while read -r object symbol; do
    grep -qxF -- "$symbol" "$tmp/own" && continue
    if grep -qE "^(any|san) +$symbol\$" "$here/undefined.txt"; then
        continue
    fi
    case $object in
    *host.c.o) grep -qE "^host +$symbol\$" "$here/undefined.txt" && continue ;;
    esac
    echo "$object needs $symbol, which test/checks/undefined.txt does not allow"
    fail=1
done <"$tmp/needed"
exit $fail
