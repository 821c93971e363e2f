#!/usr/bin/env python3
"""OpenTelemetry's own decoder reads what bide writes, and a collector that is
now there, now not, gets it: test/observe/otlp.py TOOL"""
import http.server
import json
import os
import subprocess
import sys
import threading

import npm
from tap import case, finish

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.abspath(sys.argv[1])


def tool(*args):
    return subprocess.run([TOOL, *args], capture_output=True, timeout=60)


def decode(what, form, body):
    p = subprocess.run(["node", os.path.join(HERE, "decode.js"), what, form],
                       input=body, capture_output=True, timeout=60)
    if p.returncode:
        raise SystemExit(f"Bail out! decode.js: {p.stderr.decode()}")
    return json.loads(p.stdout)


def attributes(thing):
    return {a["key"]: next(iter(a["value"].values()))
            for a in thing.get("attributes", [])}


def check_spans(form):
    out = tool("spans", *(["json"] if form == "json" else []))
    request = decode("traces", form, out.stdout)
    resource = request["resourceSpans"][0]
    spans = resource["scopeSpans"][0]["spans"]
    first, second, call = spans
    case(f"{form}: the resource says who",
         attributes(resource["resource"])["service.name"] == "scene", resource)
    case(f"{form}: a span for each attempt, and one for the call",
         len(spans) == 3, spans)
    case(f"{form}: one trace", {s["traceId"] for s in spans} == {"ab" * 16},
         spans)
    case(f"{form}: attempts are below the call, the call below its caller",
         first["parentSpanId"] == second["parentSpanId"] == call["spanId"]
         and call["parentSpanId"] == "cd" * 8, spans)
    case(f"{form}: times", first["startTimeUnixNano"] == 1700000005e9
         and second["endTimeUnixNano"] == 1700000005.14e9, spans)
    a, b, c = attributes(first), attributes(second), attributes(call)
    for name, want in {"http.request.method": "GET", "url.path": "/pay/17",
                       "http.response.status_code": 200,
                       "http.request.resend_count": 1, "retry.attempt": 2,
                       "retry.reason": "backoff", "retry.delay_ms": 121,
                       "retry.budget_exhausted": False,
                       "server.address": "127.0.0.1:9001"}.items():
        case(f"{form}: {name} of the retry", b.get(name) == want, b)
    case(f"{form}: the first attempt failed", first["status"]["code"] == 2
         and a["error.type"] == "503" and a["bide.next_wait_ms"] == 120, first)
    case(f"{form}: the call did not", "status" not in call
         and c["bide.attempts"] == 2 and c["bide.reason"] == "success"
         and c["bide.dependency"] == "pay"
         and c["bide.request_id"] == "req-1", call)
    return request


def check_metrics(form):
    out = tool("otlp-metrics", *(["json"] if form == "json" else []))
    request = decode("metrics", form, out.stdout)
    metrics = {m["name"]: m for m in
               request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}
    calls = metrics["bide_calls_total"]["sum"]
    points = {tuple(sorted(attributes(p).items())): p
              for p in calls["dataPoints"]}
    late = points[(("dep", "pay"), ("result", "late_success"))]
    case(f"{form}: counters are cumulative and only grow",
         calls["aggregationTemporality"] == 2 and calls["isMonotonic"], calls)
    case(f"{form}: a counter's value", late["asInt"] == 1, late)
    waits = metrics["bide_wait_seconds"]["histogram"]["dataPoints"]
    slept = next(p for p in waits if attributes(p) == {"dep": "pay",
                                                       "stage": "slept"})
    case(f"{form}: a histogram adds up", slept["count"] == 5
         == sum(slept["bucketCounts"])
         and len(slept["bucketCounts"]) == len(slept["explicitBounds"]) + 1,
         slept)
    case(f"{form}: no budget is infinite", any(
        p["asDouble"] == "Infinity"
        for p in metrics["bide_budget_remaining"]["gauge"]["dataPoints"]),
        metrics["bide_budget_remaining"])
    return request


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers, got = [], []
    given = threading.Event()  # the exporter has all of it

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.answers.pop(0) if self.answers else 200
        if status == "held":
            self.given.wait(60)
            status = 200
        if status == 200:
            self.got.append((self.path, self.headers["Content-Type"], body))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def export(*args):
    """What the exporter counts in the end."""
    Collector.given.clear()
    with subprocess.Popen([TOOL, "export", *args], stdout=subprocess.PIPE) as p:
        p.stdout.readline()
        Collector.given.set()
        return json.loads(p.stdout.read())


def collect(form, answers, calls):
    """Exports to a collector that answers so; gives what became of it."""
    Collector.answers, Collector.got = list(answers), []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    stats = export(url, *(["json"] if form == "json" else []), str(calls))
    server.shutdown()
    server.server_close()
    return stats, list(Collector.got)


def check_export():
    for form, media in (("protobuf", "application/x-protobuf"),
                        ("json", "application/json")):
        stats, got = collect(form, [503, 429], 50)
        batches = [g for g in got if g[0] == "/v1/traces"]
        spans = [s for g in batches for s in decode("traces", form, g[2])
                 ["resourceSpans"][0]["scopeSpans"][0]["spans"]]
        case(f"export {form}: all arrives, although it was refused twice",
             stats["sent"] == 150 and stats["dropped"] == 0
             and len(spans) == 150, (stats, len(spans)))
        case(f"export {form}: the media type", {g[1] for g in got} == {media},
             got)
        case(f"export {form}: metrics at the end, at the latest",
             any(g[0] == "/v1/metrics" for g in got), [g[0] for g in got])
    stats, got = collect("protobuf", [400] * 20, 10)
    case("export: what is refused for good is dropped and counted",
         stats["sent"] == 0 and stats["dropped"] == 30, stats)
    stats, got = collect("protobuf", ["held"], 2000)
    case("export: over its bound it drops, and counts",
         stats["sent"] + stats["dropped"] == 6000 and stats["dropped"] > 0,
         stats)
    stats = export("http://127.0.0.1:1", "10")
    case("export: nobody there holds nothing up",
         stats["sent"] == 0 and stats["free_ms"] < 10000, stats)
    for url in ("https://127.0.0.1:4318", "https://", "http://", "http://h:0",
                "http://h:99999", "http://user@h", "ftp://h", "http://a b"):
        out = tool("export", url, "1")
        case(f"export: {url} is refused with what was expected",
             out.returncode == 2 and b"expected" in out.stderr, out.stderr)


npm.install(HERE, "@opentelemetry")
same = [check_spans("protobuf"), check_spans("json")]
case("spans: both forms say the same", same[0] == same[1], same)
same = [check_metrics("protobuf"), check_metrics("json")]
case("metrics: both forms say the same",
     same[0] == same[1], same)
check_export()
finish()
