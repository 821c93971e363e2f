#!/usr/bin/env python3
"""defaults_real.py BIDE TOOLS RESULTS [PART...]: plays with real processes what issue 13
found wrong with the defaults, and writes docs/defaults-real.md. TOOLS is where
open_loop and arrivals were built (build-bench/release/bench).

RESULTS is a JSON file that keeps what was measured, so that one part can be played
again: fetch, many, run, restart, rolling, chains. Without a part all are, which takes
about nine minutes, most of them for the outage of five."""
import asyncio
import concurrent.futures
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "test", "tools"),
                os.path.join(HERE, "..", "bench")]
import bench_restart  # noqa: E402
from chain import Chain  # noqa: E402

RUNS, URLS = 15, 200


class Blip(http.server.ThreadingHTTPServer):
    """Answers 503 for a while, from its first request on, then 200."""
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, seconds):
        self.seconds, self.since, self.requests = seconds, None, 0
        super().__init__(("127.0.0.1", 0), BlipHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def fails(self):
        self.requests += 1
        self.since = self.since or time.monotonic()
        return time.monotonic() - self.since < self.seconds

    def handle_error(self, request, address):
        pass  # clients may leave as they like

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/"


class BlipHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.send_response(503 if self.server.fails() else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


def command(words, cwd=None):
    """Exit code and seconds."""
    began = time.monotonic()
    code = subprocess.run(words, cwd=cwd, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, no_proxy="*"), check=False).returncode
    return code, time.monotonic() - began


# ===== one URL, answered with 503 for a second =====

def fetch(bide, _tools):
    programs = {"bide": [bide, "fetch", "-s"],
                "curl": ["curl", "-sf", "--retry", "3"]}

    def one(name):
        server = Blip(1.0)
        code, took = command(programs[name] + [server.url])
        server.shutdown()
        return code == 0, took, server.requests
    with concurrent.futures.ThreadPoolExecutor(RUNS) as pool:
        found = {name: list(pool.map(lambda _, n=name: one(n), range(RUNS)))
                 for name in programs}
    return {name: {"of": RUNS, "well": sum(x[0] for x in got),
                   "longest_s": max(x[1] for x in got),
                   "requests": sum(x[2] for x in got) / RUNS}
            for name, got in found.items()}


# ===== 200 URLs, and half a second of 503 =====

def many(bide, _tools):
    found = {}
    for name, words in {"bide": [bide, "fetch", "-s"],
                        "curl": ["curl", "-sfZ", "--retry", "3"]}.items():
        server = Blip(0.5)
        with tempfile.TemporaryDirectory() as into:
            urls = [x for i in range(URLS)
                    for x in ("-o", str(i), f"{server.url}{i}")]
            code, took = command(words + urls, into)
            well = sum(os.path.exists(os.path.join(into, str(i)))
                       for i in range(URLS))
        server.shutdown()
        found[name] = {"of": URLS, "well": well, "exit": code, "took_s": took,
                       "requests": server.requests}
    return found


# ===== a command, and a hiccup of two seconds =====

def run(bide, _tools):
    with concurrent.futures.ThreadPoolExecutor(RUNS) as pool:
        def one(_):
            server = Blip(2.0)
            code, took = command([bide, "run", "-q", "--", "curl", "-sf",
                                  server.url])
            server.shutdown()
            return code == 0, took, server.requests
        got = list(pool.map(one, range(RUNS)))
    return {"bide": {"of": RUNS, "well": sum(x[0] for x in got),
                     "longest_s": max(x[1] for x in got),
                     "requests": sum(x[2] for x in got) / RUNS}}


# ===== restarts and chains =====

def restart(bide, tools):
    return {rate: bench_restart.scene(bide, tools, rate, 2.0, 1)
            for rate in (50, 5000)}


def rolling(bide, tools):
    return {rate: bench_restart.scene(bide, tools, rate, 1.0, 2)
            for rate in (80, 5000)}


def chains(bide, _tools):
    kinds = [(tiers, how, away) for away in (45, 300) for tiers in (2, 3)
             for how in ("kill", "stop")]

    async def play():
        return await asyncio.gather(*(Chain(bide, tiers).play(how, 5, away, 40)
                                      for tiers, how, away in kinds))
    return [{"tiers": tiers, "how": how, "away_s": away, **got}
            for (tiers, how, away), got in zip(kinds, asyncio.run(play()))]


# ===== the page =====

HEAD = """# The defaults, with real processes

[The study of the defaults](defaults.md) is made with the simulator. This page is made
with programs: `bide` as it comes, with no number set, beside what people would use
instead, as that comes. `scripts/defaults_real.py` plays it again. "Before" is what the
defaults of bide 0.1 came to in the same scene.

All traffic is on loopback, on a machine of two cores that had other work to do, so the
waits are upper bounds.
"""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(x) for x in row) + " |"
                              for row in rows]) + "\n"


def commands_table(r):
    rows = []
    for key, what, old in (
            ("fetch", "one URL, the server answers 503 for 1 s", "0 of 15"),
            ("many", "200 URLs at once, 503 for 0.5 s",
             "1 of 200, 183 without an attempt"),
            ("run", "`bide run -- curl`, the server answers 503 for 2 s",
             "waits 0.7 s at most")):
        for name, label in (("bide", "bide"),
                            ("curl", "curl --retry 3" if key == "fetch" else
                             "curl -Z --retry 3")):
            got = r.get(key, {}).get(name)
            if got:
                rows.append((what if name == "bide" else "", label,
                             f"{got['well']} of {got['of']}",
                             f"{got.get('took_s', got.get('longest_s')):.1f} s",
                             f"{got['requests']:.0f}",
                             old if name == "bide" else ""))
    return table(("what was tried", "with", "succeeded", "longest", "requests",
                  "before"), rows)


def restart_table(found, old):
    rows = []
    for rate, sides in found.items():
        for side, got in sides.items():
            rows.append((f"{rate}/s" if side == "bide" else "", side, got["calls"],
                         got["failed"], f"{got['p50'] * 1e3:.1f} ms",
                         f"{got['p99']:.2f} s", f"{got['max']:.2f} s",
                         f"{got['peak']:.2f}",
                         old.get(str(rate), "") if side == "bide" else ""))
    return table(("load", "through", "calls", "failed", "p50", "p99", "longest wait",
                  "peak", "failed before"), rows)


def chain_table(found):
    return table(("sidecars", "the origin", "for", "calls refused after its return",
                  "the last of them", "first success"),
                 [(got["tiers"], {"kill": "was killed (refused)",
                                  "stop": "hung (SIGSTOP)"}[got["how"]],
                   f"{got['away_s']} s", got["failed_after"],
                   f"after {got['refused_s']:.2f} s", f"after {got['first_s']:.2f} s")
                  for got in found])


def page(r):
    text = HEAD
    if "fetch" in r or "many" in r:
        text += "\n## Commands\n\n" + commands_table(r)
        text += ("\nThe longest run counts; for 200 URLs, the whole of it. Requests are "
                 "those that the\nserver saw: on average for a run.\n")
    if "restart" in r:
        text += ("\n## An origin is restarted, away for 2 s\n\n" +
                 restart_table(r["restart"], {"50": "106 of 750"}) +
                 "\nThe peak is the most that the origin got in half a second after its "
                 "return, divided\nby what it usually got.\n")
    text += r.get("restart_note", "")
    if "rolling" in r:
        text += ("\n## Two origins, restarted one after the other, a second each\n\n" +
                 restart_table(r["rolling"], {"80": "86 of 800"}))
    if "chains" in r:
        text += ("\n## Sidecars in a chain\n\nEach with the defaults, 20 requests/s. "
                 "Before: two sidecars refused calls for 64 s\nafter an origin that was "
                 "away for 45 s had returned.\n\n" + chain_table(r["chains"]))
    return text


PARTS = {"fetch": fetch, "many": many, "run": run, "restart": restart,
         "rolling": rolling, "chains": chains}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    bide, tools, path = (os.path.abspath(x) for x in sys.argv[1:4])
    results = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            results = json.load(f)
    for part in sys.argv[4:] or PARTS:
        results[part] = json.loads(json.dumps(PARTS[part](bide, tools)))
        print(part, json.dumps(results[part]), flush=True)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    with open(os.path.join(HERE, "..", "docs", "defaults-real.md"), "w",
              encoding="utf-8") as f:
        f.write(page(results))


if __name__ == "__main__":
    main()
