#!/usr/bin/env python3
"""run_observed.py OBSERVED: a program that links libbide-observe is scraped, seen and
exported: /metrics by promtool, the dashboard, the state, and OTLP at a collector."""
import http.server
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import tap
from servers import Program, until

exports = []


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        exports.append((self.path, self.headers["Content-Type"],
                        self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


def get(url, method="GET"):
    try:
        with urllib.request.urlopen(
                urllib.request.Request(url, method=method), timeout=30) as r:
            return r.status, r.headers.get("Content-Type", ""), r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, "", e.read().decode()


def promtool(text):
    p = subprocess.run(["promtool", "check", "metrics"], input=text.encode(),
                       capture_output=True, timeout=60)
    return p.returncode == 0 and not p.stderr.strip(), p.stderr.decode()


def calls(url):
    state = json.loads(get(url + "api/state")[2])
    return state, [d["name"] for d in state["deps"]]


def main(program):
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    with Program(program, "127.0.0.1:0",
                 f"http://127.0.0.1:{collector.server_port}") as p:
        url = p.hear(lambda line: line.startswith("http://")).strip()
        until("some calls", lambda: 'bide_calls_total{dep="dice"' in
              get(url + "metrics")[2])
        status, kind, text = get(url + "metrics")
        tap.case("scrape_is_prometheus", status == 200 and
                 kind.startswith("text/plain; version=0.0.4"), kind)
        tap.case("scrape_is_clean", *promtool(text))
        status, kind, page = get(url)
        tap.case("dashboard_is_there", status == 200 and "text/html" in kind
                 and len(page) > 10000, (status, kind))
        state, names = calls(url)
        tap.case("state_lists_the_dependency", names == ["dice"], names)
        tap.case("ready", get(url + "readyz")[0] == 200)
        tap.case("healthy", get(url + "healthz")[0] == 200)
        tap.case("no_action_without_a_token",
                 get(url + "api/deps/dice/breaker/forced_open", "POST")[0]
                 in (401, 403, 404))
        p.process.stdin.close()
        rest = "".join(line + "\n" for line in iter(lambda: p.hear(lambda _: True), None))
        tap.case("text_in_a_buffer_is_clean", *promtool(rest))
        tap.case("text_in_a_buffer_has_the_dependency",
                 'bide_calls_total{dep="dice"' in rest, rest[:400])
        tap.case("ends_well", p.process.wait(timeout=60) == 0)
    tap.case("exported_by_otlp", any(path == "/v1/metrics" and b"dice" in body
                                     for path, _, body in exports),
             [e[:2] for e in exports])
    p = subprocess.run([program, "nonsense"], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=60)
    tap.case("bad_address_says_why", p.returncode == 1 and
             "nonsense" in p.stderr, p)
    p = subprocess.run([program, "0.0.0.0:0"], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=60)
    tap.case("open_to_all_is_refused", p.returncode == 1 and "token" in p.stderr, p)
    tap.finish()


main(*sys.argv[1:])
