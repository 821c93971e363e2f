#!/bin/sh
# Install what a build or a test run needs, by name, from Debian.
#
#   scripts/setup.sh [build] [test] [bench]       default: build and test
#
# Quiet, and done in a blink when nothing is missing. As root, or through sudo.
set -eu

packages_build="gcc pkg-config meson ninja-build libyaml-dev
    libcurl4-openssl-dev libssl-dev libnghttp2-dev libsqlite3-dev
    libpq-dev librabbitmq-dev librdkafka-dev scdoc python3"
packages_test="g++ clang libclang-rt-14-dev clang-format-14 cmake libcmocka-dev
    spin valgrind gcovr retry haproxy nginx-light curl openssl wrk node-llhttp
    postgresql redis-server rabbitmq-server libhiredis-dev
    nghttp2-client nghttp2-server nghttp2-proxy python3-h2 python3-grpcio
    nodejs npm prometheus chromium fonts-dejavu-core groff jq iproute2
    qemu-user-static musl-tools
    binutils-i686-linux-gnu libc6-dev-i386-cross libgcc-12-dev-i386-cross
    binutils-arm-linux-gnueabi libc6-dev-armel-cross libgcc-12-dev-armel-cross
    binutils-s390x-linux-gnu libc6-dev-s390x-cross libgcc-12-dev-s390x-cross"
packages_bench="haproxy nginx-light wrk postgresql redis-server rabbitmq-server
    nghttp2-client nghttp2-server nghttp2-proxy"

wanted=
for group in "${@:-build test}"; do
    for g in $group; do
        case $g in
        build) wanted="$wanted $packages_build" ;;
        test) wanted="$wanted $packages_test" ;;
        bench) wanted="$wanted $packages_bench" ;;
        *) echo "setup: no group '$g' (build, test, bench)" >&2; exit 2 ;;
        esac
    done
done

if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: no apt-get here; make sure of:" $wanted >&2
    exit 0
fi

# Virtual and renamed packages (pkg-config is one) count as there when dpkg
# says so, whatever version provides them.
missing=
for p in $wanted; do
    # A nodejs from elsewhere brings its own npm, and cannot stand Debian's.
    [ "$p" != npm ] || ! command -v npm >/dev/null 2>&1 || continue
    state=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) || state=
    [ "$state" = installed ] || missing="$missing $p"
done

# What tests need of npm, by the lock files. Without a registry the tests that need
# it are skipped, and say why.
install_npm() {
    case " $* " in *" test "* | "  ") ;; *) return 0 ;; esac
    for d in test/observe test/queue/sqs test/web test/grpc web; do
        [ -e "$d/node_modules/.package-lock.json" ] ||
            (cd "$d" && npm install --no-save --no-audit --no-fund --ignore-scripts) \
                >/dev/null 2>&1 || echo "setup: npm install failed in $d" >&2
    done
}

[ -n "$missing" ] || { install_npm "$@"; exit 0; }

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "setup: neither root nor sudo; please install:$missing" >&2
        exit 1
    }
    as_root="sudo"
fi

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq \
        -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@"
}

# The tests start servers of their own. Debian would start each one that it
# installs: this file, which it asks first, says no. One that is there already is
# somebody's, and stays as it is.
policy=/usr/sbin/policy-rc.d
log=$(mktemp)
ours=
tidy() {
    rm -f "$log"
    [ -z "$ours" ] || $as_root rm -f "$policy"
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM
if [ ! -e "$policy" ]; then
    ours=1
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
fi
install() {
    apt install -y --no-install-recommends $missing >"$log" 2>&1
}

echo "setup: installing$missing"
# A fresh image has no package lists, an old one has stale ones: both show as
# a failed look-up, and both are mended by one update.
if ! install; then
    apt update >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    install || { cat "$log" >&2; exit 1; }
fi
install_npm "$@"
