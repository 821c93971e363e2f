#!/usr/bin/env python3
"""e2e_http2_tls.py BIDE: which protocol is spoken over TLS (ALPN): by clients, and to
endpoints of every `protocol`, against nginx; gRPC over TLS on both sides, with
python3-grpcio; and WebSocket to an endpoint that would speak HTTP/2, too."""
import socket
import ssl
import subprocess
import sys
import threading
from concurrent import futures

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, for any python3
try:
    import grpc
except ImportError:
    grpc = None

import certificate
import http2_peer
import sidecar
from parts import PATIENCE, Nginx, Peer, connect, get, has_nginx, run, tap
from ports import free_port
from sidecar import FAST, OPEN, Sidecar, config

HERE = sidecar.work.name
PEM, KEY = certificate.make(HERE, "both")
OURS = f"  tls: {{ certificate: {PEM}, key: {KEY} }}\n"
TRUST = f", tls: {{ ca: {PEM} }}"


def towards(port, protocol, policy=OPEN):
    text = config([1], policy, upstream=f", protocol: {protocol}{TRUST}", more=OURS)
    return text.replace("http://127.0.0.1:1", f"https://127.0.0.1:{port}")


def protocols():
    if not has_nginx():
        tap.case("# skip: there is no nginx", True)
        return
    both, one = free_port(), free_port()
    nginx = Nginx(more=f"listen 127.0.0.1:{both} ssl http2; listen 127.0.0.1:{one} ssl; "
                  f"ssl_certificate {PEM}; ssl_certificate_key {KEY}; "
                  'location /version { return 200 "$server_protocol"; }')
    for what, port, rows in (
            ("both", both, {"auto": b"HTTP/2.0", "http1": b"HTTP/1.1", "http2": b"HTTP/2.0"}),
            ("HTTP/1.1", one, {"auto": b"HTTP/1.1", "http1": b"HTTP/1.1", "http2": None})):
        for protocol, spoken in rows.items():
            p = Sidecar(towards(port, protocol))
            for flag, ours in ("--http1.1", b"1.1"), ("--http2", b"2"):
                out = subprocess.run(
                    ["curl", "-sS", flag, "--cacert", PEM, "-w", "\n%{http_code} "
                     "%{http_version}", f"https://localhost:{p.port}/version"],
                    capture_output=True, timeout=60, check=False)
                body, _, end = out.stdout.rpartition(b"\n")
                good = (end == b"200 " + ours and body == spoken) if spoken else (
                    end == b"502 " + ours)
                tap.case(f"curl {flag}, protocol: {protocol}, an endpoint that speaks "
                         f"{what}: {(spoken or b'502').decode()}", good, out)
            p.stop()
    nginx.stop()


def calls():
    if not grpc:
        tap.case("# skip: no python3-grpcio", True)
        return
    with open(PEM, "rb") as pem, open(KEY, "rb") as key:
        pem, key = pem.read(), key.read()
    runs = []

    def add(request, context):
        runs.append(request)
        if len(runs) == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "on purpose")
        return request
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "shop.Cart", {"Add": grpc.unary_unary_rpc_method_handler(add)}),))
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials(((key, pem),)))
    server.start()
    p = Sidecar(towards(port, "auto", FAST + ", retry_on: { grpc: [UNAVAILABLE] }"))
    with grpc.secure_channel(f"localhost:{p.port}", grpc.ssl_channel_credentials(pem),
                             options=[("grpc.enable_retries", 0)]) as c:
        said = c.unary_unary("/shop.Cart/Add")(b"x", timeout=PATIENCE)
    tap.case("gRPC over TLS on both sides: what fails is retried",
             said == b"x" and runs == [b"x", b"x"], (said, runs))
    p.stop()
    server.stop(0).wait()


def offered():
    """What a client offers by ALPN decides, and what we offer."""
    p = Sidecar(towards(1, "auto"))
    for offer, chosen in ((["h2", "http/1.1"], "h2"), (["http/1.1", "h2"], "h2"),
                          (["http/1.1"], "http/1.1"), (["h2"], "h2")):
        context = ssl.create_default_context(cafile=PEM)
        context.set_alpn_protocols(offer)
        with context.wrap_socket(p.connect(), server_hostname="localhost") as s:
            tap.case(f"a client that offers {offer}: {chosen}",
                     s.selected_alpn_protocol() == chosen, s.selected_alpn_protocol())
    p.stop()


class Echo:
    """Over TLS, by ALPN either: after an Upgrade it says what it hears. Of HTTP/2 it knows
    the name only."""

    def __init__(self):
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(PEM, KEY)
        self.context.set_alpn_protocols(["h2", "http/1.1"])
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.spoken = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            s = self.context.wrap_socket(self.socket.accept()[0], server_side=True)
            self.spoken.append(s.selected_alpn_protocol())
            threading.Thread(target=self.one, args=(Peer(s, True),), daemon=True).start()

    def one(self, peer):
        if peer.head() and self.spoken[-1] != "h2":
            peer.send(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n"
                      b"upgrade: websocket\r\n\r\n")
            while peer.more():
                peer.send(peer.rest)
                peer.rest = b""
        peer.close()


def upgrades():
    """Few servers take WebSocket over HTTP/2: where it is theirs to choose, it is not
    offered."""
    o = Echo()
    p = Sidecar(config([1], OPEN, upstream=f", protocol: auto{TRUST}").replace(
        "http://127.0.0.1:1", f"https://127.0.0.1:{o.port}"))
    c = connect(p)
    c.send(get("/chat", b"Connection: Upgrade\r\nUpgrade: websocket\r\n"))
    head = c.head()
    c.send(b"hello")
    tap.case("WebSocket over TLS, by HTTP/1.1", head.startswith(b"HTTP/1.1 101 ") and
             c.take(5) == b"hello" and "h2" not in o.spoken, (head, o.spoken))
    c.close()
    c = http2_peer.Client(p.port)
    with c.heard:
        s = http2_peer.Stream(c.h2.get_next_available_stream_id())
        c.streams[s.number] = s
        c.head(s, [(":method", "CONNECT"), (":protocol", "websocket"),
                   (":scheme", "https"), (":path", "/chat"), (":authority", "x.example")])
    c.until(lambda: s.status)
    c.send(s, b"hello")
    c.until(lambda: s.body == b"hello")
    tap.case("... from a client of HTTP/2, too", (s.status, s.body) == (200, b"hello") and
             len(o.spoken) == 2 and "h2" not in o.spoken, (s, o.spoken))
    c.close()
    p.stop()


run(protocols, calls, offered, upgrades)
