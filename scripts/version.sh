#!/bin/sh
# Print the version, MAJOR.MINOR.PATCH, from the one place that states it.
exec sed -n '
    s/^#define BIDE_VERSION_MAJOR *\([0-9][0-9]*\).*/\1/; t keep
    s/^#define BIDE_VERSION_MINOR *\([0-9][0-9]*\).*/\1/; t keep
    s/^#define BIDE_VERSION_PATCH *\([0-9][0-9]*\).*/\1/; t keep
    b end
    :keep
    H
    :end
    $ { x; s/^\n//; s/\n/./gp; }
' "$(dirname "$0")/../include/bide/version.h"
