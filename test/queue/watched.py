#!/usr/bin/env python3
"""watched.py BIDE: what others see of a worker: spans of deliveries at a collector,
`bide top`, and the dashboard in a real browser. Everything is waited for."""
import concurrent.futures
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import npm
import tap
from collector import Collector

BIDE = os.path.abspath(sys.argv[1])
LIMIT = 90  # seconds, for anything
TEST = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"


def until(what, limit=LIMIT):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def run(env, *args, text=""):
    return subprocess.run([BIDE, *args], input=text.encode(), env=env, timeout=LIMIT,
                          capture_output=True, check=False)


def start(env, *args):
    """A worker, and the port of its endpoint."""
    p = subprocess.Popen([BIDE, "worker", "--admin", "127.0.0.1:0", *args], env=env,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    head = p.stderr.readline() + p.stderr.readline()
    found = re.search(rb"http://127.0.0.1:(\d+)/", head)
    if not found:
        raise SystemExit(f"Bail out! {head}")
    return p, found.group(1).decode()


def stop(p):
    p.terminate()
    p.communicate(timeout=LIMIT)


# ===== traces =====

def spans_of(collector):
    """All spans so far, decoded with the protocol's own definitions."""
    found = []
    for body in list(collector.got):
        p = subprocess.run(["node", os.path.join(TEST, "observe", "decode.js"), "traces",
                            "protobuf"], input=body, capture_output=True, timeout=60,
                           check=True)
        for resource in json.loads(p.stdout)["resourceSpans"]:
            name = next(a["value"]["stringValue"]
                        for a in resource["resource"]["attributes"]
                        if a["key"] == "service.name")
            found += [(name, s) for s in resource["scopeSpans"][0]["spans"]]
    return found


def attributes(span):
    return {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}


def traced(env):
    collector = Collector()
    url = f"http://127.0.0.1:{collector.server_address[1]}"
    out = os.path.join(env["XDG_STATE_HOME"], "seen")
    run(env, "enqueue", "--queue", "t", "--id", "m1", "-a", f"traceparent={PARENT}", "one")
    run(env, "enqueue", "--queue", "t", "--id", "m2", "-a", f"traceparent={UNSAMPLED}", "two")
    run(env, "enqueue", "--queue", "t", "--id", "m3", "three")
    p = run(env, "worker", "--queue", "t", "--otlp", url, "--base", "10ms", "--until-empty",
            "--", "sh", "-c", f'echo "$BIDE_MESSAGE_ID $BIDE_ATTEMPT $TRACEPARENT" >>{out}; '
            'test "$BIDE_MESSAGE_ID" != m1 || test "$BIDE_ATTEMPT" = 2')
    tap.case("a worker with --otlp works", p.returncode == 0, p.stderr)
    spans = spans_of(collector)
    tap.case("spans of the message whose producer is traced, and no others",
             [attributes(s)["messaging.message.id"] for _, s in spans] == ["m1", "m1"], spans)
    if len(spans) != 2:
        return
    first, second = (s for _, s in spans)
    got = attributes(first)
    tap.case("the producer's span is the parent",
             all(s["traceId"] == PARENT[3:35] and s["parentSpanId"] == PARENT[36:52]
                 for _, s in spans), spans)
    tap.case("names by the conventions for messaging",
             first["name"] == "process t" and got["messaging.system"] == "sqlite" and
             got["messaging.destination.name"] == "t" and
             got["messaging.operation.type"] == "process" and
             spans[0][0] == "bide-worker", (spans[0][0], first["name"], got))
    tap.case("what became of it", got["bide.class"] == "transient" and
             got["error.type"] == "transient" and got["bide.decision"] == "backoff" and
             int(got["retry.attempt"]) == 1 and "error.type" not in attributes(second) and
             int(attributes(second)["retry.attempt"]) == 2, (got, attributes(second)))
    with open(out, encoding="utf-8") as f:
        lines = sorted(f.read().split("\n"))[1:]
    tap.case("the handler's parent is the span of its delivery",
             sorted(lines[:2]) == sorted(f"m1 {n} 00-{PARENT[3:35]}-{s['spanId']}-01"
                                         for n, s in ((1, first), (2, second))) and
             lines[2].split() == ["m2", "1"] and lines[3].split() == ["m3", "1"], lines)
    collector.got.clear()
    run(env, "enqueue", "--queue", "t", "--lines", text="".join(f"{i}\n" for i in range(200)))
    run(env, "worker", "--queue", "t", "--otlp", url, "--sample", "1", "--until-empty", "--",
        "true")
    ids = {attributes(s)["messaging.message.id"] for _, s in spans_of(collector)}
    tap.case("--sample 1: all of them", len(ids) == 200, len(ids))
    collector.got.clear()
    path = os.path.join(env["XDG_STATE_HOME"], "worker.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write("version: 1\nworker: { queue: t, until_empty: true, command: 'true', "
                f"telemetry: {{ otlp: '{url}', sample: 100% }} }}\n")
    run(env, "enqueue", "--queue", "t", "--lines", text="1\n2\n3\n")
    run(env, "worker", "-c", path)
    tap.case("telemetry: of the file is the same", len(spans_of(collector)) == 3)
    collector.got.clear()
    run(env, "enqueue", "--queue", "t", "--lines", text="1\n2\n3\n")
    run(env, "worker", "-c", path, "--sample", "0")
    tap.case("flags go before it", spans_of(collector) == [])
    collector.shutdown()


class Origin(http.server.BaseHTTPRequestHandler):
    seen = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Origin.seen.append(self.headers.get_all("traceparent"))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def over_http(env):
    collector = Collector()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run(env, "enqueue", "--queue", "h", "--id", "m", "-a", f"traceparent={PARENT}", "x")
    run(env, "worker", "--queue", "h", "--otlp",
        f"http://127.0.0.1:{collector.server_address[1]}", "--until-empty", "--to",
        f"http://127.0.0.1:{server.server_port}/")
    spans = [s for _, s in spans_of(collector)]
    tap.case("over HTTP: traceparent names the delivery, once",
             len(spans) == 1 and
             Origin.seen == [[f"00-{PARENT[3:35]}-{spans[0]['spanId']}-01"]],
             (Origin.seen, spans))
    server.shutdown()
    collector.shutdown()


def mistakes(env):
    for flags, words in ((["--otlp", "ftp://x"], "--otlp ftp://x"),
                         (["--sample", "2"], "a ratio from 0 to 1")):
        p = run(env, "worker", *flags, "--until-empty", "--", "true")
        tap.case(f"{flags[0]} {flags[1]}: refused", p.returncode == 2 and
                 words in p.stderr.decode(), p.stderr)


# ===== top and the dashboard =====

def shown(env):
    run(env, "enqueue", "--lines", text="".join(f"{i}\n" for i in range(40)))
    run(env, "enqueue", "--delay", "1h", "later")
    p, port = start(env, "-n", "2", "--", "sh", "-c",
                    "read x; case $x in 3) exit 65;; 5) exit 1;; esac")

    def top():
        return run(env, "top", port, "--once").stdout.decode()
    ok = until(lambda: re.search(  # the one that fails is later, or just running
        r"queue: \d waiting.*, [12] later, \d running, 1 dead  38 done", top()))
    tap.case("top shows the queue", ok and "flowing" in top() and
             "died: 1 permanent" in top(), top())
    tap.case("top shows what failed, and when it is tried again", re.search(
        r"\d/15  transient  again in\s+\d+\s+ms", top()), top())
    npm.install(os.path.join(TEST, "web"), "playwright-core")
    q = subprocess.run(["node", os.path.join(TEST, "web", "queue.mjs"), port], env=env,
                       capture_output=True, timeout=LIMIT, check=False)
    page = json.loads(q.stdout or b"{}")
    tap.case("the dashboard shows the queue", page.get("waiting") in "01" and
             page.get("paused") == "flowing" and page.get("dead") == "1" and
             page.get("deadNote") == "1 permanent" and page.get("done") == "38", (page,
                                                                                 q.stderr))
    tap.case("... without mistakes in the page", page.get("errors") == [], page)
    stop(p)


def paused(env):
    run(env, "enqueue", "--queue", "p", "--lines", text="1\n2\n3\n")
    p, port = start(env, "--queue", "p", "--to", "http://127.0.0.1:1/")

    def top():
        return run(env, "top", port, "--once").stdout.decode()
    ok = until(lambda: re.search(r"paused for \d[\w.]*: unreachable", top()))
    tap.case("top says that it is paused, since when, and why", ok, top())
    tap.case("... and does not call that well", "1 in trouble" in top(), top())
    q = subprocess.run(["node", os.path.join(TEST, "web", "queue.mjs"), port], env=env,
                       capture_output=True, timeout=LIMIT, check=False)
    page = json.loads(q.stdout or b"{}")
    tap.case("so does the dashboard", page.get("paused") == "paused" and
             page.get("pausedSub") == "unreachable" and
             re.fullmatch(r"for \d.*", page.get("pausedNote", "")), (page, q.stderr))
    stop(p)


def remove(env):
    """The file of the queue."""
    folder = os.path.join(env["XDG_STATE_HOME"], "bide")
    for name in os.listdir(folder):
        if name.startswith("queue.db") and name != "queue.db-workers":
            os.unlink(os.path.join(folder, name))


def health_turns_red(env):
    """A minute without the broker. What /healthz said with it, and then."""
    run(env, "enqueue", "--queue", "g", "x")
    p, port = start(env, "--queue", "g", "--", "true")
    said = []

    def red():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as r:
                said.append((r.status, r.read().decode()))
        except urllib.error.HTTPError as e:
            said.append((e.code, e.read().decode()))
        return said[-1][0] != 200
    red()
    remove(env)
    until(red, 300)
    stop(p)
    return said[0], said[-1]


def broker_away(env):
    """A queue whose file is gone: neither flowing nor paused."""
    run(env, "enqueue", "--queue", "g", "x")
    run(env, "worker", "--queue", "g", "--until-empty", "--", "true")
    p, port = start(env, "--queue", "g", "--", "true")

    def top():
        return run(env, "top", port, "--once").stdout.decode()

    def metric():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as r:
            return re.search(r"^bide_worker_broker_up (\d)", r.read().decode(), re.M).group(1)
    tap.case("a broker that answers is up", until(lambda: metric() == "1"), metric())
    tap.case("top has nothing to say of it", "broker" not in top(), top())
    remove(env)
    ok = until(lambda: "the broker does not answer" in top())
    tap.case("top says that the broker does not answer", ok, top())
    tap.case("... and does not call that well", "1 in trouble" in top(), top())
    tap.case("so do the metrics", until(lambda: metric() == "0"), metric())
    stop(p)


npm.install(os.path.join(TEST, "observe"), "protobufjs")
with tempfile.TemporaryDirectory(prefix="bide-watched-") as folder, \
        concurrent.futures.ThreadPoolExecutor() as beside:
    def place():
        """A browser writes to its HOME, and other tests want that /nowhere is nowhere."""
        home = tempfile.mkdtemp(dir=folder)
        return tap.environment(XDG_STATE_HOME=home, HOME=home)
    health = beside.submit(health_turns_red, place())  # that is a minute of waiting
    for each in (traced, over_http, mistakes, shown, paused, broker_away):
        each(place())
    before, after = health.result()
    tap.case("/healthz is green, and red after a minute without the broker",
             before == (200, "ok\n") and after[0] == 503 and re.match(
                 r"the broker has not answered for \d\d+ s", after[1]), (before, after))
tap.finish()
