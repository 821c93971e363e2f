#!/bin/sh
# soak.sh [PART...]: the long runs of the sidecar. Parts, all of them by default:
#
#   chaos         everything at once for SOAK_MINUTES (10), under AddressSanitizer
#                 and UBSan: test/soak/chaos.py
#   million       SOAK_COUNT (1000000) requests, 10 % faults, 10 % of the clients
#                 hostile: test/soak/million.py
#   calls         SOAK_COUNT gRPC calls over HTTP/2, 10 % faults, endpoints that go away,
#                 reloads: test/soak/calls.py; and 20 000 of them while a real server
#                 restarts (test/proxy/e2e_grpc.py)
#   conservation  SOAK_COUNT requests, each counted at both ends:
#                 test/proxy/e2e_conservation.py
#   once          kill -9 under clients that repeat: of claimers for SOAK_SECONDS (60)
#                 on each store (test/store/torture.py), of the sidecar and its
#                 store's server ONCE_KILLS (1000) times on each, or for ONCE_SECONDS
#                 (7200) for each half of them (test/store/once.py);
#                 and POWER_CUTS (1000) power failures (test/store/power_cuts.c); and
#                 STORE_RECORDS (10000000) records in a file (test/store/many.py)
#   fleet         eight sidecars on one Redis that is stopped, killed and emptied,
#                 outages of 30 s: test/fleet/e2e_fleet.py
#   queue         SOAK_MESSAGES (100000) messages, by workers that are killed:
#                 test/queue/torture.py
#
# All but the first as a release is built, but with its asserts.
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
    targets="$targets test/soak/calls-client test/soak/calls-origin"
    targets="$targets cmd/bide-postgresql.so test/store/store_claimer"
    targets="$targets test/store/store_told test/store/store_power"
    targets="$targets test/store/store_tool cmd/bide-store"
    # shellcheck disable=SC2086
    scripts/configure.sh "$dir" "$@" >"$top/log" 2>&1 &&
        ninja -C "$dir" $targets >>"$top/log" 2>&1 ||
        { tail -n 40 "$top/log"; exit 1; }
    BIDE_FAULT_SERVER=$PWD/$dir/test/fault/fault-server
    BIDE_LOAD_CLIENT=$PWD/$dir/test/soak/load-client
    BIDE_CALLS_CLIENT=$PWD/$dir/test/soak/calls-client
    BIDE_CALLS_ORIGIN=$PWD/$dir/test/soak/calls-origin
    BIDE_SILENT_DNS=$PWD/$dir/test/proxy/attack/silent_dns.so
    PYTHONPATH=$PWD/test/tools
    export BIDE_FAULT_SERVER BIDE_LOAD_CLIENT BIDE_SILENT_DNS PYTHONPATH
    export BIDE_CALLS_CLIENT BIDE_CALLS_ORIGIN
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

calls() {
    build release -Doptimization=2 -Ddebug=true
    test/soak/calls.py "$top/release/cmd/bide" "${SOAK_COUNT:-1000000}" &&
        BIDE_GRPC_CALLS=20000 test/proxy/e2e_grpc.py "$top/release/cmd/bide"
}

conservation() {
    build release -Doptimization=2 -Ddebug=true
    test/proxy/e2e_conservation.py "$top/release/cmd/bide" \
        "${SOAK_COUNT:-1000000}"
}

once() {
    build release -Doptimization=2 -Ddebug=true
    dir=$top/release
    POWER_CUTS=${POWER_CUTS:-1000} "$dir/test/store/store_power" || return 1
    STORE_TORTURE_SECONDS=${SOAK_SECONDS:-60}
    ONCE_KILLS=${ONCE_KILLS:-1000}
    ONCE_SECONDS=${ONCE_SECONDS:-7200}
    ONCE_LIMIT=$((3 * ONCE_SECONDS))
    export STORE_TORTURE_SECONDS ONCE_KILLS ONCE_SECONDS ONCE_LIMIT
    RECORDS=${STORE_RECORDS:-10000000} \
        test/store/many.py "$dir/cmd/bide" "$dir/test/store/store_tool" 1 || return 1
    for kind in sqlite postgresql redis; do
        test/store/torture.py "$kind" "$dir/test/store/store_claimer" \
            "$dir/test/store/store_told" 60 "$dir/cmd/bide-postgresql.so" &&
            test/store/once.py "$dir/cmd/bide" "$kind" 1000 \
                "$dir/cmd/bide-postgresql.so" || return 1
    done
}

fleet() {
    build release -Doptimization=2 -Ddebug=true
    BIDE_TEST_FLEET=full test/fleet/e2e_fleet.py "$top/release/cmd/bide"
}

queue() {
    build release -Doptimization=2 -Ddebug=true
    ninja -C "$top/release" cmd/bide-worker cmd/bide-enqueue \
        cmd/bide-queue-postgresql.so cmd/bide-queue-rabbitmq.so \
        cmd/bide-queue-sqs.so cmd/bide-queue-kafka.so >>"$top/log"
    for broker in sqlite postgresql redis rabbitmq sqs kafka; do
        BIDE_TORTURE=${SOAK_MESSAGES:-100000} \
            test/queue/torture.py "$top/release/cmd/bide" "$broker" \
            "$top/release/cmd/bide-queue-postgresql.so" || return 1
    done
}

rc=0
for part in ${*:-chaos million calls conservation once fleet queue}; do
    case $part in
    chaos | million | calls | conservation | once | fleet | queue) ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
    esac
    echo "# $part"
    ("$part") || rc=1
done
exit $rc
