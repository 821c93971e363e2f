#!/bin/sh
# Replays every script and log of this directory and compares what comes out, to
# the byte, with the file beside it that ends in .out: standard output, then
# standard error, the exit code, and the page of --html $tmp/page.html. TAP on
# standard output.
#
#   run.sh BIDE            test
#   run.sh --update BIDE   record anew; then read the diff against DESIGN 4
#
# A script names its arguments in its first line, logs have theirs in logs.txt.
set -u
update=
[ "${1-}" = --update ] && { update=1; shift; }
bide=$(realpath "${1:?the program}")
cd "$(dirname "$0")" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export COLUMNS=80 LC_ALL=C
n=0

# check NAME ARGUMENTS: the arguments as a shell would read them.
check() {
    n=$((n + 1))
    eval "set -- \"\$1\" $2"
    name=$1
    shift
    "$bide" replay "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    echo "exit code $?" >"$tmp/code"
    touch "$tmp/page.html" # if --html was not asked for
    cat "$tmp/out" "$tmp/err" "$tmp/code" "$tmp/page.html" >"$tmp/all"
    rm "$tmp/page.html"
    [ -z "$update" ] || cp "$tmp/all" "$name.out"
    if diff -u "$name.out" "$tmp/all" >"$tmp/diff" 2>&1; then
        echo "ok $n - $name"
    else
        sed 's/^/# /' "$tmp/diff"
        echo "not ok $n - $name"
    fi
}

for script in *.jsonl; do
    check "${script%.jsonl}" \
        "$(sed -n '1s/^# bide replay//p' "$script") $script"
done
while read -r name arguments; do
    case $name in '#'*) ;; *) check "$name" "$arguments" ;; esac
done <logs.txt
echo "1..$n"
