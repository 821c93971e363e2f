#!/bin/sh
# configure.sh DIR MESON_ARGS...: a build directory with just these options.
# Set up once, set up anew when the options or the compiler change. CC is
# honoured, as meson does.
set -eu
dir=$1
shift
cd "$(dirname "$0")/.."
want="CC=${CC:-} $*"
if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/.configured" 2>/dev/null)" = "$want" ]; then
    exit 0
fi
rm -rf "$dir"
mkdir -p "$(dirname "$dir")"
meson setup "$dir" "$@"
echo "$want" >"$dir/.configured"
