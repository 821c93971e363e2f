#!/bin/sh
# exports.sh [--update] LIBRARY.SO LIST: the shared library exports exactly what
# test/checks/LIST names. A new public function is a decision: make it with
# --update, and review the diff. (libbide has symbols.sh, which asks for more.)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
update=
if [ "${1:-}" = --update ]; then
    update=1
    shift
fi
[ $# -eq 2 ] || { echo "usage: $0 [--update] LIBRARY.SO LIST" >&2; exit 2; }
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
export LC_ALL=C

# The version node itself shows as an absolute symbol (A).
nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort -u >"$tmp"
[ -s "$tmp" ] || { echo "$1 exports nothing"; exit 1; }
if [ -n "$update" ]; then
    cp "$tmp" "$here/$2"
    echo "$(wc -l <"$here/$2") symbols recorded"
    exit 0
fi
if grep -v '^bide_[^_]' "$tmp"; then
    echo "these are not public names"
    exit 1
fi
diff -u "$here/$2" "$tmp" || {
    echo "(if that is meant: test/checks/exports.sh --update $1 $2)"
    exit 1
}
