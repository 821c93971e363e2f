#!/usr/bin/env python3
"""bench_proxy.py BIDE [SECONDS [ROUNDS]]: the sidecar beside HAProxy and nginx.

wrk -> proxy -> nginx, with each proxy in turn and with none, several rounds, one
after the other in each round, so that whatever else the machine does hits all
alike; medians count. The proxy has one core for itself; wrk and the origin share
the other, which therefore caps the rate: the honest figure is what CPU time the
proxy takes for a request. Keep-alive on both sides, and the same retries: up to
three, on a failed connection, an empty answer and a 503.

Idle connections: 10 000 that have had one answer each and wait; what the resident
memory of the process grows by, divided by their number."""
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PROXY_CORE, OTHER_CORE = 0, 1
CONNECTIONS = 64
IDLE = 10000
HERTZ = os.sysconf("SC_CLK_TCK")

ORIGIN = """
worker_processes 1; daemon off; error_log stderr crit; pid origin.pid;
events {{ worker_connections 12000; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;
  uwsgi_temp_path u; scgi_temp_path s;
  server {{ listen 127.0.0.1:{origin} backlog=4096;
    location / {{ default_type text/plain; return 200 "{body}"; }} }}
}}
"""

NGINX = """
worker_processes 1; daemon off; error_log stderr crit; pid proxy.pid;
events {{ worker_connections 11000; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;
  uwsgi_temp_path u; scgi_temp_path s;
  upstream origin {{ server 127.0.0.1:{origin} max_fails=0;
    server 127.0.0.1:{origin} max_fails=0; keepalive 256;
    keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://origin; proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_next_upstream error timeout http_503;
      proxy_next_upstream_tries 4; }} }}
}}
"""

HAPROXY = """
global
  nbthread 1
  maxconn 11000
  no strict-limits
defaults
  mode http
  option http-keep-alive
  timeout connect 5s
  timeout client 600s
  timeout server 60s
  timeout http-keep-alive 600s
  retries 3
  retry-on conn-failure empty-response 503
  option redispatch
  http-reuse always
frontend in
  bind 127.0.0.1:{port} backlog 4096
  default_backend out
backend out
  server origin 127.0.0.1:{origin} pool-max-conn 256
"""

BIDE = """
version: 1
policies:
  default:
    attempts: 4
    attempt_timeout: 60s
proxy:
  listen: 127.0.0.1:{port}
  workers: 1
  access_log: off
  limits: {{ connections: 15000 }}
  timeouts: {{ idle: 600s }}
  routes:
    - {{ match: {{ path: / }}, upstream: origin, policy: default }}
  upstreams:
    origin: {{ endpoints: ["http://127.0.0.1:{origin}"] }}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(command, cwd, port, core):
    process = subprocess.Popen(
        command, cwd=cwd, stdin=subprocess.DEVNULL,
        stdout=open(os.path.join(cwd, "log"), "ab"), stderr=subprocess.STDOUT,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    end = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                print(open(os.path.join(cwd, "log")).read()[-2000:])
                sys.exit(f"{command[0]} does not start")
            time.sleep(0.02)


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


def wrk(port, seconds):
    out = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency",
         f"http://127.0.0.1:{port}/"], capture_output=True, text=True,
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


def idle_bytes(pid, port):
    """What each of many idle connections takes, and the connections."""
    before = memory(pid, "Rss")
    request = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
    held = []
    for _ in range(IDLE):
        s = socket.create_connection(("127.0.0.1", port))
        s.sendall(request)
        s.recv(4096)
        held.append(s)
    time.sleep(0.5)
    return (memory(pid, "Rss") - before) / IDLE, held


class Side:
    def __init__(self, name, port, process):
        self.name, self.port, self.process = name, port, process
        self.rounds = []
        self.busy = []      # rounds with 10 000 idle connections beside
        self.idle = None

    def measure(self, seconds, into):
        before = cpu_s(self.process.pid)
        requests, rate, p50, p99 = wrk(self.port, seconds)
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


def main(directory):
    bide = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    raise_limit()
    for needed in "wrk", "haproxy", "nginx":
        if not shutil.which(needed):
            print(f"no `{needed}` here: install Debian's package of that name")
            return
    origin = free_port()
    sides, processes = [], []

    def run(name, text, command, core=PROXY_CORE):
        port = origin if name in ("origin", "none") else free_port()
        path = os.path.join(directory, name)
        os.makedirs(path)
        conf = os.path.join(path, "conf.yaml")
        with open(conf, "w") as f:
            f.write(text.format(port=port, origin=origin, body="x" * 128))
        process = start([c.format(conf=conf, path=path) for c in command],
                        path, port, core)
        processes.append(process)
        return Side(name, port, process)
    try:
        direct = run("origin", ORIGIN, ["nginx", "-p", "{path}", "-c", "{conf}"],
                     OTHER_CORE)
        direct.name = "none"
        sides = [
            run("bide", BIDE, [bide, "proxy", "-c", "{conf}"]),
            run("haproxy", HAPROXY, ["haproxy", "-db", "-f", "{conf}"]),
            run("nginx", NGINX, ["nginx", "-p", "{path}", "-c", "{conf}"])]
        for side in sides:
            wrk(side.port, 1)  # to warm it up
        for _ in range(rounds):
            for side in [*sides, direct]:
                side.measure(seconds, side.rounds)
        print(f"\nsidecar: wrk -c{CONNECTIONS} -> proxy (one core) -> nginx, "
              f"{rounds} rounds of {seconds} s, medians")
        head = (f"  {'proxy':14}{'req/s':>10}{'p50 us':>8}{'p99 us':>8}"
                f"{'CPU us':>8}{'MB':>8}")
        print(head)
        got = {s.name: line(s, s.rounds) for s in [*sides, direct]}
        for side in sides:
            side.idle, held = idle_bytes(side.process.pid, side.port)
            for _ in range(max(1, rounds // 2)):
                side.measure(seconds, side.busy)
            side.total = memory(side.process.pid, "Rss")
            for s in held:
                s.close()
            time.sleep(0.3)
        print(f"  beside {IDLE} idle connections"
              f"{'':>34}{'B/idle':>8}")
        for side in sides:
            line(side, side.busy, side.idle, side.total)
        for i, what in enumerate(("CPU per request", "requests per second",
                                  "p99")):
            print(f"  {what}: bide / haproxy "
                  f"{got['bide'][i] / got['haproxy'][i]:.2f}, bide / nginx "
                  f"{got['bide'][i] / got['nginx'][i]:.2f}"
                  + ("  (bar: below 1.00)" if i == 0 else
                     "  (bar: not behind)"))
    finally:
        stop(processes)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch)
