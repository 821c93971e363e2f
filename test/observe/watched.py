#!/usr/bin/env python3
"""The sidecar, watched: metrics, traces, decisions, the dashboard in a browser and
the actions, on real traffic: test/observe/watched.py BIDE"""
import http.client
import http.server
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import certificate
import npm
from ports import socket_path
from tap import case, finish

HERE = os.path.dirname(os.path.abspath(__file__))
WEB = os.path.join(HERE, "..", "web")
BIDE = os.path.abspath(sys.argv[1])
TOKEN = "a-token-of-some-length"
PATIENCE = 30  # seconds; only what hangs takes so long
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def say(self, status, body=b""):
        self.send_response(503 if status == "grpc" else status)
        if status == "grpc":  # as gRPC-Web says it, where there is no message
            self.send_header("grpc-status", "14")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Origin(Quiet):
    """Answers with the next status of the list, else 200; says what traceparent
    came."""
    answers, always, heard, served = [], None, None, 0

    def do_GET(self):
        Origin.heard = self.headers
        Origin.served += 1
        status = self.always or (self.answers.pop(0) if self.answers else 200)
        self.say(status, (self.headers.get("Traceparent") or "none").encode())


class Collector(Quiet):
    got = []

    def do_POST(self):
        self.got.append((self.path,
                         self.rfile.read(int(self.headers["Content-Length"]))))
        self.say(200)


class SecureCollector(Collector):
    got, connections = [], []

    def setup(self):
        self.connections.append(self.client_address)
        super().setup()


def serve(handler, tls=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # those who do not trust it
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


class Sidecar:
    def __init__(self, directory, more="", listen="127.0.0.1:0", sample="0%"):
        self.file = os.path.join(directory, "proxy.yaml")
        self.log = os.path.join(directory, "decisions.jsonl")
        self.more, self.sample, self.listen = more, sample, listen
        self.write()
        self.p = subprocess.Popen([BIDE, "proxy", "-c", self.file],
                                  stderr=subprocess.PIPE, text=True)
        said = ""
        while "listening" not in said and self.p.poll() is None:
            said += self.p.stderr.readline()
        self.said = said
        self.admin = int(re.search(r"http://127.0.0.1:(\d+)/", said).group(1))
        self.port = int(re.search(r"listening on 127.0.0.1:(\d+)", said).group(1))
        self.told = []
        threading.Thread(target=lambda: self.told.extend(self.p.stderr),
                         daemon=True).start()

    def write(self):
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(f"""version: 1
policies:
  default:
    attempts: 3
    deadline: 5s
    backoff: {{ base: 5ms, cap: 20ms }}
    breaker: {{ window: 10s, min_calls: 10, failure_rate: 50%, open: 6s, open_max: 60s }}
proxy:
  listen: {self.listen}
  admin: 127.0.0.1:0
  workers: 2
  admin_access: {{ token: {TOKEN}, hosts: [admin.test] }}
  telemetry:
    otlp: http://127.0.0.1:{COLLECTOR}
    sample: {self.sample}
    metrics: 1s
    log: {self.log}
  routes:
    - {{ upstream: pay }}
  upstreams:
    pay:
      endpoints: ["http://127.0.0.1:{ORIGIN}"]
      ejection: {{ consecutive: 0 }}
{self.more}""")

    def get(self, path, port=None, method="GET", **headers):
        c = http.client.HTTPConnection("127.0.0.1", port or self.port,
                                       timeout=PATIENCE)
        c.request(method, path,
                  headers={k.replace("_", "-"): v for k, v in headers.items()})
        r = c.getresponse()
        body = r.read().decode()
        c.close()
        return r.status, body

    def state(self):
        return json.loads(self.get("/api/state", self.admin)[1])

    def lines(self):
        """Of the log, but for one that is being written."""
        with open(self.log, encoding="utf-8") as f:
            return [json.loads(line) for line in f if line.endswith("\n")]

    def end(self):
        self.p.send_signal(signal.SIGTERM)
        return self.p.wait(timeout=PATIENCE)


def until(fn):
    """Waits until it gives something; what it gives."""
    end = time.monotonic() + PATIENCE
    while not (got := fn()) and time.monotonic() < end:
        time.sleep(0.05)
    return got


def spans():
    found = []
    for path, body in list(Collector.got):
        if path != "/v1/traces":
            continue
        p = subprocess.run(["node", os.path.join(HERE, "decode.js"), "traces",
                            "protobuf"], input=body, capture_output=True,
                           check=True, timeout=60)
        for r in json.loads(p.stdout)["resourceSpans"]:
            for s in r["scopeSpans"]:
                found += s["spans"]
    return found


def attributes(span):
    return {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}


def metrics(s):
    for _ in range(5):
        s.get("/fine")
    Origin.answers = [503, 503]
    s.get("/retried", X_Request_Id="r-17")
    lines = ('bide_calls_total{dep="pay/default",result="first_success"} 5',
             'bide_calls_total{dep="pay/default",result="late_success"} 1',
             'bide_retries_total{dep="pay/default",reason="backoff"} 2',
             'bide_proxy_requests_total 6', 'bide_proxy_attempts_total 8',
             f'bide_endpoint_up{{upstream="pay",endpoint="127.0.0.1:{ORIGIN}"}} 1',
             f'bide_endpoint_requests_total{{upstream="pay",endpoint="127.0.0.1:{ORIGIN}"}} 8',
             f'bide_endpoint_failures_total{{upstream="pay",endpoint="127.0.0.1:{ORIGIN}"}} 2',
             f'bide_endpoint_retries_total{{upstream="pay",endpoint="127.0.0.1:{ORIGIN}"}} 2',
             'bide_route_requests_total{dep="pay/default",route="*"} 6',
             'bide_route_retries_total{dep="pay/default",route="*"} 2',
             'bide_breaker_trips_total{dep="pay/default"} 0')

    def page():
        return s.get("/metrics", s.admin)[1]
    # What is counted after the answer is not yet counted when that is here.
    until(lambda: (text := page()) and all(line + "\n" in text for line in lines))
    text = page()
    p = subprocess.run(["promtool", "check", "metrics"], input=text.encode(),
                       capture_output=True, check=False, timeout=PATIENCE)
    case("promtool finds nothing wrong with the sidecar's metrics",
         p.returncode == 0 and not p.stderr + p.stdout, p.stderr + p.stdout)
    for line in lines:
        case(f"there is {line}", line + "\n" in text)
    decisions = until(lambda: (d := s.state()["decisions"]) and len(d) > 1 and d)
    case("its decisions are listed, newest first",
         decisions and [d["attempt"] for d in decisions] == [2, 1], decisions)
    lines = until(lambda: [x for x in s.lines() if x.get("request_id") == "r-17"][1:]
                  and s.lines())
    retry = [x for x in lines if x.get("attempt") == 2]
    case("and logged, with all that there is to say", retry
         and retry[0]["operation"] == "GET /retried" and retry[0]["status"] == 503
         and retry[0]["request_id"] == "r-17" and retry[0]["attempts"] == 3
         and {"wait_computed_ms", "wait_ms", "computed_ms", "slept_ms", "asked_ms",
              "took_ms"} <= set(retry[0]), lines)
    saved = until(lambda: [x for x in s.lines() if x.get("attempt") == 3])
    case("so is the retry that works, with its wait as computed, drawn and slept",
         saved and saved[0]["event"] == "success" and saved[0]["class"] == "success"
         and saved[0]["status"] == 200 and saved[0]["request_id"] == "r-17"
         and saved[0]["computed_ms"] == retry[0]["wait_computed_ms"]
         and saved[0]["asked_ms"] == retry[0]["wait_ms"]
         and saved[0]["slept_ms"] >= saved[0]["asked_ms"], saved)
    Origin.answers = ["grpc"]
    s.get("/grpc")
    told = until(lambda: [x for x in s.lines() if x.get("operation") == "GET /grpc"])
    case("a gRPC status is named", told and told[0]["grpc_status"] == "UNAVAILABLE"
         and told[0]["class"] == "transient", told)


def traces(s):
    case("without a trace nothing is added", s.get("/a")[1] == "none")
    body = s.get("/a", Traceparent=PARENT + "-00")[1]
    case("one that nobody wants to see is passed on as it is",
         body == PARENT + "-00", body)
    Collector.got.clear()
    Origin.answers = [503, 503]
    body = s.get("/traced", Traceparent=PARENT + "-01", X_Request_Id="r-1")[1]
    got = until(lambda: len(spans()) >= 4 and spans()) or spans()
    case("a traced request makes a span for each attempt, and one more",
         len(got) == 4, got)
    if len(got) != 4:
        return
    call = next(x for x in got if x["kind"] == 2)
    tries = [x for x in got if x["kind"] == 3]
    case("all in the caller's trace",
         {x["traceId"] for x in got} == {PARENT[3:35]}, got)
    case("the call is below the caller's span, the attempts below the call's",
         call["parentSpanId"] == PARENT[36:] and
         {x["parentSpanId"] for x in tries} == {call["spanId"]}, got)
    last = max(tries, key=lambda x: attributes(x)["retry.attempt"])
    case("the endpoint is told the span of the attempt",
         body == f"00-{PARENT[3:35]}-{last['spanId']}-01", (body, last))
    a = attributes(last)
    case("the last attempt says what it is", a["http.request.resend_count"] == 2
         and a["retry.reason"] == "backoff" and a["retry.delay_ms"] > 0
         and a["http.response.status_code"] == 200, a)
    case("the call as well", attributes(call)["bide.attempts"] == 3
         and attributes(call)["bide.request_id"] == "r-1", call)
    case("metrics go the same way",
         until(lambda: any(g[0] == "/v1/metrics" for g in Collector.got)))


class Page:
    """A browser that shows the dashboard, and tells what is on it."""

    def __init__(self, url, shot=None):
        npm.install(WEB, "playwright-core")
        self.p = subprocess.Popen(["node", os.path.join(WEB, "see.mjs"), url,
                                   *([shot] if shot else [])],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)

    def see(self, what="see"):
        self.p.stdin.write(what + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline())

    def ask(self):
        return self.see("ask")

    def end(self):
        self.p.stdin.close()
        self.p.wait(timeout=PATIENCE)


def dashboard(s):
    page = Page(f"http://127.0.0.1:{s.admin}")
    dep = s.state()["deps"][0]
    names = ("first_success", "late_success", "failure")
    want = {name: f"{dep['calls'][name]:,}" for name in names}
    until(lambda: want.items() <= page.see()["totals"].items())
    seen = page.see()
    case("the page shows the sidecar's dependency", seen["dep"] == "pay/default",
         seen)
    for name in names:
        case(f"{name} on the page is as /api/state says",
             seen["totals"].get(name) == want[name], (seen["totals"], want))
    case("so is the breaker", seen["breaker"] == dep["breaker"]["state"], seen)
    case("and the endpoints", seen["endpoints"] == [f"127.0.0.1:{ORIGIN}"], seen)
    Origin.always = 503
    until(lambda: s.get("/failing")
          and s.state()["deps"][0]["breaker"]["state"] == "open")
    opened = time.monotonic()
    case("a breaker opened by real failures shows", until(
        lambda: page.see()["breaker"] != "closed"))
    print(f"# after {time.monotonic() - opened:.1f} s; 2 s are the aim")
    case("and the turn is on its timeline", until(
        lambda: "closed → open" in page.see()["turns"]), page.see()["turns"])
    Origin.always = None
    closed = until(lambda: s.get("/fine")[0] == 200
                   and s.state()["deps"][0]["breaker"]["state"] == "closed")
    case("it closes when the endpoint is well", closed)
    case("and the page shows that", until(
        lambda: page.see()["breaker"] == "closed"))
    Origin.answers = [404]
    s.get("/missing")
    until(lambda: any("/missing" in d for d in page.see()["decisions"]))
    asked_again(page.ask())
    wrong = page.see()["wrong"]
    case("nothing went wrong in the browser", wrong == [], wrong)
    page.end()


def asked_again(commands):
    """What the page prints gives the same answer in a shell."""
    case("there are decisions of several kinds", {
        "backoff", "breaker_open", "permanent"} <= set(commands), commands)
    for reason, command in commands.items():
        p = subprocess.run(command + " --json", shell=True, capture_output=True,
                           text=True, timeout=PATIENCE, check=False,
                           env={**os.environ, "PATH": os.path.dirname(BIDE) + ":"
                                + os.environ["PATH"]})
        said = json.loads(p.stdout or "{}").get("reason")
        case(f"asked again, {reason} is the answer", said == reason,
             (command, p.stdout, p.stderr))


def retries_switch(s, auth):
    path = "/api/deps/pay/default/retries/"
    case("retries are turned off", s.get(path + "off", s.admin, "POST", **auth)[0]
         == 200 and s.state()["deps"][0]["retries_on"] is False)
    Origin.always = 503
    seen = Origin.served
    s.get("/once")
    once = Origin.served - seen
    refused = until(lambda: [d for d in s.state()["decisions"]
                             if d["operation"] == "GET /once"])
    Origin.always = None
    case("then a request is tried once", once == 1 and refused
         and refused[-1]["reason"] == "retries_off", (once, refused))
    case("and turned on again", s.get(path + "on", s.admin, "POST", **auth)[0]
         == 200 and s.state()["deps"][0]["retries_on"] is True)


def actions(s):
    path = "/api/deps/pay%2Fdefault/breaker/"
    auth = {"Authorization": f"Bearer {TOKEN}"}
    case("no action without the token",
         s.get(path + "forced_open", s.admin, "POST")[0] == 401)
    case("a breaker is forced open",
         s.get(path + "forced_open", s.admin, "POST", **auth)[0] == 200
         and s.get("/refused")[0] == 503)
    refused = until(lambda: [d for d in s.state()["decisions"]
                             if d["operation"] == "GET /refused"])
    case("what it refuses is listed", refused and refused[0]["attempt"] == 0
         and refused[0]["reason"] == "breaker_open", refused)
    line = until(lambda: [x for x in s.lines() if x.get("operation") == "GET /refused"])
    case("and logged, not as a success", line and line[0]["event"] == "refused"
         and line[0]["class"] == "ignored" and line[0]["status"] == 503, line)
    plain = path.replace("%2F", "/")
    case("the slash in a name may be written as it is",
         s.get(plain + "dry_run", s.admin, "POST", **auth)[0] == 200
         and s.state()["deps"][0]["breaker"]["mode"] == "dry_run")
    probe = "/api/deps/pay/default/probe/now"
    answer = s.get(probe, s.admin, "POST", **auth)
    case("one that is not open has nothing to probe", answer[0] == 409
         and "not open" in answer[1], answer)
    s.get(path + "normal", s.admin, "POST", **auth)
    Origin.always = 503
    until(lambda: s.get("/failing")
          and s.state()["deps"][0]["breaker"]["state"] == "open")
    Origin.always = None
    answer = s.get(probe, s.admin, "POST", **auth)
    case("an open one probes when it is told to", answer[0] == 200
         and s.state()["deps"][0]["breaker"]["state"] == "half_open"
         and until(lambda: s.get("/fine")[0] == 200), answer)
    case("and let go", s.get(path + "normal", s.admin, "POST", **auth)[0] == 200
         and s.get("/fine")[0] == 200)
    retries_switch(s, auth)
    s.more = '    other: { endpoints: ["http://127.0.0.1:1"] }\n'
    s.write()
    case("a reload is done", s.get("/api/reload", s.admin, "POST", **auth)[0] == 200)
    case("and what was counted stays", until(
        lambda: s.state()["deps"][0]["calls"]["first_success"] > 5))
    case("names that may be asked for stay as well",
         s.get("/healthz", s.admin, Host="admin.test")[0] == 200
         and s.get("/healthz", s.admin, Host="other.test")[0] == 403)
    s.sample = "50%"
    s.write()
    answer = s.get("/api/reload", s.admin, "POST", **auth)
    case("who watches cannot be changed so, and that is told", answer[0] == 409
         and "it was refused; keeping the old configuration" in answer[1] and
         until(lambda: "proxy.telemetry cannot change" in "".join(s.told)),
         (answer, s.told))
    case("it is ready", s.get("/readyz", s.admin)[0] == 200)
    answer = s.get("/api/drain", s.admin, "POST", **auth)
    code = s.p.wait(timeout=PATIENCE)
    case("drain ends it", answer[0] == 200 and code == 0, (answer, code))


def refused(directory):
    for admin, more, why in (
            ("0.0.0.0:0", "", "can be reached by others"),
            ("unix:/nowhere/at/all", "", "cannot listen on unix:/nowhere")):
        file = os.path.join(directory, "refused.yaml")
        with open(file, "w", encoding="utf-8") as f:
            f.write(f"version: 1\npolicies: {{ default: {{ attempts: 2 }} }}\n"
                    f"proxy:\n  listen: 127.0.0.1:0\n  admin: {admin}\n{more}"
                    f"  routes: [{{ upstream: a }}]\n"
                    f"  upstreams: {{ a: {{ endpoints: ['http://127.0.0.1:1'] }} }}\n")
        p = subprocess.run([BIDE, "proxy", "-c", file], capture_output=True,
                           timeout=PATIENCE, check=False, text=True)
        case(f"admin: {admin} is refused", p.returncode == 1 and why in p.stderr,
             (p.returncode, p.stderr))


def on_a_socket(directory):
    path = socket_path("admin.sock")
    file = os.path.join(directory, "unix.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(f"version: 1\npolicies: {{ default: {{ attempts: 2 }} }}\n"
                f"proxy:\n  listen: 127.0.0.1:0\n  admin: unix:{path}\n"
                f"  routes: [{{ upstream: a }}]\n"
                f"  upstreams: {{ a: {{ endpoints: ['http://127.0.0.1:1'] }} }}\n")
    p = subprocess.Popen([BIDE, "proxy", "-c", file], stderr=subprocess.DEVNULL)
    until(lambda: os.path.exists(path))
    out = subprocess.run(["curl", "-s", "--unix-socket", path,
                          "http://localhost/healthz"], capture_output=True,
                         check=False, timeout=PATIENCE).stdout
    case("the admin endpoint on a Unix socket", out == b"ok\n", out)
    case("which is this user's alone", os.stat(path).st_mode & 0o077 == 0)
    second = subprocess.run([BIDE, "proxy", "-c", file], capture_output=True,
                            text=True, timeout=PATIENCE, check=False)
    case("no other program takes it away", second.returncode == 1
         and "Address already in use" in second.stderr, second)
    p.kill()
    p.wait(timeout=PATIENCE)
    p = subprocess.Popen([BIDE, "proxy", "-c", file], stderr=subprocess.PIPE,
                         text=True)
    case("one that was left behind is no hindrance",
         path in p.stderr.readline())
    p.terminate()
    p.wait(timeout=PATIENCE)
    os.path.exists(path) and os.unlink(path)
    with open(path, "w", encoding="utf-8") as f:
        f.write("somebody's\n")
    third = subprocess.run([BIDE, "proxy", "-c", file], capture_output=True,
                           text=True, timeout=PATIENCE, check=False)
    case("any other file is left alone",
         third.returncode == 1 and os.path.getsize(path) > 0, third)


def small_config(directory, telemetry):
    file = os.path.join(directory, "small.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(f"version: 1\npolicies: {{ default: {{ attempts: 2 }} }}\n"
                f"proxy:\n  listen: 127.0.0.1:0\n  admin: 127.0.0.1:0\n"
                f"  telemetry: {json.dumps(telemetry)}\n"
                f"  routes: [{{ upstream: a }}]\n  upstreams: {{ a: {{ endpoints: "
                f"['http://127.0.0.1:{ORIGIN}'] }} }}\n")
    return file


def sampled(directory):
    s = Small(directory, {"otlp": f"http://127.0.0.1:{COLLECTOR}", "sample": "100%"})
    for name, parent, kept in (("that cannot be read", "00-zz", False),
                               ("of zeros", "00" + PARENT[2:35].replace(
                                   PARENT[3:35], "0" * 32) + PARENT[35:] + "-01", False),
                               ("of a later version", "cc" + PARENT[2:] + "-01-x", True)):
        body = s.get("/a", Traceparent=parent, Tracestate="a=b")[1]
        case(f"a traceparent {name}: the trace is {'kept' if kept else 'a new one'}",
             re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", body)
             and (body[3:35] == PARENT[3:35]) == kept, body)
        case("and the state that belongs to it " + ("too" if kept else "is not passed on"),
             (Origin.heard.get("Tracestate") == "a=b") == kept, Origin.heard.items())
    s.end()


def counted_on(directory):
    """Totals never fall, whatever is changed of a policy or an upstream."""
    file = small_config(directory, {})
    with open(file, encoding="utf-8") as f:
        text = f.read()
    s = Small(directory, None)
    before = {}
    for n, (old, new) in enumerate((("", ""), ("attempts: 2", "attempts: 3"),
                                    ("attempts: 2", "attempts: 4"),
                                    ("endpoints:", "slow_start: 1s, endpoints:"),
                                    ("['http", f"['http://127.0.0.1:{ORIGIN}', 'http"))):
        with open(file, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))
        s.p.send_signal(signal.SIGHUP)
        until(lambda: sum("reloaded" in t for t in s.told) > n)
        fallen = [k for k, v in totals(s).items() if v < before.get(k, 0)]
        case(f"no total falls at reload {n + 1}", not fallen, fallen)
        Origin.answers = [503]
        s.get("/a")
        s.get("/b")
        before = totals(s)
        done = before['bide_calls_total{dep="a/default",result="first_success"}']
        case("and all go on", done == n + 1, done)
        sent = before[f'bide_endpoint_requests_total{{upstream="a",endpoint="127.0.0.1:{ORIGIN}"}}']
        case("those of the endpoint too", sent == 3 * (n + 1), sent)
    case("so does what was amplified",
         s.state()["deps"][0]["amplification"] == 1.5, s.state()["deps"][0])
    s.end()


def totals(s):
    lines = s.get("/metrics", s.admin)[1].splitlines()
    pairs = [line.rsplit(" ", 1) for line in lines if line[0] != "#"]
    assert len(pairs) == len({k for k, _ in pairs}), "a series is there twice"
    return {k: float(v) for k, v in pairs
            if re.match(r"\w+_(total|count|sum|bucket)\b", k)}


def long_names(directory):
    name = "u" * 119
    file = small_config(directory, {})
    with open(file, encoding="utf-8") as f:
        text = f.read()
    with open(file, "w", encoding="utf-8") as f:
        f.write(text.replace("upstream: a }", f"upstream: {name} }}")
                .replace("{ a: {", f"{{ {name}: {{"))
    s = Small(directory, None)
    Origin.answers = [503]
    s.get("/a")
    listed = until(lambda: s.state()["decisions"])
    case("a decision has the whole name of its dependency",
         listed and listed[0]["dep"] == name + "/default"
         == s.state()["deps"][0]["name"], listed)
    s.end()


class Small(Sidecar):
    """A sidecar with a file of its own."""

    def __init__(self, directory, telemetry):
        self.small = os.path.join(directory, "small.yaml")
        if telemetry is not None:
            small_config(directory, telemetry)
        super().__init__(directory)

    def write(self):
        self.file = self.small


def secure_collector(directory):
    cert, key = certificate.make(directory, "collector")
    other = certificate.make(directory, "other")[0]
    url = f"https://127.0.0.1:{serve(SecureCollector, (cert, key))}"
    s = Small(directory, {"otlp": url, "ca": cert, "sample": "100%", "metrics": "1s"})
    got = SecureCollector.got

    def batches():
        return sum(g[0] == "/v1/traces" for g in got)

    for n in range(3):
        s.get("/a")
        until(lambda: batches() > n)
    case("spans go to a collector over TLS",
         batches() >= 3 and len(SecureCollector.connections) == 1,
         (batches(), SecureCollector.connections))
    case("and metrics", until(lambda: any(g[0] == "/v1/metrics" for g in got)))
    case("it ends cleanly with TLS", s.end() == 0)
    got.clear()
    for name, ca in (("signed by others", other), ("that the system does not know", None)):
        s = Small(directory, {"otlp": url, "sample": "100%", "metrics": "1s",
                              **({"ca": ca} if ca else {})})
        s.get("/a")
        failed = until(lambda: re.search(r"bide_exports_failed_total [1-9]",
                                         s.get("/metrics", s.admin)[1]))
        case(f"a collector {name} is sent nothing, and that is counted",
             failed and not got and s.end() == 0, got)
    missing = os.path.join(directory, "none.pem")
    p = subprocess.run([BIDE, "proxy", "-c", small_config(
        directory, {"otlp": url, "ca": missing})], capture_output=True, text=True,
        timeout=PATIENCE, check=False)
    case("authorities that cannot be read are told", p.returncode == 1 and
         f"telemetry.otlp: {url}: CA {missing}: No such file" in p.stderr, p.stderr)


ORIGIN, COLLECTOR = serve(Origin), serve(Collector)
npm.install(HERE, "@opentelemetry")
with tempfile.TemporaryDirectory() as tmp:
    sidecar = Sidecar(tmp)
    metrics(sidecar)
    traces(sidecar)
    dashboard(sidecar)
    actions(sidecar)
    refused(tmp)
    on_a_socket(tmp)
    secure_collector(tmp)
    sampled(tmp)
    counted_on(tmp)
    long_names(tmp)
finish()
