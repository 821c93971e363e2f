#!/usr/bin/env python3
"""The admin endpoint from the outside: every path, who may ask, what is hostile, and
a real Prometheus that scrapes it; TLS, at the sidecar's:
test/observe/admin.py LIVE BIDE"""
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import certificate
from ports import free_port
from tap import case, finish

HERE = os.path.dirname(os.path.abspath(__file__))
LIVE, BIDE = (os.path.abspath(a) for a in sys.argv[1:3])
TOKEN = "a-token-of-some-length"
PATIENCE = 30  # seconds; only what hangs takes so long


def until(fn, seconds=PATIENCE):
    """Waits until it gives something; what it gives."""
    end = time.monotonic() + seconds
    while not (got := fn()) and time.monotonic() < end:
        time.sleep(0.05)
    return got


class Program:
    """observe_live, ended with its standard input."""

    def __init__(self, *args):
        self.p = subprocess.Popen([LIVE, *args], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.port = int(self.p.stdout.readline())

    def ask(self, path, method="GET", body=None, **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        c.request(method, path, body,
                  {k.replace("_", "-"): v for k, v in headers.items()})
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, text, r.headers

    def raw(self, data):
        """Sends bytes as they are; gives all that comes until the end."""
        s = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        s.sendall(data)
        out = b""
        try:
            while chunk := s.recv(65536):
                out += chunk
        except TimeoutError:
            out += b"(still open)"
        except ConnectionResetError:
            pass
        s.close()
        return out

    def end(self):
        self.p.stdin.close()
        return self.p.wait(timeout=PATIENCE)


def paths(p):
    status, text, headers = p.ask("/")
    csp = headers["Content-Security-Policy"]
    case("/ is the dashboard", status == 200 and "<title>bide</title>" in text)
    case("/ has a strict content security policy", csp.startswith(
        "default-src 'none'; script-src 'sha256-") and "unsafe" not in csp, csp)
    case("/healthz", p.ask("/healthz")[:2] == (200, "ok\n"))
    case("/readyz", p.ask("/readyz")[:2] == (200, "ready\n"))
    status, text, headers = p.ask("/metrics")
    case("/metrics", status == 200 and "bide_calls_total" in text
         and headers["Content-Type"].startswith("text/plain; version=0.0.4"))
    state = json.loads(p.ask("/api/state")[1])
    case("/api/state", [d["name"] for d in state["deps"]]
         == ["payments", "search", "ledger", "mail"], state)
    case("/api/history", "deps" in json.loads(p.ask("/api/history")[1]))
    brief = json.loads(p.ask("/api/state?dep=mail")[1])
    whole = [d["name"] for d in brief["deps"] if "rules" in d]
    case("/api/state?dep= has all of one, and little of the others",
         whole == ["mail"] and len(brief["deps"]) > 1
         and all(d.get("brief") or d["name"] == "mail" for d in brief["deps"]), whole)
    case("of nobody, if there is none of that name", not [
        d for d in json.loads(p.ask("/api/state?dep=x&dep=mail")[1])["deps"] if "rules" in d])
    one = json.loads(p.ask("/api/history?a=b&dep=%6Dail")[1])["deps"]
    case("/api/history?dep= is one's alone", list(one) == ["mail"], one)
    case("/api/history?brief is a minute of all", all(
        len(point) == 5 for points in
        json.loads(p.ask("/api/history?brief")[1])["deps"].values() for point in points))
    case("HEAD has no body", p.ask("/metrics", "HEAD")[1] == "")
    case("an unknown path is 404", p.ask("/nothing")[0] == 404)
    case("a query is not part of the path", p.ask("/healthz?x=1")[0] == 200)
    case("DELETE is 405", p.ask("/api/state", "DELETE")[0] == 405)


def stream(p):
    r = urllib.request.urlopen(f"http://127.0.0.1:{p.port}/api/stream",
                               timeout=PATIENCE)
    times = []
    while len(times) < 3:
        line = r.readline().decode()
        if line.startswith("data: "):
            times.append(json.loads(line[6:])["now_ms"])
    r.close()
    case("/api/stream sends one state after the other",
         times == sorted(set(times)), times)


def who_may_ask(p):
    for host in ("127.0.0.1", f"localhost:{p.port}", "[::1]:9901", "10.1.2.3"):
        case(f"Host {host} may", p.ask("/api/state", Host=host)[0] == 200)
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                 "127.0.0.1x", "2130706433"):
        case(f"Host {host} may not", p.ask("/api/state", Host=host)[0] == 403)
    here = f"127.0.0.1:{p.port}"
    case("its own Origin may", p.ask("/api/state", Origin=f"http://{here}")[0] == 200)
    for origin in ("http://evil.example", "null", f"https://{here}",
                   "http://127.0.0.1:1", f"http://{here}.evil.example"):
        case(f"Origin {origin} may not",
             p.ask("/api/state", Origin=origin)[0] == 403)
    case("what a browser calls cross-site may not", p.ask(
        "/api/state", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="cors")[0] == 403)
    case("nor its image tags", p.ask(
        "/metrics", Sec_Fetch_Site="same-site", Sec_Fetch_Mode="no-cors")[0] == 403)
    case("a link to the page may", p.ask(
        "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")[0] == 200)


def breaker(p, name):
    state = json.loads(p.ask("/api/state")[1])
    return next(d for d in state["deps"] if d["name"] == name)["breaker"]["state"]


def retries_on(p, name):
    state = json.loads(p.ask("/api/state")[1])
    return next(d for d in state["deps"] if d["name"] == name)["retries_on"]


def retries_switch(p, without):
    path = "/api/deps/mail/retries/"
    good = {"Authorization": f"Bearer {TOKEN}"}
    case("retries are on", retries_on(p, "mail") is True)
    case("they are not turned off without a token",
         p.ask(path + "off", "POST")[0] == 401 and
         without.ask(path + "off", "POST", **good)[0] == 403 and
         retries_on(p, "mail") and retries_on(without, "mail"))
    case("with it they are", p.ask(path + "off", "POST", **good)[0] == 200 and
         retries_on(p, "mail") is False)
    case("those of others stay on", retries_on(p, "payments") is True)
    case("a word that is neither is 400, and changes nothing",
         p.ask(path + "maybe", "POST", **good)[0] == 400 and
         retries_on(p, "mail") is False)
    case("they can be turned on again",
         p.ask(path + "on", "POST", **good)[0] == 200 and
         retries_on(p, "mail") is True)
    case("of an unknown dependency there are none", p.ask(
        "/api/deps/x/retries/off", "POST", **good)[0] == 409)


def actions(p, without):
    path = "/api/deps/mail/breaker/forced_open"
    good = {"Authorization": f"Bearer {TOKEN}"}
    case("an action without a token is 401", p.ask(path, "POST")[0] == 401)
    for wrong in ("Bearer wrong", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}",
                  f"Basic {TOKEN}", "Bearer ", TOKEN):
        case(f"`{wrong}` is 401", p.ask(path, "POST", Authorization=wrong)[0] == 401)
    case("and nothing was done", breaker(p, "mail") == "closed")
    case("with the token it is done", p.ask(path, "POST", **good)[0] == 200)
    case("and shows", breaker(p, "mail") == "open")
    case("and can be taken back", p.ask(
        "/api/deps/mail/breaker/normal", "POST", body="thrown away", **good)[0] == 200
        and breaker(p, "mail") == "closed")
    case("another site may not, with the token even", p.ask(
        path, "POST", Origin="http://evil.example", **good)[0] == 403)
    case("an unknown dependency is told", "no dependency `x y`" in
         p.ask("/api/deps/x%20y/breaker/normal", "POST", **good)[1])
    case("an unknown mode is 400",
         p.ask("/api/deps/mail/breaker/ajar", "POST", **good)[0] == 400)
    for path in ("/api/deps/mail", "/api/deps/mail/breaker", "/api/deps/%zz/breaker/normal",
                 "/api/deps/%00/breaker/normal", "/api/deps/a/b/c/d", "/api/what"):
        case(f"POST {path} is 404", p.ask(path, "POST", **good)[0] == 404)
    case("GET does no action", p.ask("/api/drain", **good)[0] == 404)
    case("what the program cannot do is 501",
         p.ask("/api/drain", "POST", **good)[0] == 501)
    case("a program without a token has no actions", without.ask(
        "/api/deps/mail/breaker/forced_open", "POST", **good)[0] == 403)


def hostile(p):
    for name, data in {
        "no HTTP at all": b"\x16\x03\x01\x02\x00\x01\x00\n\n",
        "a bare LF": b"GET / HTTP/1.1\nHost: localhost\n\n",
        "no Host": b"GET / HTTP/1.1\r\n\r\n",
        "two Hosts": b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: a\r\n\r\n",
        "a chunked body": b"POST /api/drain HTTP/1.1\r\nHost: localhost\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "a long body": b"POST /api/drain HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Length: 99999999\r\n\r\n",
        "a long head": b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n",
        "many fields": b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 500,
    }.items():
        answer = p.raw(data)
        case(f"{name} is refused, and the connection ended",
             answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))
             or answer == b"", answer[:200])
        case("and it goes on", p.ask("/healthz")[0] == 200)
    two = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" \
          b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = p.raw(two)
    case("requests in a row are answered in their order",
         answer.index(b"ok\n") < answer.index(b"ready\n"), answer)
    slow = [socket.create_connection(("127.0.0.1", p.port)) for _ in range(80)]
    for s in slow:
        s.sendall(b"GET / HT")
    case("those who only hold connections keep nobody out",
         p.ask("/healthz")[0] == 200)
    for s in slow:
        s.close()


def open_stream(p, room=None):
    s = socket.socket()
    if room:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    s.settimeout(30)
    s.connect(("127.0.0.1", p.port))
    s.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return s, s.recv(12)


def drain(streams, stop):
    """Reads what comes: a stream that is behind gives way to others."""
    while not stop.wait(0.05):
        for s, _ in list(streams):
            try:
                s.recv(1 << 20, socket.MSG_DONTWAIT)
            except OSError:
                pass


def many_streams(p):
    streams, stop = [], threading.Event()
    reading = threading.Thread(target=drain, args=(streams, stop), daemon=True)
    reading.start()
    for _ in range(40):
        streams.append(open_stream(p))
    said = [line for _, line in streams]
    stop.set()
    reading.join()
    case("there may be 32 streams, and one more is told so",
         said == [b"HTTP/1.1 200"] * 32 + [b"HTTP/1.1 503"] * 8, said)
    case("and they keep nobody out", p.ask("/healthz")[0] == 200)
    for s, _ in streams:
        s.close()
    reader, _ = open_stream(p, 4096)
    case("one who does not read his stream holds nobody up",
         p.ask("/healthz")[0] == 200)
    # It takes nothing until its connection is gone at the other end.
    gone = until(lambda: connections_from(reader) == 0, 120)
    case("and is dropped", gone)
    reader.close()


class Crowd:
    """Connections that hold what they have: silent ones, slow ones, those that ask
    for much and read nothing, streams that are not read. One that was dropped comes
    back."""
    ASKS = [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20,
            b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20,
            b"GET /api/history HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20]

    def __init__(self, port, n):
        self.port = port
        self.sockets = [self.join(i) for i in range(n)]
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.return_)
        self.thread.start()

    def join(self, i):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(PATIENCE)
        try:
            s.connect(("127.0.0.1", self.port))
            s.sendall(self.ASKS[i % len(self.ASKS)])
        except OSError:
            pass
        return s

    def return_(self):
        i = 0
        while not self.over.wait(0.001):
            i = (i + 1) % len(self.sockets)
            if connections_from(self.sockets[i]) == 0:
                self.sockets[i].close()
                self.sockets[i] = self.join(i)

    def leave(self):
        self.over.set()
        self.thread.join()
        for s in self.sockets:
            s.close()


def crowds(p):
    for n in 64, 300:
        crowd = Crowd(p.port, n)
        got = []
        for _ in range(20):
            for path in "/healthz", "/metrics":
                try:
                    got.append(p.ask(path)[0])
                except OSError as e:
                    got.append(e)
        case(f"{n} who hold what they can keep nobody from /healthz and /metrics",
             got == [200] * 40, got)
        good = {"Authorization": f"Bearer {TOKEN}"}
        case("nor from an action", p.ask("/api/deps/mail/breaker/normal", "POST",
                                         **good)[0] == 200)
        crowd.leave()


def connections_from(client):
    """Of the other end's: established with the port that this client has."""
    mine = f"0100007F:{client.getsockname()[1]:04X}"
    with open("/proc/net/tcp", encoding="ascii") as f:
        return sum(line.split()[2] == mine and line.split()[3] == "01"
                   for line in f)


def no_descriptors():
    """accept() fails, and poll() says at once that there is somebody."""
    p = Program("--calm")
    resource.prlimit(p.p.pid, resource.RLIMIT_NOFILE, (16, 16))
    waiting = [socket.create_connection(("127.0.0.1", p.port)) for _ in range(24)]
    for s in waiting:
        s.sendall(b"GET /he")
    before = ticks(p.p.pid, "bide-admin")
    time.sleep(2)
    used = ticks(p.p.pid, "bide-admin") - before
    case("without descriptors it rests", used < 20, used)
    for s in waiting:
        s.close()
    case("and goes on", until(lambda: p.ask("/healthz")[0] == 200))
    p.end()


def ticks(pid, name):
    """What a thread has used of a processor, in hundredths of a second."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="ascii") as f:
            head, rest = f.read().rsplit(")", 1)
        if head.endswith("(" + name):
            return sum(int(n) for n in rest.split()[11:13])
    return 0


def refused_to_start():
    for args, why in ((("--port", "99999"), "expected an address and a port"),
                      (("--port", "x"), "expected an address and a port"),
                      (("--token", "short"), "at least 16 characters"),
                      (("--listen", "0.0.0.0:0"), "can be reached by others, and "
                       "admin_access has no token and no certificate. Expected "
                       "both; or a loopback address; or `insecure: true`"),
                      (("--listen", "0.0.0.0:0", "--token", TOKEN),
                       "admin_access has no certificate. Expected both"),
                      (("--listen", "[::]:0"), "can be reached by others"),
                      (("--listen", "192.0.2.1:0"), "can be reached by others"),
                      (("--listen", "::1:0"), "expected an address and a port"),
                      (("--listen", "localhost"), "expected an address and a port")):
        p = subprocess.run([LIVE, *args], stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=PATIENCE)
        case(f"{' '.join(args)} is refused",
             p.returncode == 2 and why in p.stderr.decode(), p.stderr)


def prometheus(p):
    """A real one scrapes it, and knows what it was told."""
    with tempfile.TemporaryDirectory() as d:
        port = free_port()
        rules = os.path.abspath(os.path.join(HERE, "..", "..", "docs", "prometheus",
                                             "alerts.yml"))
        with open(os.path.join(d, "prometheus.yml"), "w", encoding="utf-8") as f:
            f.write(f"global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\n"
                    f"rule_files: ['{rules}']\n"
                    f"scrape_configs:\n- job_name: bide\n  static_configs:\n"
                    f"  - targets: ['127.0.0.1:{p.port}']\n")
        server = subprocess.Popen(
            ["prometheus", f"--config.file={d}/prometheus.yml",
             f"--storage.tsdb.path={d}/data", f"--web.listen-address=127.0.0.1:{port}",
             "--log.level=error"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

        def query(q):
            url = f"http://127.0.0.1:{port}/api/v1/query?query=" + \
                urllib.parse.quote(q)
            with urllib.request.urlopen(url, timeout=PATIENCE) as r:
                return json.load(r)["data"]["result"]

        def value(q):
            """The first value of an answer; 0 while there is none."""
            try:
                return float(query(q)[0]["value"][1])
            except (OSError, ValueError, IndexError):
                return 0

        case("a real Prometheus scrapes it", until(lambda: value(
            'count(sum by (dep) (rate(bide_calls_total[10s])) > 0)') == 4))
        case("and finds nothing wrong", until(
            lambda: value('up{job="bide"}') == 1
            and value('scrape_samples_scraped') > 300))
        case("and reads its histograms", until(lambda: value(
            'histogram_quantile(0.5, sum by (le) (rate('
            'bide_call_seconds_bucket{retry_time="with"}[10s])))') > 0))
        server.terminate()
        server.wait(timeout=PATIENCE)


def write_config(directory, admin, **access):
    file = os.path.join(directory, "proxy.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(f"version: 1\npolicies: {{ default: {{ attempts: 2 }} }}\n"
                f"proxy:\n  listen: 127.0.0.1:0\n  workers: 1\n  admin: {admin}\n"
                f"  admin_access: {json.dumps(access)}\n"
                f"  routes: [{{ upstream: a }}]\n"
                f"  upstreams: {{ a: {{ endpoints: ['http://127.0.0.1:1'] }} }}\n")
    return file


class Sidecar(Program):
    """A sidecar, whose admin endpoint speaks TLS."""

    def __init__(self, directory, admin, ca, **access):
        self.p = subprocess.Popen(
            [BIDE, "proxy", "-c", write_config(directory, admin, **access)],
            stderr=subprocess.PIPE, text=True)
        said = ""
        while "listening" not in said and self.p.poll() is None:
            said += self.p.stderr.readline()
        self.said = said
        found = re.search(r"admin endpoint at https://\S+:(\d+)/", said)
        self.port = int(found.group(1))
        self.context = ssl.create_default_context(cafile=ca)

    def connect(self, context=None):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        return (context or self.context).wrap_socket(s, server_hostname="127.0.0.1")

    def ask(self, path, method="GET", body=None, **headers):
        c = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE,
                                        context=self.context)
        c.request(method, path, body,
                  {k.replace("_", "-"): v for k, v in headers.items()})
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, text, r.headers

    def end(self):
        self.p.send_signal(signal.SIGTERM)
        code = self.p.wait(timeout=PATIENCE)
        self.p.stderr.close()
        return code


def read_all(s):
    out = b""
    while chunk := s.recv(65536):
        out += chunk
    return out


def refuses(context, p):
    try:
        p.connect(context).close()
    except ssl.SSLError:
        return True
    return False


def tls_requests(p):
    case("/healthz over TLS", p.ask("/healthz")[:2] == (200, "ok\n"))
    page, headers = p.ask("/")[1:]
    case("a long answer over TLS is whole", len(page) > 20000
         and len(page.encode()) == int(headers["Content-Length"]), len(page))
    here = f"127.0.0.1:{p.port}"
    case("its own Origin begins with https",
         p.ask("/healthz", Origin=f"https://{here}")[0] == 200
         and p.ask("/healthz", Origin=f"http://{here}")[0] == 403)
    path = "/api/deps/a%2Fdefault/breaker/forced_open"
    case("an action needs the token still", p.ask(path, "POST")[0] == 401)
    case("and is done with it", p.ask(
        path, "POST", Authorization=f"Bearer {TOKEN}")[0] == 200)
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200 + b"\r\n\r\n"
    s = p.connect()
    # One record that is larger than what is read at once: poll() sees it once.
    s.sendall(one * 60 + one.replace(b"X: ", b"Connection: close\r\nX: "))
    answers = read_all(s).count(b"ok\n")
    case("61 requests in one record get 61 answers", answers == 61, answers)
    s = p.connect()
    s.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    got = b""
    while got.count(b"data: ") < 2 and (piece := s.recv(65536)):
        got += piece
    case("the stream goes on over TLS", got.count(b"data: ") >= 2, got[:200])
    s.close()


def tls_top(p, cert, other):
    def top(ca, *more):
        return subprocess.run(
            [BIDE, "top", *(["--cacert", ca] if ca else []),
             f"https://127.0.0.1:{p.port}/", *more], capture_output=True,
            text=True, timeout=30, check=False)

    shown = top(cert)
    case("bide top asks over TLS", shown.returncode == 0
         and f"https://127.0.0.1:{p.port}" in shown.stdout
         and "a/default" in shown.stdout, shown)
    case("and prints JSON", "deps" in json.loads(top(cert, "--json").stdout))
    for ca in (other, None):
        shown = top(ca)
        case("but nobody whom it does not trust", shown.returncode == 1
             and "certificate is not one to trust" in shown.stderr, shown)


def tls_hostile(p, other):
    answer = p.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    case("plain HTTP gets no answer there", b"HTTP/1.1 200" not in answer
         and b"still open" not in answer, answer)
    case("a client that trusts another certificate refuses it",
         refuses(ssl.create_default_context(cafile=other), p))
    silent = [socket.create_connection(("127.0.0.1", p.port)) for _ in range(20)]
    silent[0].sendall(b"\x16\x03\x01\x02\x00\x01\x00")
    case("those who say nothing hold nobody up", p.ask("/healthz")[0] == 200)
    for s in silent:
        s.close()
    for _ in range(5):  # hangs up while it is written to
        s = p.connect()
        s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        s.close()
    case("nor do those who hang up", p.ask("/healthz")[0] == 200)


def tls_renewed(p, here, new):
    """A certificate is replaced on the disk, as those who renew them do."""
    auth = {"Authorization": f"Bearer {TOKEN}"}
    before = p.connect()
    for to, data in zip(here, new):
        os.replace(shutil.copy(data, to + ".new"), to)
    trusts = ssl.create_default_context(cafile=new[0])
    case("one that was replaced is not seen yet", refuses(trusts, p))
    case("a reload is done over TLS",
         p.ask("/api/reload", "POST", **auth)[0] == 200)
    p.context = trusts
    case("then it is", p.ask("/healthz")[0] == 200)
    before.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                   b"Connection: close\r\n\r\n")
    case("whoever was connected before stays so", b"ok\n" in read_all(before))
    with open(here[0], "w", encoding="ascii") as f:
        f.write("nothing\n")
    answer = p.ask("/api/reload", "POST", **auth)
    case("one that cannot be used is told, and the one before stays",
         answer[0] == 409 and p.ask("/healthz")[0] == 200, answer)


def tls():
    with tempfile.TemporaryDirectory() as d:
        cert, key = certificate.make(d, "one")
        other, other_key = certificate.make(d, "two")
        p = Sidecar(d, "127.0.0.1:0", cert, certificate=cert, key=key, token=TOKEN)
        tls_requests(p)
        tls_top(p, cert, other)
        tls_hostile(p, other)
        tls_renewed(p, (cert, key), (other, other_key))
        case("with TLS it ends cleanly", p.end() == 0)
        cert, key = certificate.make(d, "one")
        p = Sidecar(d, "0.0.0.0:0", cert, certificate=cert, key=key, token=TOKEN)
        case("with a token and TLS it may be reached by others",
             p.ask("/healthz")[0] == 200 and p.end() == 0, p.said)
        tls_refused(d, cert, key, other_key)


def tls_refused(d, cert, key, other_key):
    none = os.path.join(d, "none.pem")
    for admin, access, code, why in (
            ("0.0.0.0:0", {"certificate": cert, "key": key}, 1,
             "0.0.0.0:0 can be reached by others, and admin_access has no token."),
            ("0.0.0.0:0", {"token": TOKEN}, 1, "admin_access has no certificate."),
            ("127.0.0.1:0", {"certificate": none, "key": key}, 1,
             f"admin: certificate {none}: No such file"),
            ("127.0.0.1:0", {"certificate": cert, "key": other_key}, 1,
             f"admin: key {other_key}"),
            ("127.0.0.1:0", {"certificate": cert}, 2,
             "`certificate` is there, and `key` is missing"),
            ("127.0.0.1:0", {"key": key}, 2,
             "`key` is there, and `certificate` is missing")):
        p = subprocess.run([BIDE, "proxy", "-c", write_config(d, admin, **access)],
                           capture_output=True, text=True, timeout=PATIENCE,
                           check=False)
        case(f"{admin} with {', '.join(access)} is refused: {why[:40]}",
             p.returncode == code and why in p.stderr, (p.returncode, p.stderr))


live = Program("--token", TOKEN)
calm = Program("--calm")
paths(live)
stream(live)
who_may_ask(live)
retries_switch(live, calm)
actions(live, calm)
hostile(live)
many_streams(live)
crowds(live)
no_descriptors()
prometheus(calm)
case("it ends cleanly", live.end() == 0 and calm.end() == 0)
refused_to_start()
told = Program("--insecure", "--listen", "0.0.0.0:0")
case("`insecure` does without", told.ask("/healthz")[0] == 200 and told.end() == 0)
tls()
finish()
