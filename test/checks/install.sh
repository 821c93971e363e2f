#!/bin/sh
# install.sh BUILD_DIR COMPILER...: install into an empty directory, then build
# and run a program against it as a stranger would: by pkg-config and by CMake's
# find_package, shared and static.
set -eu
build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
want=$("$here/../../scripts/version.sh")
dest=$(mktemp -d)
trap 'rm -rf "$dest"' EXIT

meson install -C "$build" --no-rebuild --quiet --destdir "$dest/root" >"$dest/log" 2>&1 ||
    { cat "$dest/log"; exit 1; }

so=$(find "$dest/root" -name libbide.so)
libdir=$(dirname "$so")
headers=$(find "$dest/root" -path '*/include/bide/*.h' | wc -l)
[ "$headers" -eq "$(ls "$here"/../../include/bide/*.h | wc -l)" ] ||
    { echo "$headers headers installed"; exit 1; }

cat >"$dest/main.c" <<'C'
#include <bide/version.h>
#include <stdio.h>

int main(void)
{
    return puts(bide_version()) < 0;
}
C

# says COMMAND...: the program runs and prints the version.
says() {
    got=$("$@")
    [ "$got" = "$want" ] || { echo "$*: '$got', not '$want'"; exit 1; }
}

export PKG_CONFIG_PATH="$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dest/root"
[ "$(pkg-config --modversion bide)" = "$want" ]
# shellcheck disable=SC2046
"$@" "$dest/main.c" -o "$dest/pc-shared" $(pkg-config --cflags --libs bide)
says env LD_LIBRARY_PATH="$libdir" "$dest/pc-shared"

# shellcheck disable=SC2046
"$@" "$dest/main.c" -o "$dest/pc-static" $(pkg-config --cflags bide) \
    "$libdir/libbide.a" $(pkg-config --static --libs-only-l bide | sed 's/-lbide//')
says "$dest/pc-static"

mkdir "$dest/cmake"
cat >"$dest/cmake/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.16)
project(stranger C)
find_package(bide ${WANT} REQUIRED COMPONENTS ${KIND})
add_executable(stranger ../main.c)
target_link_libraries(stranger PRIVATE bide::bide)
C
for kind in shared static; do
    CC="$*" cmake -S "$dest/cmake" -B "$dest/cmake-$kind" -DKIND=$kind \
        -DWANT="$want" -DCMAKE_PREFIX_PATH="${libdir%/lib*}" \
        -Dbide_DIR="$libdir/cmake/bide" >"$dest/log" 2>&1 &&
        cmake --build "$dest/cmake-$kind" >>"$dest/log" 2>&1 ||
        { cat "$dest/log"; exit 1; }
    says "$dest/cmake-$kind/stranger"
done

# The static ones must not need the shared library, the shared ones must.
for f in pc-shared cmake-shared/stranger; do
    readelf -d "$dest/$f" | grep -q 'NEEDED.*libbide' || { echo "$f is not linked to libbide.so"; exit 1; }
done
for f in pc-static cmake-static/stranger; do
    ! readelf -d "$dest/$f" | grep -q 'NEEDED.*libbide' || { echo "$f needs libbide.so"; exit 1; }
done
echo "pkg-config and CMake, shared and static: $want"
