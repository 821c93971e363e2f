#!/usr/bin/env python3
"""bench_proxy.py BIDE [SECONDS [ROUNDS]]: the sidecar beside HAProxy and nginx.

wrk -> proxy -> nginx, with each proxy in turn and with none, several rounds, one
after the other in each round, so that whatever else the machine does hits all
alike; medians count. The proxy has one core for itself; wrk and the origin share
the other, which therefore caps the rate: the honest figure is what CPU time the
proxy takes for a request. Keep-alive on both sides, and the same retries: up to
three, on a failed connection, an empty answer and a 503. Plain, with the access
log in a file, over TLS, and both.

Handshakes: a connection for each request, over TLS; wrk resumes no session, so each
is a full one.

Idle connections: many that have had one answer each and wait; what the resident
memory of the process grows by, divided by their number.

BIDE_BASE=DIR sets another build of bide beside them, from the directory that it was
built in: what it was before a change. Build it the same way."""
import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

from sides import (BIDE, ORIGIN, OTHER_CORE, PROGRAMS,  # noqa: F401
                   PROXY_CORE, certificate, cipher, configuration, free_port,
                   start)

CONNECTIONS = 64
IDLE, IDLE_TLS = 10000, 2000
HERTZ = os.sysconf("SC_CLK_TCK")


def family(pid):
    """The process and its children: nginx works in a child."""
    pids = [pid]
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as f:
            for child in f.read().split():
                pids += family(int(child))
    return pids


def cpu_s(pid):
    total = 0
    for p in family(pid):
        with open(f"/proc/{p}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / HERTZ


def memory(pid, what):
    """The worker's alone: that is the last of the family."""
    with open(f"/proc/{family(pid)[-1]}/smaps_rollup") as f:
        return int(re.search(rf"^{what}: +(\d+)", f.read(), re.M)[1]) * 1024


def wrk(port, seconds, scheme="http", *more):
    out = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", *more,
         f"{scheme}://127.0.0.1:{port}/"], capture_output=True, text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {OTHER_CORE})).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        sys.exit("wrk met errors:\n" + out)
    unit = {"us": 1e-6, "ms": 1e-3, "s": 1}

    def latency(percent):
        number, u = re.search(rf"{percent}%\s+([\d.]+)(us|ms|s)", out).groups()
        return float(number) * unit[u]
    requests = int(re.search(r"(\d+) requests in", out)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])
    return requests, rate, latency(50), latency(99)


def idle_bytes(pid, port, tls=False):
    """What each of many idle connections takes, and the connections."""
    before = memory(pid, "Rss")
    request = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
    n = IDLE_TLS if tls else IDLE
    context = ssl.create_default_context() if tls else None
    if tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    held = []
    for _ in range(n):
        s = socket.create_connection(("127.0.0.1", port))
        if tls:
            s = context.wrap_socket(s)
        s.sendall(request)
        s.recv(4096)
        held.append(s)
    time.sleep(0.5)
    return (memory(pid, "Rss") - before) / n, held


class Side:
    def __init__(self, name, port, process, scheme="http"):
        self.name, self.port, self.process = name, port, process
        self.scheme = scheme
        self.rounds = []
        self.busy = []      # rounds with many idle connections beside
        self.idle = None

    def measure(self, seconds, into, *more):
        before = cpu_s(self.process.pid)
        requests, rate, p50, p99 = wrk(self.port, seconds, self.scheme, *more)
        cpu = (cpu_s(self.process.pid) - before) / requests
        into.append((rate, p50, p99, cpu))


def line(side, rounds, idle=None, total=None):
    rate, p50, p99, cpu = (statistics.median(r[i] for r in rounds)
                           for i in range(4))
    rss = (total or memory(side.process.pid, "Rss")) / 1e6
    own = "" if idle is None else f"{idle:8.0f}"
    direct = side.name == "none"
    print(f"  {side.name:14}{rate:10.0f}{p50 * 1e6:8.0f}{p99 * 1e6:8.0f}"
          + ("       -       -" if direct else
             f"{cpu * 1e6:8.2f}{rss:8.2f}") + own)
    return cpu, rate, p99


def raise_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < IDLE + 2 * CONNECTIONS + 100:
        sys.exit(f"bench_proxy.py: {hard} open files are not enough")


def stop(processes):
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()


def programs(bide):
    """Name, kind and program of each side."""
    base = os.environ.get("BIDE_BASE")
    found = [("bide", "bide", bide)]
    if base:
        found.append(("base", "bide", os.path.join(os.path.abspath(base), "cmd",
                                                   "bide")))
    return found + [("haproxy", "haproxy", ""), ("nginx", "nginx", "")]


def run(directory, name, text, command, port, core, **values):
    """Writes a configuration and starts its program."""
    path = tempfile.mkdtemp(prefix=name, dir=directory)
    conf = os.path.join(path, "conf.yaml")
    with open(conf, "w", encoding="utf-8") as f:
        f.write(text.format(port=port, path=path, body="x" * 128, **values))
    return start([c.format(conf=conf, path=path, **values) for c in command], path,
                 port, core)


@contextlib.contextmanager
def sides_of(bide, directory, origin, files, tls, log):
    """All proxies, each warmed up; gone afterwards."""
    found = []
    try:
        for name, kind, program in programs(bide):
            port = free_port()
            process = run(directory, name, configuration(kind, tls, log),
                          PROGRAMS[kind], port, PROXY_CORE, origin=origin,
                          files=files, bide=program)
            found.append(Side(name, port, process, "https" if tls else "http"))
            wrk(port, 1, found[-1].scheme)
        yield found
    finally:
        stop([side.process for side in found])


def ratios(got):
    for i, what in enumerate(("CPU per request", "requests per second", "p99")):
        print(f"  {what}: " + ", ".join(
            f"bide / {name} {got['bide'][i] / got[name][i]:.2f}"
            for name in got if name not in ("bide", "none")))


def measured(found, seconds, rounds, *more):
    """Rounds, interleaved."""
    for side in found:
        side.rounds = []
    for _ in range(rounds):
        for side in found:
            side.measure(seconds, side.rounds, *more)
    return {side.name: line(side, side.rounds) for side in found}


def idle(found, seconds, rounds, tls):
    print(f"  beside {IDLE_TLS if tls else IDLE} idle connections"
          f"{'':>34}{'B/idle':>8}")
    for side in found:
        side.idle, held = idle_bytes(side.process.pid, side.port, tls)
        for _ in range(max(1, rounds // 2)):
            side.measure(seconds, side.busy)
        line(side, side.busy, side.idle, memory(side.process.pid, "Rss"))
        for s in held:
            s.close()
        time.sleep(0.3)


def scene(found, tls, log, seconds, rounds, direct):
    what = ("TLS" if tls else "plain") + (", access log" if log else "")
    print(f"\nsidecar, {what}: wrk -c{CONNECTIONS} -> proxy (one core) -> nginx, "
          f"{rounds} rounds of {seconds} s, medians")
    if tls:
        print("  agreed on: " + "; ".join(sorted({cipher(s.port) for s in found})))
    print(f"  {'proxy':14}{'req/s':>10}{'p50 us':>8}{'p99 us':>8}"
          f"{'CPU us':>8}{'MB':>8}")
    ratios(measured(found + ([] if tls or log else [direct]), seconds, rounds))
    if log:
        return
    idle(found, seconds, rounds, tls)
    if tls:
        print("  a full handshake for each request")
        ratios(measured(found, seconds, rounds, "-H", "Connection: close"))


def main(directory):
    bide = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    raise_limit()
    for needed in "wrk", "haproxy", "nginx", "openssl":
        if not shutil.which(needed):
            print(f"no `{needed}` here: install Debian's package of that name")
            return
    origin, files = free_port(), certificate(directory)
    process = run(directory, "origin", ORIGIN, PROGRAMS["nginx"], origin,
                  OTHER_CORE, origin=origin)
    direct = Side("none", origin, process)
    try:
        for tls in False, True:
            for log in False, True:
                with sides_of(bide, directory, origin, files, tls, log) as found:
                    scene(found, tls, log, seconds, rounds, direct)
    finally:
        stop([process])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch)
