#!/bin/sh
# symbols.sh [--update] LIBBIDE.SO LIBBIDE.A
#
# 1. The shared library exports exactly what symbols.txt lists. A new public
#    function is a decision: make it with --update, and review the diff.
# 2. No object but host.o needs more of the outside world than a few functions
#    of string.h and math.h (undefined.txt); host.o has its own short list.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
update=
if [ "${1:-}" = --update ]; then
    update=1
    shift
fi
[ $# -eq 2 ] || { echo "usage: $0 [--update] LIBBIDE.SO LIBBIDE.A" >&2; exit 2; }
so=$1
archive=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C

# The version node itself shows as an absolute symbol (A).
nm -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort -u >"$tmp/exported"
[ -s "$tmp/exported" ] || { echo "$so exports nothing"; exit 1; }
if [ -n "$update" ]; then
    cp "$tmp/exported" "$here/symbols.txt"
    echo "$(wc -l <"$here/symbols.txt") symbols recorded"
    exit 0
fi

fail=0
if ! diff -u "$here/symbols.txt" "$tmp/exported" >"$tmp/diff"; then
    echo "exported symbols differ from test/checks/symbols.txt:"
    tail -n +3 "$tmp/diff"
    echo "(if that is meant: test/checks/symbols.sh --update $so $archive)"
    fail=1
fi
if grep -v '^bide_[^_]' "$tmp/exported"; then
    echo "these are not public names"
    fail=1
fi

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
