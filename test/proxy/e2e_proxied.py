#!/usr/bin/env python3
"""e2e_proxied.py BIDE: the PROXY protocol, in from a load balancer and out to
endpoints: who may say who the client is, and that no two clients share a
connection. By hand, and with a real HAProxy and nginx."""
import contextlib
import os
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading

import certificate
from parts import (Answer, Nginx, Origin, Peer, ask, connect, fields, get,
                   has_nginx, ok, proxied, run, says, tap, until)
from ports import free_port
from sidecar import OPEN

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
TRUSTED = "  trusted: [127.0.0.1]\n  proxy_protocol: accept\n"
LAST = b"Connection: close\r\n"


def v2(command=0x21, kind=0x11, body=None, more=b""):
    if body is None:
        body = socket.inet_aton("192.0.2.7") + socket.inet_aton("192.0.2.8") + \
            struct.pack(">HH", 1234, 443)
    body += more
    return SIGNATURE + bytes([command, kind]) + struct.pack(">H", len(body)) + body


V1 = b"PROXY TCP4 192.0.2.7 192.0.2.8 1234 443\r\n"
V6 = socket.inet_pton(socket.AF_INET6, "2001:db8::7") * 2 + struct.pack(">HH", 1, 2)


def told(o):
    """Who the client of the last request was, as the origin was told."""
    return fields(o.heads[-1]).get("x-forwarded-for")


def coming_in():
    o = Origin(says(ok()))
    with proxied(o, more=TRUSTED, log=True) as p:
        for what, header, who in [
                ("version 1", V1, "192.0.2.7"),
                ("version 1, IPv6", b"PROXY TCP6 2001:db8::7 ::1 1 2\r\n",
                 "2001:db8::7"),
                ("UNKNOWN", b"PROXY UNKNOWN\r\n", "127.0.0.1"),
                ("version 2", v2(), "192.0.2.7"),
                ("version 2, IPv6", v2(kind=0x21, body=V6), "2001:db8::7"),
                ("TLVs", v2(more=b"\x01\0\x02h2\x05\0\x03abc"), "192.0.2.7"),
                ("LOCAL", v2(command=0x20, kind=0, body=b""), "127.0.0.1"),
                ("LOCAL that says more", v2(command=0x20), "127.0.0.1"),
                ("a Unix socket", v2(kind=0x31, body=bytes(216)), "unknown")]:
            a = ask(p, header + get("/", LAST))
            tap.case(f"{what}: the client is {who}", a.status == 200 and
                     told(o) == who, (a, told(o)))
        c = connect(p)
        for i in range(len(V1)):
            c.send(V1[i:i + 1])
        c.send(get())
        first = Answer(c)
        c.send(get("/", LAST))
        tap.case("byte by byte, and for all requests of the connection",
                 first.status == Answer(c).status == 200 and
                 told(o) == "192.0.2.7", told(o))
        c.close()
        before = len(o.heads)
        for what, bad in [
                ("no header", get("/", LAST)),
                ("words too many", V1.replace(b"443", b"443 1") + get()),
                ("a port too large", V1.replace(b"443", b"70000") + get()),
                ("no end", b"PROXY UNKNOWN " + b"x" * 200),
                ("a version of its own", v2(command=0x31) + get()),
                ("too short for its kind", v2(kind=0x21) + get()),
                ("longer than anything", v2(more=bytes(5000)) + get())]:
            a = ask(p, bad)
            tap.case(f"refused: {what}", a.status == 400 and
                     a.fields.get("x-bide-reason") == "proxy_protocol", a)
        tap.case("and nothing of that was passed on", len(o.heads) == before)
        false = b"X-Forwarded-For: 10.9.9.9\r\nX-Forwarded-Client-Cert: a\r\n"
        ask(p, V1 + get("/", LAST + false))
        tap.case("the client is not trusted because its sender is",
                 told(o) == "192.0.2.7" and
                 b"forwarded-client-cert" not in o.heads[-1].lower(), o.heads[-1])
        ask(p, b"PROXY UNKNOWN\r\n" + get("/", LAST + false))
        tap.case("the sender itself is", told(o) == "10.9.9.9, 127.0.0.1", told(o))
        half = connect(p)
        half.send(V1[:10])
        half.socket.shutdown(socket.SHUT_WR)
        tap.case("half a header and no more: closed", half.gone())
        tap.case("the log has the client's address", until(lambda: any(
            '"192.0.2.7' in line for line in open(p.log, encoding="utf-8"))))


def limits():
    """Limits are those of the client, and not of who accepted it."""
    with proxied(Origin(says(ok())), more=TRUSTED +
                 "  limits: { per_client: { connections: 1 } }\n") as p:
        first, second = connect(p), connect(p)
        first.send(V1 + get())
        one = Answer(first)
        second.send(V1 + get())
        two = Answer(second)
        other = ask(p, V1.replace(b"0.2.7", b"0.2.9") + get("/", LAST))
        tap.case("a client has the limits of its own address",
                 (one.status, two.status, other.status) == (200, 503, 200) and
                 two.fields["x-bide-reason"] == "client_connections",
                 (one, two, other))
        first.close()
        tap.case("and is let in when its other connection has gone", until(
            lambda: ask(p, V1 + get("/", LAST)).status == 200))


def strangers():
    """Whoever is not trusted speaks for itself alone."""
    o = Origin(says(ok()))
    with proxied(o, more=TRUSTED.replace("127.0.0.1", "10.0.0.1")) as p:
        for what, header in ("1", V1), ("2", v2()):
            a = ask(p, header + get("/", LAST))
            tap.case(f"version {what} from a stranger is refused",
                     a.status == 400 and not o.heads, a)
        tap.case("without, it is served", ask(p, get()).status == 200 and
                 told(o) == "127.0.0.1")
    with proxied(Origin(says(ok())), more=TRUSTED.replace("accept", "off")) as p:
        tap.case("off: it is refused from everybody",
                 ask(p, V1 + get("/", LAST)).status == 400)


def too_slow():
    with proxied(Origin(says(ok())), more=TRUSTED +
                 "  timeouts: { header: 200ms }\n") as p:
        c = connect(p)
        c.send(V1[:20])
        tap.case("a header that does not end is not waited for", c.gone())


def with_tls():
    o = Origin(says(ok()))
    with tempfile.TemporaryDirectory() as d:
        own = os.path.join(d, "own")
        certificate.make(d, "own")
        with proxied(o, more=TRUSTED + f"  tls: {{ certificate: {own}.pem, key: "
                     f"{own}.key }}\n") as p:
            context = ssl.create_default_context(cafile=own + ".pem")
            s = socket.create_connection(("127.0.0.1", p.port))
            s.sendall(V1)
            c = Peer(context.wrap_socket(s, server_hostname="localhost"))
            c.send(get("/", LAST))
            tap.case("TLS comes behind it", Answer(c).status == 200 and
                     told(o) == "192.0.2.7", told(o))
            s = socket.create_connection(("127.0.0.1", p.port))
            try:
                context.wrap_socket(s, server_hostname="localhost")
                refused = False
            except OSError:
                refused = True
            tap.case("and without it nothing does", refused)


HAPROXY = """
defaults
  mode tcp
  timeout connect 10s
  timeout client 30s
  timeout server 30s
listen one
  bind 127.0.0.1:{one}
  server s 127.0.0.1:{port} send-proxy
listen two
  bind 127.0.0.1:{two}
  server s 127.0.0.1:{port} send-proxy-v2
"""


@contextlib.contextmanager
def haproxy(port):
    one, two = free_port(), free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as f:
        f.write(HAPROXY.format(one=one, two=two, port=port))
        f.flush()
        process = subprocess.Popen(
            [shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-f", f.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def listens():
            try:
                socket.create_connection(("127.0.0.1", two), 1).close()
                return True
            except OSError:
                return False
        until(listens)
        try:
            yield one, two
        finally:
            process.terminate()
            process.wait()


def behind_haproxy():
    if not (os.path.exists("/usr/sbin/haproxy") or shutil.which("haproxy")):
        tap.case("HAProxy # SKIP it is not installed", True)
        return
    o = Origin(says(ok()))
    with proxied(o, more=TRUSTED) as p, haproxy(p.port) as ports:
        for port, what in zip(ports, ("send-proxy", "send-proxy-v2")):
            c = Peer(socket.create_connection(("127.0.0.1", port),
                                              source_address=("127.0.0.5", 0)))
            c.send(get())
            tap.case(f"HAProxy, {what}", Answer(c).status == 200 and
                     told(o) == "127.0.0.5", told(o))
            c.close()


class Reader:
    """An origin that wants the header first, and remembers who each connection
    was for and what came by it."""

    def __init__(self):
        self.seen = []  # (header, paths)
        self.lock = threading.Lock()
        self.origin = Origin(self.talk)

    def header(self, peer):
        start = peer.take(6)
        if start == b"PROXY ":
            return start + peer.through(b"\r\n")
        rest = peer.take(10)
        if len(rest) < 10:
            return start + rest
        return start + rest + peer.take(struct.unpack(">H", rest[8:])[0])

    def talk(self, origin, peer):
        paths = []
        header = self.header(peer)
        with self.lock:
            self.seen.append((header, paths))
        while head := origin.request(peer):
            paths.append(head.split()[1].decode())
            status = b"503 No" if paths[-1] == "/fail" else b"200 OK"
            if not peer.send(ok(b"ok", status=status)):
                return


def source_of(header):
    """Address and port of the client, in either version."""
    if header.startswith(b"PROXY TCP4 "):
        words = header.split()
        return words[2].decode(), int(words[4])
    return (socket.inet_ntoa(header[16:20]),
            struct.unpack(">H", header[24:26])[0])


def going_out(version):
    r = Reader()
    with proxied(r.origin, upstream=f", proxy_protocol: {version}",
                 more="  workers: 2\n") as p:
        clients = [connect(p) for _ in range(8)]
        for turn in range(3):
            for i, c in enumerate(clients):
                c.send(get(f"/{i}"))
            good = all([Answer(c).status == 200 for c in clients])
        who = {c.socket.getsockname(): i for i, c in enumerate(clients)}
        tap.case(f"{version}: all are served", good)
        tap.case(f"{version}: each connection is of one client, who is named",
                 all(set(paths) == {f"/{who[source_of(header)]}"}
                     for header, paths in r.seen), r.seen)
        tap.case(f"{version}: and is used again for it",
                 len(r.seen) == 8 and all(len(paths) == 3 for _, paths in r.seen),
                 r.seen)
        a = ask(p, get("/fail"))
        tap.case(f"{version}: retries have one as well", a.status == 503 and
                 a.fields["x-bide-attempts"] == "4", a)
        for c in clients:
            c.close()


def narrow():
    """More clients than connections: those that are kept for others give way."""
    r = Reader()
    with proxied(r.origin, upstream=", proxy_protocol: v2, pool: { connections: 2, "
                 "idle: 2, connecting: 2 }") as p:
        clients = [connect(p) for _ in range(12)]
        for turn in range(3):
            for i, c in enumerate(clients):
                c.send(get(f"/{i}"))
            good = all([Answer(c).status == 200 for c in clients])
        tap.case("all are served by two connections at a time", good)
        tap.case("and none is shared", all(len(set(paths)) <= 1
                                           for _, paths in r.seen), r.seen)
        for c in clients:
            c.close()


def nobody_there():
    """A connection that cannot be made fails whom it was for."""
    with proxied(free_port(), upstream=", proxy_protocol: v1") as p:
        a = ask(p, get())
        tap.case("an endpoint that refuses connections", a.status == 502 and
                 a.fields["x-bide-attempts"] == "4", a)
    full = socket.socket()  # never accepts, and has no room
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    stuck = [socket.socket() for _ in range(4)]
    for s in stuck:
        s.setblocking(False)
        s.connect_ex(full.getsockname())
    with proxied(full.getsockname()[1], policy=OPEN + ", attempts: 2",
                 upstream=", proxy_protocol: v1, pool: { connect_timeout: 100ms }"
                 ) as p:
        tap.case("one that lets nobody in", ask(p, get()).status in (502, 504))
        c = connect(p)
        c.send(get())
        c.reset()
        tap.case("and a client that leaves meanwhile",
                 ask(p, get()).status in (502, 504))
    for s in [full, *stuck]:
        s.close()


def in_and_out():
    r = Reader()
    with proxied(r.origin, more=TRUSTED, upstream=", proxy_protocol: v1") as p:
        ask(p, V1 + get("/", LAST))
        ask(p, v2(kind=0x21, body=V6) + get("/", LAST))
        ask(p, v2(kind=0x31, body=bytes(216)) + get("/", LAST))
        headers = [header for header, _ in r.seen]
        tap.case("what came in goes out", source_of(headers[0]) ==
                 ("192.0.2.7", 1234) and
                 headers[1].startswith(b"PROXY TCP6 2001:db8::7 ::ffff:127.0.0.1 1 ")
                 and headers[2] == b"PROXY UNKNOWN\r\n", headers)


def health(version, nobody):
    r = Reader()
    with proxied(r.origin, upstream=f", proxy_protocol: {version}, health: {{ "
                 "path: /health, every: 100ms }") as p:
        tap.case(f"{version}: health checks are nobody's", until(
            lambda: any(paths == ["/health"] for _, paths in r.seen)) and
                 r.seen[0][0] == nobody, r.seen)
        tap.case(f"{version}: and say that it is well",
                 ask(p, get()).status == 200)


def before_nginx():
    if not has_nginx():
        tap.case("nginx # SKIP it is not installed", True)
        return
    with tempfile.TemporaryDirectory() as d:
        own = os.path.join(d, "own")
        certificate.make(d, "own")
        plain, secure = free_port(), free_port()
        more = (f"listen 127.0.0.1:{plain} proxy_protocol; "
                f"listen 127.0.0.1:{secure} ssl proxy_protocol; "
                f"ssl_certificate {own}.pem; ssl_certificate_key {own}.key; "
                'location /who { return 200 '
                '"$proxy_protocol_addr:$proxy_protocol_port"; }')
        nginx = Nginx(more=more)
        for version in "v1", "v2":
            for url in (f"http://127.0.0.1:{plain}", f"https://localhost:{secure}"):
                with proxied(1, upstream=f", proxy_protocol: {version}, tls: {{ "
                             f"ca: {own}.pem }}, health: {{ path: /204, every: "
                             "100ms }") as p:
                    p.reload(p.text.replace("http://127.0.0.1:1", url))
                    c = connect(p)
                    good = []
                    for _ in range(3):
                        c.send(get("/who"))
                        good.append(Answer(c).body.decode())
                    want = "%s:%d" % c.socket.getsockname()
                    tap.case(f"nginx hears it, {version}, {url[:5]}",
                             good == [want] * 3, (want, good))
                    c.close()
        nginx.stop()


run(coming_in, limits, strangers, too_slow, with_tls, behind_haproxy,
    lambda: going_out("v1"), lambda: going_out("v2"), narrow, nobody_there,
    in_and_out, lambda: health("v1", b"PROXY UNKNOWN\r\n"),
    lambda: health("v2", SIGNATURE + b"\x20\0\0\0"), before_nginx)
