#!/bin/sh
# pictures.sh BIDE [NAME...]: makes the pictures of docs/scenarios.md anew, one for
# each scenario that comes with bide. The same program gives the same bytes.
set -eu
bide=$1
shift
cd "$(dirname "$0")/.."
mkdir -p docs/pictures
[ $# -gt 0 ] || set -- sim/scenario/builtin/*.yaml
for name; do
    name=$(basename "$name" .yaml)
    "$bide" sim "$name" --quiet --no-progress --svg "docs/pictures/$name.svg"
done
