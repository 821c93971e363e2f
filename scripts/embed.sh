#!/bin/sh
# embed.sh FILE...: writes C in which each file is an array of bytes, and a table
# of them (sim/builtin.h). A file's name is that of the scenario; the sentence
# about it is its first line, a comment.
set -eu

echo '#include "builtin_table.h"'
i=0
for file in "$@"; do
    printf '\nstatic const unsigned char text_%d[] = {\n' "$i"
    od -An -v -tu1 "$file" | sed 's/\([0-9][0-9]*\)/\1,/g'
    printf '0 };\n'
    i=$((i + 1))
done
printf '\nconst struct sim_builtin sim_builtin_table[] = {\n'
i=0
for file in "$@"; do
    name=$(basename "$file" .yaml)
    sentence=$(sed -n '1s/^# *//p' "$file" | sed 's/[\\"]/\\&/g')
    printf '    { "%s", "%s",\n      (const char *)text_%d, sizeof text_%d - 1 },\n' \
        "$name" "$sentence" "$i" "$i"
    i=$((i + 1))
done
printf '};\n\nconst size_t sim_builtin_count = %d;\n' "$i"
