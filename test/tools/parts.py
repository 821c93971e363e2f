"""What the end-to-end tests of the sidecar need beyond sidecar.py: an origin that
is a few lines of Python for each test, a client that reads one answer at a time, a
real nginx, and certificates."""
import contextlib
import http.client
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import traceback
import urllib.request

import sidecar
from ports import free_port
from sidecar import tap  # noqa: F401 (for the tests)

PATIENCE = 20  # seconds; only what hangs takes so long


def until(what, seconds=PATIENCE):
    """Waits until what() holds; whether it does."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def stopped(p):
    """Whether no thread of the serving process runs: a signal to stop takes its time."""
    for task in os.listdir(f"/proc/{p.pid}/task"):
        with open(f"/proc/{p.pid}/task/{task}/stat", encoding="ascii") as f:
            if f.read().rsplit(")", 1)[1].split()[0] != "T":
                return False
    return True


ESTABLISHED, SYN_SENT, CLOSE_WAIT = "01", "02", "08"


def sockets(states, local=None, remote=None):
    """How many of the kernel's are in one of these states, by their ports."""
    n = 0
    with open("/proc/net/tcp", encoding="ascii") as f:
        for row in (line.split() for line in f):
            if row[3] in states and \
                    (not local or int(row[1].split(":")[1], 16) == local) and \
                    (not remote or int(row[2].split(":")[1], 16) == remote):
                n += 1
    return n


def all_gone(p):
    """Waits until the sidecar has noticed that its clients have left."""
    return until(lambda: not sockets((ESTABLISHED, CLOSE_WAIT), local=p.port))


def ticks(p):
    """Hundredths of a second of CPU that the serving process has had."""
    with open(f"/proc/{p.pid}/stat", encoding="ascii") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


def rests(p):
    """Whether it needs next to no CPU for a while. One that spins never does; one
    that has just been given work does in the end."""
    before = ticks(p)
    time.sleep(0.3)
    return ticks(p) - before < 8


def fields(head):
    """The fields of a head, by lower-case name; repeated ones joined."""
    found = {}
    for line in head.split(b"\r\n")[1:]:
        if line:
            name, _, value = line.decode("latin-1").partition(":")
            name, value = name.lower(), value.strip()
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found


class Peer:
    """One end of a connection that is read piece by piece. A client that hears
    nothing is a failed case; an origin may have nothing more to do."""

    def __init__(self, s, origin=False):
        self.socket = s
        self.origin = origin
        self.rest = b""
        s.settimeout(PATIENCE)
        with contextlib.suppress(OSError):  # unix sockets have no such thing
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def more(self):
        """False at the end, whichever way it came."""
        piece = b""
        try:
            piece = self.socket.recv(65536)
        except ConnectionError:
            pass
        except TimeoutError:
            if not self.origin:
                tap.case("nobody is left waiting", False,
                         "".join(traceback.format_stack()) + repr(self.rest))
        self.rest += piece
        return bool(piece)

    def through(self, mark):
        """All up to and with this mark; b"" if the end comes first."""
        while mark not in self.rest:
            if not self.more():
                return b""
        at = self.rest.index(mark) + len(mark)
        got, self.rest = self.rest[:at], self.rest[at:]
        return got

    def head(self):
        return self.through(b"\r\n\r\n")

    def take(self, n):
        while len(self.rest) < n and self.more():
            pass
        got, self.rest = self.rest[:n], self.rest[n:]
        return got

    def all(self):
        while self.more():
            pass
        got, self.rest = self.rest, b""
        return got

    def gone(self):
        """Waits until the other side has gone; what it said until then is lost."""
        while self.more():
            pass
        return True

    def chunks(self):
        """A chunked body, and the trailers behind it."""
        body = b""
        while True:
            line = self.through(b"\r\n")
            size = int(line.split(b";")[0], 16) if line else 0
            if size == 0:
                break
            body += self.take(size)
            self.take(2)
        trailers = b"\r\n"
        while (line := self.through(b"\r\n")) not in (b"\r\n", b""):
            trailers += line
        return body, fields(trailers)

    def body(self, head):
        """The body that such a head announces."""
        f = fields(head)
        if f.get("transfer-encoding") == "chunked":
            return self.chunks()[0]
        return self.take(int(f.get("content-length", 0)))

    def send(self, data):
        """True if it could be sent."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def close(self):
        self.socket.close()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               b"\1\0\0\0\0\0\0\0")
        self.socket.close()


class Answer:
    """An answer: status, fields, body, trailers."""

    def __init__(self, peer, method="GET"):
        self.trailers = {}
        self.head = peer.head()
        words = self.head.split(b" ", 2)
        self.status = int(words[1]) if len(words) > 1 else 0
        self.fields = fields(self.head)
        self.body = b""
        if method == "HEAD" or self.status in (0, 204, 304) or self.status < 200:
            return
        if self.fields.get("transfer-encoding") == "chunked":
            self.body, self.trailers = peer.chunks()
        elif "content-length" in self.fields:
            self.body = peer.take(int(self.fields["content-length"]))
        else:
            self.body = peer.all()

    def __repr__(self):
        return f"{self.head!r} {self.body[:300]!r} {self.trailers}"


class Origin:
    """A server in a thread: talk(peer) for each connection, one at a time or
    side by side. Remembers heads as talks read them by `request`."""

    def __init__(self, talk, port=0, address="127.0.0.1"):
        self.talk = talk
        self.heads, self.bodies, self.errors = [], [], []
        self.connections = 0
        self.socket = socket.create_server((address, port), backlog=1024)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.one, args=(Peer(s, True),),
                             daemon=True).start()

    def one(self, peer):
        try:
            self.talk(self, peer)
        except Exception as e:  # shown by the test that wonders
            self.errors.append(repr(e))
        with contextlib.suppress(OSError):
            peer.close()

    def request(self, peer):
        """Reads a request; its head, b"" at the end."""
        head = peer.head()
        if head:
            self.heads.append(head)
            self.bodies.append(peer.body(head))
        return head

    def stop(self):
        """Ends accept() first: a thread that is about to call it would keep the port,
        or, when its descriptor is another's by then, serve another origin's
        clients."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


def says(*answers):
    """A talk: the nth request of all gets the nth answer, further ones the last."""
    lock, n = threading.Lock(), [0]

    def talk(origin, peer):
        while origin.request(peer):
            with lock:
                answer = answers[min(n[0], len(answers) - 1)]
                n[0] += 1
            if not peer.send(answer):
                return
    return talk


def ok(body=b"ok", more=b"", status=b"200 OK"):
    return (b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n" % len(body) +
            more + b"\r\n" + body)


def get(path="/", more=b"", method=b"GET", version=b"1.1"):
    return (method + b" " + path.encode() + b" HTTP/" + version +
            b"\r\nHost: x.example\r\n" + more + b"\r\n")


def connect(p):
    return Peer(socket.create_connection(("127.0.0.1", p.port), PATIENCE))


def ask(p, data, method="GET"):
    """One request on a connection of its own."""
    peer = connect(p)
    peer.send(data)
    answer = Answer(peer, method)
    peer.close()
    return answer


class Load:
    """Clients that ask, each on its own connection, until it is over; without
    `keep`, each request on another."""

    def __init__(self, p, n=6, keep=True):
        self.p, self.stop, self.keep = p, threading.Event(), keep
        self.results = []
        self.threads = [threading.Thread(target=self.work) for _ in range(n)]
        for t in self.threads:
            t.start()

    def work(self):
        c = http.client.HTTPConnection("127.0.0.1", self.p.port,
                                       timeout=PATIENCE)
        while not self.stop.is_set():
            try:
                c.request("GET", "/")
                r = c.getresponse()
                self.results.append((r.status, r.read()))
                if not self.keep:
                    c.close()
            except (http.client.HTTPException, OSError) as e:
                self.results.append((e, b""))
                c.close()
        c.close()

    def more(self, n):
        before = len(self.results)
        return until(lambda: len(self.results) >= before + n)

    def end(self):
        """What was not a good answer."""
        self.stop.set()
        for t in self.threads:
            t.join()
        return [r for r in self.results if r[0] != 200]


def admin(p):
    """The address of its admin endpoint."""
    return next(line for line in p.said if "admin endpoint at" in line).split()[-1]


def metric(p, series):
    """The value of the first series that matches; it needs an admin endpoint."""
    with urllib.request.urlopen(admin(p) + "metrics") as r:
        return float(re.search(rf"^{series} (\S+)", r.read().decode(), re.M)[1])


def counted(p, name):
    """A count of the sidecar's own."""
    return int(metric(p, f"bide_proxy_{name}_total"))


def end(p):
    """Ends a sidecar at once. If it fails by itself, or complains (of leaks, in a
    build that looks for them), that is a case."""
    code = "hangs"
    for _ in range(20 * PATIENCE):
        p.process.terminate()  # the second does not wait for anybody; two may arrive as one
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = p.process.wait(0.05)
            break
    else:
        p.process.kill()
        p.process.wait()
    if code != 0:
        tap.case("the sidecar lives, and ends as told", False,
                 f"{code}\n{''.join(p.said)}")


@contextlib.contextmanager
def proxied(*origins, **how):
    """A sidecar in front of these, gone afterwards."""
    log = how.pop("log", False)
    popen = how.pop("popen", {})
    ports = [o if isinstance(o, int) else o.port for o in origins]
    p = sidecar.Sidecar(sidecar.config(ports, **how), log=log, **popen)
    try:
        yield p
    finally:
        end(p)
        for o in origins:
            if not isinstance(o, int):
                o.stop()


NGINX = """
daemon off; {user} worker_processes 1; error_log error.log warn; pid nginx.pid;
events {{ worker_connections 1024; }}
http {{
  access_log access.log; keepalive_requests {requests}; root {dir}/www;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;
  uwsgi_temp_path u; scgi_temp_path s; client_max_body_size 100m;
  server {{ listen 127.0.0.1:{port}; {more}
    location /echo {{ default_type text/plain;
      return 200 "$request_method $request_uri $http_host $http_via"; }}
    location /204 {{ return 204; }}
    location /sink {{ proxy_pass http://127.0.0.1:{port}/204; }}
    location /503 {{ return 503; }}
    location / {{ }} }}
}}
"""


class Nginx:
    """A real origin, in a directory of its own. /sink reads all that it is sent
    before it answers, /204 does not wait for it. With the path of a certificate and
    its key, but for their endings, it serves TLS too, at self.tls_port."""

    def __init__(self, requests=1000, certificate=None, more=""):
        self.dir = tempfile.mkdtemp(prefix="bide-nginx-")
        self.www = os.path.join(self.dir, "www")
        os.mkdir(self.www)
        self.port = free_port()
        self.requests, self.more = requests, more
        if certificate:
            self.tls_port = free_port()
            self.more = (f"listen 127.0.0.1:{self.tls_port} ssl; "
                         f"ssl_certificate {certificate}.pem; "
                         f"ssl_certificate_key {certificate}.key;")
        self.start()

    def start(self):
        conf = os.path.join(self.dir, "nginx.conf")
        with open(conf, "w", encoding="ascii") as f:
            # Its worker would be another user, who may not read our files.
            user = "user root;" if os.getuid() == 0 else ""
            f.write(NGINX.format(port=self.port, dir=self.dir, more=self.more,
                                 requests=self.requests, user=user))
        self.process = subprocess.Popen(
            [shutil.which("nginx") or "/usr/sbin/nginx", "-p", self.dir, "-c",
             conf], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.answers)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            if self.process.poll() is not None:
                with open(os.path.join(self.dir, "error.log"),
                          encoding="utf-8") as f:
                    raise RuntimeError("nginx: " + f.read()) from None
            return False

    def file(self, name, data):
        with open(os.path.join(self.www, name), "wb") as f:
            f.write(data)
        return "/" + name

    def kill(self):
        self.process.terminate()  # at once: connections break
        self.process.wait(PATIENCE)

    def stop(self):
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


def run(*parts):
    """Each part; one that breaks off is a failed case, and the next goes on."""
    for part in parts:
        try:
            part()
        except Exception:
            tap.case(f"{part.__name__} comes to its end", False,
                     traceback.format_exc())
    tap.finish()


def has_nginx():
    return os.path.exists("/usr/sbin/nginx") or shutil.which("nginx")
