#!/bin/sh
# The program in README.md is examples/blocking.c, to the letter, and the difference in
# examples/README.md is that of the two programs: what a reader sees first is
# compiled and run. So is the command that builds one with an installed bide.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT

# block FILE LANGUAGE: the first block of it.
block() {
    awk -v "begin=\`\`\`$2" '
        /^```/ { if (inside) exit; inside = $0 == begin; next }
        inside' "$1" >"$tmp"
    [ -s "$tmp" ] || { echo "$1: no block of $2"; exit 1; }
}

block README.md c
diff -u examples/blocking.c "$tmp"

line=$(grep '^cc examples/' README.md)
grep -qxF "\$ $line" test/journeys/libcurl.txt ||
    { echo "test/journeys/libcurl.txt does not run: $line"; exit 1; }

# But for the first line, which tells of the other file.
block examples/README.md diff
{ diff -U 0 examples/curl_before.c examples/curl_after.c || true; } |
    sed -e '/^@@/d' -e '/^---/d' -e '/^+++/d' -e '/^[-+]\/\*/d' | diff -u - "$tmp"
