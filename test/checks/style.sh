#!/bin/sh
# The mechanical part of the style, where a machine is never wrong: no line over
# 100 columns (80 is the aim), no tab, no trailing blank, a newline at the end,
# no function over 80 lines in the library. Taste is left to the reader.
set -eu
cd "$(dirname "$0")/../.."

files=$(find include lib run curl base config net observe store proxy sim replay cmd test fuzz bench examples -name '*.[ch]' | sort)
[ -n "$files" ] || { echo "no source"; exit 1; }
# shellcheck disable=SC2086
LC_ALL=C.UTF-8 awk '
    function bad(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; fail = 1 }
    FNR == 1 { start = 0; inlib = FILENAME ~ /^lib\// }
    length($0) > 100 { bad("line of " length($0) " columns") }
    /[ \t\r]$/ { bad("trailing blank") }
    /\t/ { bad("tab") }
    # A function body opens with a brace in column 0, or at the end of its
    # unindented signature, and ends with a brace in column 0.
    inlib && (/^\{/ || /^[A-Za-z_].*\)[ ]*\{$/ || /^[ ].*\)[ ]*\{$/ && !start && open_sig) {
        if (!start) start = FNR
    }
    { open_sig = /^[A-Za-z_].*[(,]$/ }
    inlib && /^\}$/ && start {
        if (FNR - start + 1 > 80)
            bad("function of " FNR - start + 1 " lines ends here")
        start = 0
    }
    END { exit fail }
' $files

for f in $files; do
    [ ! -s "$f" ] || [ -z "$(tail -c 1 "$f")" ] || {
        echo "$f: no newline at the end"
        exit 1
    }
done
