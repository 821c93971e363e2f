#!/bin/sh
# headers.sh STANDARD HEADER COMPILER...: the header compiles alone, twice
# included, without a warning.
set -eu
std=$1
header=$2
shift 2
include=$(cd "$(dirname "$0")/../../include" && pwd)
case $std in
c++*) lang=c++ extra=-Wold-style-cast ;;
*) lang=c extra="-Wstrict-prototypes -Wmissing-prototypes" ;;
esac

name=bide/$(basename "$header")
# shellcheck disable=SC2086
printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
    "$@" -x $lang -std="$std" -pedantic-errors -Wall -Wextra -Wshadow \
        -Wconversion -Wundef -Werror $extra -I"$include" -fsyntax-only -
