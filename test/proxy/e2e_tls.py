#!/usr/bin/env python3
"""e2e_tls.py BIDE: TLS on either side: what is verified, what is refused, that
certificates are read again; and what goes through it in unlucky pieces."""
import hashlib
import http.client
import http.server
import os
import shutil
import socket
import ssl
import subprocess
import threading

import certificate
import parts
import sidecar
from fault import Fault
from parts import PATIENCE, Peer, get, ok, proxied, run, says, tap, until
from payments import UNHURRIED, Payments
from sidecar import OPEN, Sidecar, config

HERE = sidecar.work.name
DISTRUST = "certificate is not accepted"


def file(name):
    return os.path.join(HERE, name)


class Origin(http.server.ThreadingHTTPServer):
    """An HTTPS server; `need` asks for client certificates."""
    daemon_threads = True

    def __init__(self, name, need=False):
        super().__init__(("127.0.0.1", 0), Answer)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file(f"{name}.pem"), file(f"{name}.key"))
        context.set_alpn_protocols(["http/1.1"])
        if need:
            context.load_verify_locations(file("ca.pem"))
            context.verify_mode = ssl.CERT_REQUIRED
        self.names = []
        context.sni_callback = lambda s, name, c: self.names.append(name)
        self.connections = 0
        self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass

    def process_request(self, request, address):
        self.connections += 1
        super().process_request(request, address)


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        data = b"x" * int(self.headers.get("Size", "5"))
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_PUT(self):
        n = int(self.headers["Content-Length"])
        data = self.rfile.read(n)
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


def towards(origin, tls, host="127.0.0.1"):
    text = config([1], OPEN, upstream=f", tls: {{ {tls} }}")
    return text.replace("http://127.0.0.1:1",
                        f"https://{host}:{origin.server_port}")


def endpoints():
    origin = Origin("good")
    p = Sidecar(towards(origin, f"ca: {file('ca.pem')}"))
    got = [p.request() for _ in range(5)]
    tap.case("an endpoint with a good certificate",
             all(g[0] == 200 and g[2] == b"xxxxx" for g in got), got)
    tap.case("its connection is used again", origin.connections == 1,
             origin.connections)
    got = p.request(headers={"Size": "3000000"})
    tap.case("a large answer", len(got[2]) == 3000000)
    data = os.urandom(1000000)
    got = p.request("PUT", "/", data)
    tap.case("a large request", got[2] == data, got[:2])
    sidecar.ended("a good certificate", p)

    p = Sidecar(towards(origin, f"ca: {file('ca.pem')}", "localhost"))
    got = p.request()
    tap.case("a name is sent and verified", got[0] == 200 and
             origin.names[-1] == "localhost", (got, origin.names))
    sidecar.ended("a name", p)
    for what, settings, status, said in [
            ("a stranger's authority", f"ca: {file('other.pem')}", 502, "unable to get"),
            ("another name", f"ca: {file('ca.pem')}, server_name: wrong.example",
             502, "mismatch"),
            ("no check at all", "verify: false", 200, "")]:
        p = Sidecar(towards(origin, settings))
        got = p.request()
        tap.case(f"an endpoint's certificate: {what}", got[0] == status and
                 (status == 200 or got[1]["x-bide-attempts"] == "1"), got)
        p.request()
        lines = [x for x in p.said if DISTRUST in x]
        tap.case(f"an endpoint's certificate: {what}: it is said why, once",
                 len(lines) == (status == 502) and all(said in x for x in lines), p.said)
        sidecar.ended(what, p, DISTRUST)
    for what, name in [("that is only the common name", "localhost"),
                       ("that is part of an e-mail address", "mail")]:
        p = Sidecar(towards(Origin(name), f"ca: {file('ca.pem')}", "localhost"))
        got = p.request()
        tap.case(f"a name {what} does not count",
                 got[0] == 502 and b"tls" in got[2], got)
        sidecar.ended(f"a name {what}", p, DISTRUST)


def client_certificates():
    origin = Origin("good", need=True)
    for what, more, status in [
            ("with", f", certificate: {file('mine.pem')}, "
             f"key: {file('mine.key')}", 200), ("without", "", 502)]:
        p = Sidecar(towards(origin, f"ca: {file('ca.pem')}{more}"))
        got = p.request()
        tap.case(f"an endpoint that asks for a certificate, {what} one",
                 got[0] == status, got)
        sidecar.ended(f"{what} a certificate", p)


def ask(p, ca="ca.pem", mine=None, alpn=None):
    context = ssl.create_default_context(cafile=file(ca))
    if mine:
        context.load_cert_chain(file(f"{mine}.pem"), file(f"{mine}.key"))
    if alpn:
        context.set_alpn_protocols(alpn)
    c = http.client.HTTPSConnection("localhost", p.port, timeout=30,
                                    context=context)
    try:
        c.request("GET", "/s/200;body=ok")
        r = c.getresponse()
        return r.status, r.read(), c.sock.selected_alpn_protocol() \
            if c.sock else None, r.getheader("x")
    except (ssl.SSLError, ConnectionError, http.client.HTTPException) as error:
        return type(error).__name__, b"", None, None
    finally:
        c.close()


def listening(name, more=""):
    return (f"  tls: {{ certificate: {file(name + '.pem')}, "
            f"key: {file(name + '.key')}{more} }}\n")


def clients():
    p = Sidecar(config([fault.ports["http"]], more=listening("good")))
    tap.case("a client speaks TLS", ask(p)[:2] == (200, b"ok"))
    tap.case("and agrees on HTTP/1.1", ask(p, alpn=["http/1.1"])[2] == "http/1.1")
    out = subprocess.run(["curl", "-s", "--cacert", file("ca.pem"), "--resolve",
                          f"localhost:{p.port}:127.0.0.1", "-w", " %{http_version}",
                          f"https://localhost:{p.port}/s/200;body=ok"],
                         capture_output=True, timeout=60).stdout
    tap.case("or on HTTP/2, which it prefers", out == b"ok 2", out)
    tap.case("or on nothing", ask(p, alpn=["h3"])[1] == b"")
    out = p.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    tap.case("plain HTTP gets nothing", b"HTTP" not in out, out)
    os.replace(file("newer.pem"), file("good.pem"))
    os.replace(file("newer.key"), file("good.key"))
    said = p.reload()
    tap.case("a certificate is read again", "reloaded" in said and
             ask(p, "other.pem")[0] == 200 and ask(p)[0] != 200, said)
    sidecar.ended("clients", p)
    p = Sidecar(config([fault.ports["http"]], more=listening(
        "good", f", client_ca: {file('ca.pem')}, client_certificate: required")))
    tap.case("a client must have a certificate",
             ask(p, "other.pem")[0] != 200 and
             ask(p, "other.pem", "mine")[0] == 200)
    p.stop()


def pairs(*names):
    return ", certificates: [" + ", ".join(
        f"{{ certificate: {file(n + '.pem')}, key: {file(n + '.key')} }}"
        for n in names) + "]"


def shown(p, name, **how):
    """Whose certificate a client gets that asks for this name."""
    context = ssl.create_default_context(cafile=file(how.get("ca", "ca.pem")))
    context.check_hostname = False
    with socket.create_connection(("127.0.0.1", p.port), timeout=30) as s, \
            context.wrap_socket(s, server_hostname=name) as t:
        subject = t.getpeercert()["subject"]
    return dict(pair[0] for pair in subject)["commonName"]


def server_names():
    """One of several certificates, by the name that the client asks for."""
    text = config([fault.ports["http"]], more="  workers: 2\n" + listening(
        "first", pairs("one", "wild")))
    p = Sidecar(text)
    for name, whose in [("one.example", "one"), ("ONE.example", "one"),
                        ("a.wild.example", "wild"), ("b.WILD.example", "wild"),
                        ("exact.wild.example", "first"), (None, "first"),
                        ("a.b.wild.example", "first"), ("wild.example", "first"),
                        ("shared.example", "first"), ("other.example", "first")]:
        got = shown(p, name)
        tap.case(f"the certificate for {name}", got == whose, got)
    for n in "pem", "key":
        shutil.copy(file("renewed." + n), file("one." + n))
    said = p.reload()
    tap.case("each is read again", "reloaded" in said and
             shown(p, "one.example") == "renewed" and
             shown(p, "a.wild.example") == "wild", said)
    shutil.copy(file("wild.key"), file("one.key"))
    said = p.reload()
    tap.case("a key of another certificate is refused, by name",
             "was refused" in said and "one.key" in said, said)
    tap.case("and all that was there stays", shown(p, "one.example") ==
             "renewed" and shown(p, "a.wild.example") == "wild")
    shutil.copy(file("renewed.key"), file("one.key"))
    said = p.reload(text.replace("wild.pem", "localhost.pem").replace(
        "wild.key", "localhost.key"))
    tap.case("one that is for no name is refused", "was refused" in said and
             "localhost.pem" in said and "subjectAltName" in said, said)
    p.stop()
    p = Sidecar(config([fault.ports["http"]], more="  tls: { " + pairs(
        "first", "one")[2:] + " }\n"))
    tap.case("the first of the list is for other names",
             shown(p, "one.example") == "renewed" and
             shown(p, "x.example") == "first")
    sidecar.ended("server_names", p)


class Told(http.server.ThreadingHTTPServer):
    """Remembers the header fields of the last request."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), TellsOf)
        self.head = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def said(self):
        return self.head.get_all("X-Forwarded-Client-Cert")


class TellsOf(Answer):
    def do_GET(self):
        self.server.head = self.headers
        super().do_GET()


def forwarded(p, mine, more=None, method="GET"):
    context = ssl.create_default_context(cafile=file("ca.pem"))
    if mine:
        context.load_cert_chain(file(f"{mine}.pem"), file(f"{mine}.key"))
    c = http.client.HTTPSConnection("localhost", p.port, timeout=30,
                                    context=context)
    c.request(method, "/", headers=more or {})
    status = c.getresponse().status
    c.close()
    return status


def keys_of_certificates():
    """Nobody reads another's answer by knowing the key: who is known by a
    certificate is somebody, too."""
    origin = Payments()
    p = Sidecar(config([origin.port], top=UNHURRIED,
                       route=", idempotency: { accept: required }", more=listening(
                           "first", f", client_ca: {file('ca.pem')}, "
                           "client_certificate: optional")))
    key = {"Idempotency-Key": "k"}
    got = [forwarded(p, who, key, "POST") for who in ("mine", "mine", "odd", None)]
    tap.case("a key is bound to the client's certificate",
             got == [201, 201, 422, 422] and origin.total == 1, (got, origin.effects))
    p.stop()
    origin.stop()


def client_details():
    origin = Told()
    false = {"X-Forwarded-Client-Cert": "Hash=0;URI=spiffe://admin"}
    text = config([origin.server_port], more=listening(
        "first", f", client_ca: {file('ca.pem')}, client_certificate: optional, "
        "forward_client: true"))
    with open(file("mine.pem"), encoding="ascii") as f:
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(f.read())).hexdigest()
    p = Sidecar(text)
    status = forwarded(p, "mine", false)
    tap.case("an endpoint is told of the client's certificate",
             status == 200 and origin.said() == [
                 f'Hash={digest};Subject="CN=mine";DNS=client'], origin.said())
    forwarded(p, None, false)
    tap.case("of none if there is none, whatever the client says",
             origin.said() is None, origin.said())
    forwarded(p, "odd", false)
    got = origin.said()
    tap.case("nothing in a certificate can end its value", len(got) == 1 and
             got[0].endswith(';Subject="CN=odd";URI="spiffe://a/x%22;Hash=0";'
                             'URI=spiffe://a/b;DNS=one.example'), got)
    text = text.replace("proxy:\n", "proxy:\n  trusted: [127.0.0.1]\n")
    p.reload(text)
    forwarded(p, None, false)
    tap.case("not even a trusted client may say it then",
             origin.said() is None, origin.said())
    p.reload(text.replace("forward_client: true", "forward_client: false"))
    forwarded(p, "mine", false)
    tap.case("without it, a trusted client's word is passed on",
             origin.said() == list(false.values()), origin.said())
    p.reload(text.replace("forward_client: true", "forward_client: false")
             .replace("  trusted: [127.0.0.1]\n", ""))
    forwarded(p, "mine", false)
    tap.case("and that of others is not", origin.said() is None, origin.said())
    sidecar.ended("client_details", p)


class Fails(Answer):
    """Answers as it is set, for all paths."""

    def do_GET(self):
        self.send_response(self.server.status)
        if self.server.says:
            self.send_header("Cache-Control", self.server.says)
        self.send_header("Content-Length", "0")
        self.end_headers()


def stale_copies():
    """A copy of what one client was answered is not another's."""
    origin = Told()
    origin.RequestHandlerClass = Fails
    p = Sidecar(config([origin.server_port], policy=OPEN + ", attempts: 1",
                       route=", fallback: { stale: 5m }", more=listening(
                           "first", f", client_ca: {file('ca.pem')}, "
                           "client_certificate: optional, forward_client: true")))

    def first_then(says, first, then):
        origin.status, origin.says = 404, None  # forgets what was kept
        forwarded(p, first)
        origin.status, origin.says = 200, says
        forwarded(p, first)
        origin.status = 503
        return forwarded(p, then)
    for says, first, then, status in ((None, "mine", "odd", 503),
                                      ("max-age=60", "mine", None, 503),
                                      (None, None, "odd", 503),
                                      (None, None, None, 200),
                                      ("public", "mine", "odd", 200),
                                      ("public", None, "odd", 200)):
        got = first_then(says, first, then)
        tap.case(f"an answer to {first} that says {says}: {status} for {then}",
                 got == status, got)
    sidecar.ended("stale_copies", p)


# ===== unlucky pieces =====

def over_tls(p, buffer=None):
    context = ssl.create_default_context(cafile=file("ca.pem"))
    return Peer(context.wrap_socket(p.connect(buffer), server_hostname="localhost"))


def interims_that_nobody_reads():
    """A client that does not take an interim answer at once does without; but not
    half of it, and not in the place of another."""
    link = b"HTTP/1.1 103 Early Hints\r\nLink: " + b"l" * 3000 + b"\r\n\r\n"
    final = (b"HTTP/1.1 200 OK\r\nX-Final: " + b"f" * 8000 +
             b"\r\nContent-Length: 0\r\n\r\n")

    def talk(origin, peer):
        origin.request(peer)
        for _ in range(3000):
            if not peer.send(link):
                return
        peer.send(final)
        origin.sent.set()
        peer.gone()

    o = parts.Origin(talk)
    o.sent = threading.Event()
    with proxied(o, more=listening("first")) as p:
        peer = over_tls(p, 4096)
        peer.send(get("/", b"Connection: close\r\n"))
        o.sent.wait(PATIENCE)
        got = peer.all().split(b"\r\n\r\n")
        tap.case("interim answers that a client does not read leave the final one "
                 "as it is", got[-1] == b"" and
                 all(h.startswith(b"HTTP/1.1 103 Early Hints\r\nLink: l") and
                     len(h) == len(link) - 4 for h in got[:-2]) and
                 got[-2].startswith(b"HTTP/1.1 200 OK\r\nX-Final: f"),
                 [(len(h), h[:60]) for h in got
                  if not h.startswith(b"HTTP/1.1 103")])


def handshakes_that_never_end():
    """They cost a connection for timeouts.header, and nobody else anything."""
    with proxied(parts.Origin(says(ok())), more=listening("first") +
                 "  timeouts: { header: 2s }") as p:
        silent = [p.connect() for _ in range(20)]
        for i, s in enumerate(silent):
            s.sendall((b"", b"\x16", b"\x16\x03\x01\x02\x00\x01",
                       b"GET / HTTP/1.1", b"\x80\x00" * 100)[i % 5])
        served = until(lambda: others_are_served(p))
        tap.case("beside handshakes that never end others are served", served)
        ends = [sidecar.everything(s) for s in silent]
        tap.case("they end", len(ends) == 20 and
                 all(b"HTTP/" not in e for e in ends), ends)


def others_are_served(p):
    try:
        peer = over_tls(p)
    except OSError:  # this one has taken too long, too
        return False
    peer.send(get("/", b"Connection: close\r\n"))
    return peer.all().startswith(b"HTTP/1.1 200")


def much_through_tls():
    """In pieces that fit no record. One thread has the connection: OpenSSL's may not
    be read and written by two at once."""
    n = 5_000_000

    def talk(origin, peer):
        while origin.request(peer):
            peer.send(ok(origin.bodies[-1]))

    o = parts.Origin(talk)
    with proxied(o, more=listening("first")) as p:
        peer = over_tls(p)
        body = (bytes(range(256)) * (n // 256 + 1))[:n]
        peer.send(get("/", b"Content-Length: %d\r\nConnection: close\r\n" % n,
                      b"PUT") + body)
        head = peer.head()
        back = peer.take(n)
        tap.case("5 MB go through TLS and back", o.bodies[0] == body and
                 back == body and head.startswith(b"HTTP/1.1 200"),
                 (head, len(back)))


def starting():
    with open(file("locked.key"), "w", encoding="utf-8") as f:
        f.write("not a key\n")
    for what, text in [("is none", listening("good").replace(
            "good.key", "locked.key")), ("is another's", listening(
                "good").replace("good.key", "mine.key")), ("is not there",
                listening("good").replace("good.key", "nowhere.key"))]:
        path = file("start.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(config([1], more=text))
        r = subprocess.run([sidecar.BIDE, "proxy", "-c", path],
                           capture_output=True, timeout=60,
                           env=tap.environment(), check=False)
        tap.case(f"it does not start with a key that {what}",
                 r.returncode in (1, 2) and b"key" in r.stderr, r)


for ca in "ca", "other":
    certificate.authority(HERE, ca)
for who, ca, names in [
        ("good", "ca", "DNS:localhost,IP:127.0.0.1"), ("localhost", "ca", None),
        ("newer", "other", "DNS:localhost,IP:127.0.0.1"),
        ("mine", "ca", "DNS:client"),
        ("first", "ca", "DNS:localhost,DNS:exact.wild.example,"
         "DNS:shared.example,IP:127.0.0.1"),
        ("one", "ca", "DNS:one.example,DNS:shared.example"),
        ("renewed", "ca", "DNS:one.example"), ("wild", "ca", "DNS:*.wild.example"),
        ("odd", "ca", 'URI:spiffe://a/x\\";Hash=0,URI:spiffe://a/b,'
         "DNS:one.example"),
        ("mail", "ca", "email:localhost@localhost")]:
    certificate.issue(HERE, who, ca, names)
fault = Fault()
run(endpoints, client_certificates, server_names, client_details,
    keys_of_certificates, stale_copies, interims_that_nobody_reads,
    handshakes_that_never_end, much_through_tls, clients, starting)
