#!/bin/sh
# run.sh MODEL.pml...: check models exhaustively with Spin.
#
# A model says how it is to be run in lines of its own, one run per line:
#
#   // run: [name] [spin=-DN=3] [cc=-DSAFETY] [pan=-m100000] [expect=error]
#
# `spin`, `cc` and `pan` may be repeated, one flag each. Without such a line
# there is one run with -DSAFETY. `expect=error` is for a model with a known
# mistake switched on: the checker must find it, or the model proves nothing.
# A search that was cut short (depth, memory) is a failure, not a pass.
set -u

fail() {
    echo "FAIL $1: $2"
    [ ! -f "$3" ] || tail -n 60 "$3"
    failed=1
}

# run_one MODEL NAME EXPECT SPIN_FLAGS CC_FLAGS PAN_FLAGS, in an empty directory
run_one() {
    model=$1 name=$2 expect=$3
    # shellcheck disable=SC2086
    spin -a $4 "$model" >spin.log 2>&1 && [ -f pan.c ] ||
        { fail "$name" "spin refused the model" spin.log; return; }
    # shellcheck disable=SC2086
    "${CC:-gcc}" -O2 -w $5 -o pan pan.c >cc.log 2>&1 ||
        { fail "$name" "pan.c does not compile" cc.log; return; }
    # shellcheck disable=SC2086
    ./pan $6 >pan.log 2>&1
    grep -q 'errors: ' pan.log || { fail "$name" "pan did not finish" pan.log; return; }
    if [ "$expect" = error ]; then
        grep -q 'errors: [1-9]' pan.log ||
            { fail "$name" "the planted mistake was not found" pan.log; return; }
    else
        if ! grep -q 'errors: 0' pan.log; then
            [ ! -f "$(basename "$model").trail" ] ||
                spin -t -p -g $4 "$model" 2>&1 | tail -n 120 >>pan.log
            fail "$name" "errors found" pan.log
            return
        fi
        ! grep -qE 'max search depth too small|Search not completed|out of memory' pan.log ||
            { fail "$name" "the search was cut short" pan.log; return; }
    fi
    echo "ok $name: $(grep -oE 'errors: [0-9]+' pan.log | head -n 1)," \
        "$(awk '/states, stored/ { print $1; exit }' pan.log) states"
}

[ $# -gt 0 ] || { echo "usage: $0 MODEL.pml..." >&2; exit 2; }
failed=0
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
for file in "$@"; do
    model=$(cd "$(dirname "$file")" && pwd)/$(basename "$file")
    [ -f "$model" ] || { echo "no model $file"; exit 1; }
    base=$(basename "$model" .pml)
    sed -nE 's@^[[:space:]]*(//|/\*|\*)[[:space:]]*run:[[:space:]]*(.*)$@run \2@p' "$model" |
        sed 's@[[:space:]]*\*/[[:space:]]*$@@' >"$top/runs"
    [ -s "$top/runs" ] || echo run >"$top/runs"
    number=0
    while read -r _ spec <&3; do
        number=$((number + 1))
        name=$base/$number expect=pass spin_flags= cc_flags= pan_flags=
        for word in $spec; do
            case $word in
            spin=*) spin_flags="$spin_flags ${word#spin=}" ;;
            cc=*) cc_flags="$cc_flags ${word#cc=}" ;;
            pan=*) pan_flags="$pan_flags ${word#pan=}" ;;
            expect=*) expect=${word#expect=} ;;
            *) name=$base/$word ;;
            esac
        done
        [ -n "$cc_flags" ] || cc_flags=-DSAFETY
        mkdir "$top/$base.$number" && cd "$top/$base.$number" || exit 1
        run_one "$model" "$name" "$expect" "$spin_flags" "$cc_flags" "$pan_flags"
        cd "$top" || exit 1
    done 3<"$top/runs"
done
exit $failed
