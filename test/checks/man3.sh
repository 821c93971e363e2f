#!/bin/sh
# man3.sh: every function that a library exports has a page in section 3, and the pages
# are formatted without a warning.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$here/../../scripts/man3.py" "$tmp" "$here"/../../include/bide/*.h
fail=0
for name in $(cat "$here"/*symbols.txt); do
    [ -s "$tmp/${name%_sized}.3" ] || { echo "no page for $name"; fail=1; }
done
if command -v groff >/dev/null; then
    for page in "$tmp"/*.h.3; do
        groff -man -Tutf8 -ww -z "$page" >"$tmp/said" 2>&1 || fail=1
        [ ! -s "$tmp/said" ] || { echo "${page##*/}:"; cat "$tmp/said"; fail=1; }
    done
fi
for page in "$tmp"/*.h.3; do # a name and what it is for, as apropos wants them
    grep -A1 '^.SH NAME' "$page" | grep -q ' \\- [a-z]' || { echo "$page: no NAME"; fail=1; }
done
[ "$fail" -eq 0 ] && echo "$(ls "$tmp"/*.3 | wc -l) pages"
