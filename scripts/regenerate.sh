#!/bin/sh
# Write again all that is made from the program and kept in the tree: reference pages,
# schemas, the options in the manual, completions, recorded outputs and symbols. Read
# the diff before you commit it.
#
#   scripts/regenerate.sh BUILD            for example build-test/gcc
#   scripts/regenerate.sh BUILD --docs     the tables and pictures of docs/scenarios.md too
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
bide=$build/cmd/bide
PYTHONPATH=test/tools
export PYTHONPATH

"$bide" check --reference >docs/policy-reference.md
"$bide" check --schema >docs/bide.schema.json
"$bide" sim --reference >docs/scenario-reference.md
"$bide" sim --schema >docs/scenario.schema.json
scripts/policy_man.py "$bide"
scripts/completions.py "$bide"
test/cli/golden.py --update "$bide" test/cli/golden/*.txt test/translate/golden/*.txt
test/golden/run.py "$bide" --update
test/replay/run.sh --update "$bide"
if [ "${2-}" = --docs ]; then
    scripts/sim_docs.py "$bide"
fi
