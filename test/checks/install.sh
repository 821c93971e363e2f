#!/bin/sh
# install.sh BUILD_DIR COMPILER...: install into an empty directory, then build
# and run programs against it as a stranger would: by pkg-config and by CMake's
# find_package, shared and static; and see that the manual and the completions are
# there.
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
find_package(bide ${WANT} REQUIRED COMPONENTS ${KIND} run config observe store fleet queue curl)
add_executable(stranger ../main.c)
target_link_libraries(stranger PRIVATE bide::bide)
foreach(name run config observe store fleet queue curl)
  add_executable(${name} ../${name}.c)
  target_link_libraries(${name} PRIVATE bide::${name})
endforeach()
C
# program NAME HEADER EXPRESSION: a program that calls one of the other libraries.
program() {
    cat >"$dest/$1.c" <<C
#include <bide/$2>
#include <bide/version.h>
#include <stdio.h>

int main(void)
{
    return $3 ? puts(bide_version()) < 0 : 1;
}
C
}
program run run.h 'bide_now_ns() > 0'
program config config.h '!bide_config_policy(NULL, NULL)'
program curl curl.h 'bide_curl_perform(NULL, NULL, NULL) == CURLE_BAD_FUNCTION_ARGUMENT'
program observe observe.h 'bide_observe_new(NULL, NULL) == BIDE_EINVAL'
program store store.h 'bide_store_open(NULL, NULL, NULL, NULL, 0) == BIDE_EINVAL'
program queue queue.h 'bide_queue_open(NULL, NULL, NULL) == BIDE_EINVAL'
program fleet fleet.h 'bide_fleet_join(NULL, NULL, NULL) < 0'
for kind in shared static; do
    CC="$*" cmake -S "$dest/cmake" -B "$dest/cmake-$kind" -DKIND=$kind \
        -DWANT="$want" -DCMAKE_PREFIX_PATH="${libdir%/lib*}" \
        -Dbide_DIR="$libdir/cmake/bide" >"$dest/log" 2>&1 &&
        cmake --build "$dest/cmake-$kind" >>"$dest/log" 2>&1 ||
        { cat "$dest/log"; exit 1; }
    for name in stranger run config observe store fleet queue curl; do
        says env LD_LIBRARY_PATH="$libdir" "$dest/cmake-$kind/$name"
    done
done

# The static ones must not need the shared library, the shared ones must.
for f in pc-shared cmake-shared/stranger; do
    readelf -d "$dest/$f" | grep -q 'NEEDED.*libbide' || { echo "$f is not linked to libbide.so"; exit 1; }
done
for f in pc-static cmake-static/stranger; do
    ! readelf -d "$dest/$f" | grep -q 'NEEDED.*libbide' || { echo "$f needs libbide.so"; exit 1; }
done

# Each of the other libraries, by its name alone: a program that calls it.
# stranger NAME OTHERS: OTHERS is what static linking needs more.
cc=$*
stranger() {
    # shellcheck disable=SC2046,SC2086
    $cc "$dest/$1.c" -o "$dest/other" $(pkg-config --cflags --libs "bide-$1")
    says env LD_LIBRARY_PATH="$libdir" "$dest/other"
    archives=
    for lib in bide-$1 bide-run bide-config bide; do
        archives="$archives $libdir/lib$lib.a"
    done
    # shellcheck disable=SC2046,SC2086
    $cc "$dest/$1.c" -o "$dest/other" $(pkg-config --cflags "bide-$1") \
        $archives $2 -lm -pthread
    says "$dest/other"
}
stranger run ''
stranger config -lyaml
stranger observe '-lyaml -ldl'
stranger store -lsqlite3
stranger fleet ''
stranger queue '-lsqlite3 -ldl'
stranger curl -lcurl

# What people read and type.
if command -v scdoc >/dev/null; then
    for page in "$here"/../../man/*.scd; do
        name=$(basename "$page" .scd)
        [ -s "$(find "$dest/root" -path "*/man/man${name##*.}/$name")" ] ||
            { echo "no manual page $name"; exit 1; }
    done
fi
for file in bash-completion/completions/bide zsh/site-functions/_bide; do
    [ -s "$(find "$dest/root" -path "*/share/$file")" ] || { echo "no $file"; exit 1; }
done
echo "pkg-config and CMake, shared and static: $want"
