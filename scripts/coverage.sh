#!/bin/sh
# coverage.sh BUILD_DIR MIN_LINE_PERCENT: report the coverage of lib/ that the
# last test run in BUILD_DIR left; fail under the minimum. The report by line is
# BUILD_DIR/coverage/index.html.
set -eu
dir=$1
min=$2
cd "$(dirname "$0")/.."
mkdir -p "$dir/coverage"
gcovr --root . --filter 'lib/' --object-directory "$dir" \
    --html-details "$dir/coverage/index.html" \
    --txt "$dir/coverage/lines.txt" --json-summary "$dir/coverage/summary.json" \
    "$dir" >"$dir/coverage/log" 2>&1 || { cat "$dir/coverage/log"; exit 1; }

python3 - "$dir/coverage/summary.json" "$min" <<'P'
import json
import sys

total = json.load(open(sys.argv[1]))
minimum = float(sys.argv[2])
lines = 100.0 * total["line_covered"] / max(total["line_total"], 1)
branches = 100.0 * total["branch_covered"] / max(total["branch_total"], 1)
print(f"coverage of lib/: {lines:.1f} % of {total['line_total']} lines, "
      f"{branches:.1f} % of {total['branch_total']} branches")
for file in sorted(total["files"], key=lambda f: f["line_percent"] or 0):
    share = 100.0 * file["line_covered"] / max(file["line_total"], 1)
    if share < minimum:
        print(f"    {file['filename']}: {share:.1f} % of {file['line_total']} lines")
if lines < minimum:
    print(f"under the minimum of {minimum:g} % of lines")
    sys.exit(1)
P
