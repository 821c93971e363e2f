#!/usr/bin/env python3
"""bench_observe.py BIDE [SECONDS [ROUNDS]]: what being watched costs the sidecar.

wrk -> bide proxy -> nginx, as bench_proxy.py has it: unwatched; with the admin
endpoint, its metrics scraped every second and a dashboard open; and with every
request traced besides, its spans sent to a collector. One after the other in each
round, so that whatever else the machine does hits all alike; medians count. All
threads of the proxy share one core. wrk, the origin and the collector (nginx, which
throws away what it is sent) share the other, which caps the rate: the honest figure
is what CPU time the proxy takes for a request, and the bars are on that."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import bench_proxy as side

ADMIN = "  admin: 127.0.0.1:{admin}\n"
TRACES = "  telemetry: {{ otlp: \"http://127.0.0.1:{origin}\", sample: 100% }}\n"
BARS = {"metrics": 3, "traces": 10}


class Watcher:
    """Scrapes each second, and reads the stream."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.over = False
        self.threads = [threading.Thread(target=fn, daemon=True)
                        for fn in (self.scrape, self.stream)]
        for t in self.threads:
            t.start()

    def scrape(self):
        while not self.over:
            urllib.request.urlopen(self.url + "/metrics", timeout=5).read()
            time.sleep(1)

    def stream(self):
        r = urllib.request.urlopen(self.url + "/api/stream", timeout=5)
        while not self.over:
            r.readline()
        r.close()


def dropped(port):
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics",
                                  timeout=5).read().decode()
    found = dict(line.rsplit(" ", 1) for line in text.splitlines()
                 if line.startswith(("bide_spans_", "bide_events_dropped")))
    sent = float(found.get("bide_spans_sent_total", 0))
    lost = (float(found.get("bide_spans_dropped_total", 0)) +
            float(found.get("bide_events_dropped_total", 0)))
    return sent, lost


def main(directory):
    bide = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    for needed in "wrk", "nginx":
        if not shutil.which(needed):
            print(f"no `{needed}` here: install Debian's package of that name")
            return
    origin, processes = side.free_port(), []

    def run(name, text, command, core, admin=0):
        port = origin if name == "origin" else side.free_port()
        path = os.path.join(directory, name)
        os.makedirs(path)
        conf = os.path.join(path, "conf.yaml")
        with open(conf, "w", encoding="utf-8") as f:
            f.write(text.format(port=port, origin=origin, admin=admin,
                                body="x" * 128))
        process = side.start([c.format(conf=conf, path=path) for c in command],
                             path, port, core)
        processes.append(process)
        return side.Side(name, port, process)
    proxy = [bide, "proxy", "-c", "{conf}"]
    try:
        run("origin", side.ORIGIN.replace("http {{", "http {{ client_max_body_size 0;"),
            ["nginx", "-p", "{path}", "-c", "{conf}"], side.OTHER_CORE)
        ports = [side.free_port(), side.free_port()]
        sides = [run("unwatched", side.BIDE, proxy, side.PROXY_CORE),
                 run("metrics", side.BIDE + ADMIN, proxy, side.PROXY_CORE, ports[0]),
                 run("traces", side.BIDE + ADMIN + TRACES, proxy, side.PROXY_CORE,
                     ports[1])]
        watchers = [Watcher(p) for p in ports]
        for s in sides:
            side.wrk(s.port, 1)
        for _ in range(rounds):
            for s in sides:
                s.measure(seconds, s.rounds)
        print(f"\nbeing watched: wrk -c{side.CONNECTIONS} -> bide proxy (one core) "
              f"-> nginx, {rounds} rounds of {seconds} s, medians")
        print(f"  {'':14}{'req/s':>10}{'p50 us':>8}{'p99 us':>8}{'CPU us':>8}{'MB':>8}")
        cpu = {s.name: side.line(s, s.rounds)[0] for s in sides}
        for name, bar in BARS.items():
            pairs = zip((r[3] for s in sides if s.name == name for r in s.rounds),
                        (r[3] for r in sides[0].rounds))
            more = statistics.median(a / b for a, b in pairs) - 1
            print(f"  {name}: {more * 100:+.1f} % CPU per request, round by round "
                  f"(medians: {(cpu[name] / cpu['unwatched'] - 1) * 100:+.1f} %; "
                  f"bar: under {bar} %)")
        sent, lost = dropped(ports[1])
        print(f"  spans: {sent:.0f} sent, {lost:.0f} dropped")
        for w in watchers:
            w.over = True
    finally:
        side.stop(processes)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch)
