#!/bin/sh
# soak.sh [PART...]: the long runs of the sidecar. Parts, all of them by default:
#
#   chaos         everything at once for SOAK_MINUTES (10), under AddressSanitizer
#                 and UBSan: test/soak/chaos.py
#   million       SOAK_COUNT (1000000) requests, 10 % faults, 10 % of the clients
#                 hostile: test/soak/million.py
#   conservation  SOAK_COUNT requests, each counted at both ends:
#                 test/proxy/e2e_conservation.py
#
# The last two as a release is built, but with its asserts.
set -eu
cd "$(dirname "$0")/.."
top=build-soak
mkdir -p "$top"

# build NAME MESON_ARGS...: configure and compile what the runs need.
build() {
    dir=$top/$1
    shift
    targets="cmd/bide cmd/bide-proxy cmd/bide-tls.so test/fault/fault-server"
    targets="$targets test/soak/load-client test/proxy/attack/silent_dns.so"
    # shellcheck disable=SC2086
    scripts/configure.sh "$dir" "$@" >"$top/log" 2>&1 &&
        ninja -C "$dir" $targets >>"$top/log" 2>&1 ||
        { tail -n 40 "$top/log"; exit 1; }
    BIDE_FAULT_SERVER=$PWD/$dir/test/fault/fault-server
    BIDE_LOAD_CLIENT=$PWD/$dir/test/soak/load-client
    BIDE_SILENT_DNS=$PWD/$dir/test/proxy/attack/silent_dns.so
    PYTHONPATH=$PWD/test/tools
    export BIDE_FAULT_SERVER BIDE_LOAD_CLIENT BIDE_SILENT_DNS PYTHONPATH
}

chaos() {
    UBSAN_OPTIONS=print_stacktrace=1
    export UBSAN_OPTIONS
    CC=clang build asan -Db_lundef=false -Db_sanitize=address,undefined \
        -Dc_args='-fno-sanitize-recover=all -fno-omit-frame-pointer'
    test/soak/chaos.py "$top/asan/cmd/bide" \
        "$(awk "BEGIN { print ${SOAK_MINUTES:-10} * 60 }")"
}

million() {
    build release -Doptimization=2 -Ddebug=true
    test/soak/million.py "$top/release/cmd/bide" "${SOAK_COUNT:-1000000}"
}

conservation() {
    build release -Doptimization=2 -Ddebug=true
    test/proxy/e2e_conservation.py "$top/release/cmd/bide" \
        "${SOAK_COUNT:-1000000}"
}

rc=0
for part in ${*:-chaos million conservation}; do
    case $part in
    chaos | million | conservation) ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
    esac
    echo "# $part"
    ("$part") || rc=1
done
exit $rc
