#!/bin/sh
# What is in the tree is in a list of a meson.build, and what is in a list is in
# the tree. Lists are written by hand, so that a build never depends on what lies
# about; this check keeps a forgotten line from looking like a passing test.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail=0

# same MESON_FILE LIST PREFIX SUFFIX [DEPTH]: the names in LIST are what the pattern
# PREFIX*SUFFIX finds, in that folder or, by DEPTH, below it. What all of a kind
# share is in no list, nor what is an archive by itself.
shared="fuzz/replay_main.c base/module.c store/postgresql/kind.c"
same() {
    sed -n "/^$2 = \[/,/^]/s/^ *'\([^']*\)',.*/\1/p" "$1" |
        sed 's/\.[ch]$//; s/\.yaml$//' | sort >"$tmp/listed"
    for f in $(find "${3%/*}" ${5:--maxdepth 1} -path "$3*$4" | sort); do
        case " $shared " in *" $f "*) continue ;; esac
        name=${f#"$3"}
        echo "${name%"$4"}"
    done | sort >"$tmp/there"
    for name in $(comm -13 "$tmp/listed" "$tmp/there"); do
        echo "$3$name$4 is not in $2"
        fail=1
    done
    for name in $(comm -23 "$tmp/listed" "$tmp/there"); do
        echo "$2 lists $3$name$4, which is not there"
        fail=1
    done
}

export LC_ALL=C
# unit_names, slow_names and config_names share a directory: one list.
sed -e 's/^slow_names = \[/unit_names = [/' \
    -e 's/^config_names = \[/unit_names = [/' test/meson.build >"$tmp/test"

# Two lists, one directory.
sed -e 's/^driver_header_names = \[/bide_header_names = [/' \
    include/bide/meson.build >"$tmp/headers"

same "$tmp/headers" bide_header_names include/bide/ .h
same lib/meson.build bide_source_names lib/ .c '-mindepth 1'
same "$tmp/test" unit_names test/unit/test_ .c
same test/meson.build threads_names test/threads/test_ .c
same config/meson.build config_source_names config/ .c '-mindepth 1'
same run/meson.build run_source_names run/ .c
same curl/meson.build curl_source_names curl/ .c
same base/meson.build base_source_names base/ .c
same store/redis/meson.build redis_source_names store/redis/ .c
same store/redis/records/meson.build redis_store_source_names store/redis/records/ .c
same store/postgresql/meson.build postgresql_source_names store/postgresql/ .c
same store/fleet/meson.build fleet_source_names store/fleet/ .c
same test/fleet/meson.build fleet_test_names test/fleet/test_ .c
same test/redis/meson.build redis_test_names test/redis/test_ .c
same replay/meson.build replay_source_names replay/ .c
# Programs share files with `bide` and with each other.
names_in() {
    sed -n "/^$1 = \[/,/^]/s/^ *'\([^']*\)',.*/  '\1',/p" cmd/meson.build
}
names_in command_source_names >"$tmp/bide"
for list in fetch_source_names proxy_command_source_names demo_source_names \
    store_command_source_names enqueue_source_names worker_source_names; do
    names_in $list
done | sort -u | grep -v -x -F -f "$tmp/bide" >"$tmp/behind"
sed -e "/^command_source_names = \[/r $tmp/behind" cmd/meson.build >"$tmp/cmd"
same "$tmp/cmd" command_source_names cmd/ .c '-mindepth 1'
same sim/meson.build sim_source_names sim/ .c '-mindepth 1'
same sim/meson.build sim_scenario_names sim/scenario/builtin/ .yaml
same observe/meson.build observe_source_names observe/ .c '-mindepth 1'
sed -e 's/^\(http[12]\|stream\)_source_names = \[/net_source_names = [/' \
    -e 's/^net_module_names = \[/net_source_names = [/' net/meson.build >"$tmp/net"
same "$tmp/net" net_source_names net/ .c '-mindepth 1'
same test/queue/meson.build queue_test_names test/queue/test_ .c
same proxy/meson.build proxy_source_names proxy/ .c '-mindepth 1'
same store/meson.build store_source_names store/ .c
same store/sqlite/meson.build sqlite_source_names store/sqlite/ .c
same test/store/meson.build store_test_names test/store/test_ .c
same man/meson.build man_names man/ .scd
same test/sim/meson.build sim_test_names test/sim/test_ .c
same test/observe/meson.build observe_test_names test/observe/test_ .c
sed -e 's/^http2_test_names = \[/net_test_names = [/' \
    -e 's/^net_socket_names = \[/net_test_names = [/' \
    test/net/meson.build >"$tmp/net_tests"
same "$tmp/net_tests" net_test_names test/net/test_ .c
same test/proxy/meson.build proxy_test_names test/proxy/test_ .c
same test/run/meson.build run_test_names test/run/test_ .c
same test/curl/meson.build curl_test_names test/curl/test_ .c
sed -e 's/^e2e_load_names = \[/e2e_names = [/' test/proxy/meson.build >"$tmp/e2e"
same "$tmp/e2e" e2e_names test/proxy/e2e_ .py
same test/proxy/attack/meson.build attack_names test/proxy/attack/ .py
sed -e 's/^calls_\(origin_\|client_\)\{0,1\}source_names = \[/load_source_names = [/' \
    test/soak/meson.build >"$tmp/soak"
same "$tmp/soak" load_source_names test/soak/ .c
same test/fault/meson.build fault_source_names test/fault/ .c
same test/meson.build spin_names test/spin/ .pml
same fuzz/meson.build fuzz_names fuzz/ .c
same bench/meson.build bench_names bench/bench_ .c
same test/journeys/meson.build journey_names test/journeys/ .txt
same examples/meson.build example_names examples/ .c
exit $fail
