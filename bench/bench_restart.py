#!/usr/bin/env python3
"""bench_restart.py BIDE [TOOLS]: what users see of a restart.

One origin is killed and is back after 2 s; of two, one after the other is killed and
back after a second each. The load is an open loop (open_loop.c), once slow and once
fast, through the sidecar as it comes (a listener, a route, the endpoints), through
HAProxy and nginx as they come, and straight to the origin. TOOLS is where open_loop
and arrivals were built.

failed    calls that did not end with 2xx
p50..max  how long those waited that did, from when they were due
peak      the most that the origins got in any half second from the return of the
          first on, divided by what they got before

The sides of the slow load run at the same time, those of the fast one in turn."""
import array
import concurrent.futures
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from sides import OTHER_CORE, PROGRAMS, PROXY_CORE, free_port, start

BIDE = """
version: 1
policies: {{ default: {{}} }}
proxy:
  listen: 127.0.0.1:{port}
  routes: [{{ match: {{ path: / }}, upstream: origin }}]
  upstreams: {{ origin: {{ endpoints: [{bide_endpoints}] }} }}
"""
HAPROXY = """
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend in
  bind 127.0.0.1:{port}
  default_backend out
backend out
{haproxy_endpoints}
"""
NGINX = """
daemon off; error_log stderr crit; pid proxy.pid;
events {{ }}
http {{
  access_log off;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;
  uwsgi_temp_path u; scgi_temp_path s;
  upstream origin {{ {nginx_endpoints} }}
  server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://origin; }} }}
}}
"""
SIDES = {"bide": BIDE, "haproxy": HAPROXY, "nginx": NGINX}
USUAL_S, AFTER_S = 4.0, 9.0       # before the first goes, after the last is back
SLOT_S, WINDOW = 0.01, 50         # as arrivals.c counts, and half a second of it


class Origins:
    """One or two, which share their counts: a slot is a number of requests."""

    def __init__(self, tools, directory, ports):
        self.tools, self.ports = tools, ports
        self.directory = directory
        self.counts = os.path.join(directory, "counts")
        self.since = time.monotonic()
        self.processes = [self.run(i) for i in range(len(ports))]

    def run(self, i):
        return start([os.path.join(self.tools, "arrivals"), str(self.ports[i]),
                      f"{self.counts}.{i}", str(int(self.since * 1e9))],
                     self.directory, self.ports[i], OTHER_CORE)

    def restart(self, i, away_s):
        self.processes[i].kill()
        self.processes[i].wait()
        time.sleep(away_s)
        self.processes[i] = self.run(i)
        return time.monotonic() - self.since

    def slots(self):
        found = []
        for i in range(len(self.ports)):
            one = array.array("I")
            with open(f"{self.counts}.{i}", "rb") as f:
                one.frombytes(f.read())
            found.append(one)
        return [sum(column) for column in zip(*found)]

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


def peak(slots, begun, gone, back, end):
    """The busiest half second from `back` on, in terms of the usual one."""
    a, b = int((begun + 0.5) / SLOT_S), int(gone / SLOT_S)
    usual = sum(slots[a:b]) / (b - a) * WINDOW
    if usual == 0:
        return float("nan")     # nothing came: the load was too much for somebody
    first, last = int(back / SLOT_S), int(end / SLOT_S)
    return max(sum(slots[i:i + WINDOW])
               for i in range(first, max(last, first + 1), WINDOW)) / usual


def endpoints(ports):
    at = [f"127.0.0.1:{port}" for port in ports]
    return {"bide_endpoints": ", ".join(f'"http://{a}"' for a in at),
            "haproxy_endpoints": "\n".join(f"  server s{i} {a}"
                                           for i, a in enumerate(at)),
            "nginx_endpoints": " ".join(f"server {a};" for a in at)}


def proxy(side, bide, directory, ports):
    """Starts one; its port and process. With none, the port of the origin."""
    if side == "direct":
        return ports[0], None
    port, conf = free_port(), os.path.join(directory, "conf.yaml")
    with open(conf, "w", encoding="utf-8") as f:
        f.write(SIDES[side].format(port=port, **endpoints(ports)))
    return port, start([c.format(bide=bide, conf=conf, path=directory)
                        for c in PROGRAMS[side]], directory, port, PROXY_CORE)


def measure(side, bide, tools, rate, away_s, n, method="GET", body=0):
    """One side: what open_loop prints, and the peak."""
    with tempfile.TemporaryDirectory() as directory:
        ports = [free_port() for _ in range(n)]
        origins = Origins(tools, directory, ports)
        port, process = proxy(side, bide, directory, ports)
        begun = time.monotonic() - origins.since
        seconds = USUAL_S + n * away_s + AFTER_S + (n - 1)
        load = subprocess.Popen(
            [os.path.join(tools, "open_loop"), str(port), str(rate), str(seconds),
             method, str(body)], stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, {OTHER_CORE}))
        time.sleep(USUAL_S)
        gone = time.monotonic() - origins.since
        back = [origins.restart(0, away_s)]
        for i in range(1, n):
            time.sleep(1)
            back.append(origins.restart(i, away_s))
        got = json.loads(load.communicate()[0])
        got["peak"] = peak(origins.slots(), begun, gone, back[0], begun + seconds)
        if process:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        origins.stop()
    return got


def line(side, got):
    others = ", ".join(f"{count} x {code}" for code, count in
                       got["came_to"].items() if not code.startswith("2"))
    print(f"  {side:10}{got['calls']:8}{got['failed']:8}{got['p50'] * 1e3:10.1f}"
          f"{got['p99'] * 1e3:10.1f}{got['max'] * 1e3:10.1f}{got['peak']:8.2f}"
          f"  {others}", flush=True)


def scene(bide, tools, rate, away_s, n):
    """All sides; gives what each came to."""
    sides = ["bide", "haproxy", "nginx"] + (["direct"] if n == 1 else [])
    what = "one origin" if n == 1 else f"{n} origins, one after the other"
    print(f"\nrestart: {what}, away for {away_s:g} s, {rate} requests/s")
    print(f"  {'through':10}{'calls':>8}{'failed':>8}{'p50 ms':>10}{'p99 ms':>10}"
          f"{'max ms':>10}{'peak':>8}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(
            len(sides) if rate < 500 else 1) as pool:
        found = list(pool.map(lambda side: measure(side, bide, tools, rate, away_s,
                                                   n), sides))
    for side, got in zip(sides, found):
        line(side, got)
    return dict(zip(sides, found))


def main():
    bide = os.path.abspath(sys.argv[1])
    tools = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else
                            os.path.join(os.path.dirname(bide), "..", "bench"))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for needed in "haproxy", "nginx":
        if not shutil.which(needed):
            print(f"no `{needed}` here: install Debian's package of that name")
            return
    for rate in 50, 5000:
        scene(bide, tools, rate, 2.0, 1)
    for rate in 80, 5000:
        scene(bide, tools, rate, 1.0, 2)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
