#!/usr/bin/env python3
"""e2e_websocket.py BIDE: WebSocket through the sidecar to endpoints that speak HTTP/2
(RFC 8441), from clients that speak either: the handshake, bytes in both directions, the
end in either order, and endpoints that do not offer it. Those of HTTP/1.1 are in
e2e_streams.py."""
import socket
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, for any python3
import hpack  # noqa: E402

import h2raw  # noqa: E402
import http2_peer  # noqa: E402
from h2raw import frame  # noqa: E402
from parts import Answer, connect, fields, get, proxied, run, tap, until  # noqa: E402

OFFERED = b"\0\x08\0\0\0\1"  # SETTINGS_ENABLE_CONNECT_PROTOCOL
KEY, ACCEPT = b"dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # RFC 6455, 1.3
ASK = get("/chat?a=b", b"Connection: Upgrade\r\nUpgrade: WebSocket\r\n"
          b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY +
          b"\r\nSec-WebSocket-Protocol: soap\r\n")
HTTP2 = ", protocol: http2"


class There:
    """The endpoint's side of the nth tunnel, from 1."""

    def __init__(self, server, nth=1):
        until(lambda: server.all and len(server.all[-1].asked()) == nth)
        self.c = server.all[-1]
        self.stream = self.c.asked()[-1]
        head = [f for f in self.c.of("HEADERS") if f[2] == self.stream][0]
        self.open = not head[1] & 1
        self.head = dict(hpack.Decoder().decode(head[3]))

    def accept(self, more=b""):
        self.c.send(frame(1, self.stream, 4, b"\x88" + more))

    def send(self, data, end=False):
        self.c.send(frame(0, self.stream, 1 if end else 0, data))

    def got(self):
        """The bytes so far, and whether that is all."""
        data = [f for f in self.c.of("DATA") if f[2] == self.stream]
        return b"".join(f[3] for f in data), any(f[1] & 1 for f in data)

    def was_reset(self):
        return [f for f in self.c.of("RST_STREAM") if f[2] == self.stream]


def asks(p, server, nth=1):
    client = connect(p)
    client.send(ASK)
    return client, There(server, nth)


def from_http1():
    server = h2raw.Server(OFFERED)
    with proxied(server, upstream=HTTP2) as p:
        client, there = asks(p, server)
        want = {":method": "CONNECT", ":protocol": "websocket", ":scheme": "http",
                ":path": "/chat?a=b", "sec-websocket-version": "13",
                "sec-websocket-protocol": "soap"}
        tap.case("an Upgrade is an extended CONNECT there", there.open and
                 all(there.head.get(k) == v for k, v in want.items()) and not
                 {"connection", "upgrade", "sec-websocket-key"} & set(there.head),
                 there.head)
        there.accept(h2raw.field(b"sec-websocket-protocol", b"soap"))
        head = client.head()
        f = fields(head)
        tap.case("its client gets 101, with the answer to its key",
                 head.startswith(b"HTTP/1.1 101 ") and
                 f.get("sec-websocket-accept") == ACCEPT and
                 f.get("upgrade") == "websocket" and
                 f.get("sec-websocket-protocol") == "soap", head)
        there.send(b"hi")
        tap.case("bytes go there ...", client.take(2) == b"hi")
        client.send(b"hello")
        tap.case("... and back", until(lambda: there.got() == (b"hello", False)),
                 there.c.frames)
        client.socket.shutdown(socket.SHUT_WR)
        tap.case("the client's end arrives", until(
            lambda: there.got() == (b"hello", True)), there.c.frames)
        there.send(b"bye", True)
        tap.case("... and what is said after it, and the end", client.all() == b"bye")
        client.close()


def ends_there_first():
    server = h2raw.Server(OFFERED)
    with proxied(server, upstream=HTTP2) as p:
        client, there = asks(p, server)
        there.accept()
        client.head()
        there.send(b"that is all", True)
        tap.case("the endpoint's end arrives", client.all() == b"that is all")
        client.send(b"but")
        client.socket.shutdown(socket.SHUT_WR)
        tap.case("... and what is said after it, and the end",
                 until(lambda: there.got()[0] == b"but" and
                       (there.got()[1] or there.was_reset())), there.c.frames)
        tap.case("... without a reset", until(lambda: there.got()[1]) and
                 not there.was_reset(), there.c.frames)
        client.close()
        again, there = asks(p, server, 2)
        there.accept()
        again.head()
        there.c.send(frame(3, there.stream, 0, b"\0\0\0\x08"))
        tap.case("a reset ends it", again.all() == b"")
        again.close()


def much():
    """More than the windows have room for, both ways."""
    server = h2raw.Server(OFFERED)
    data = bytes(range(256)) * 200  # 51200: a window of 65535 is enough
    with proxied(server, upstream=HTTP2) as p:
        client, there = asks(p, server)
        there.accept()
        client.head()
        sent = 0
        for _ in range(8):
            client.send(data)
            sent += len(data)
            until(lambda n=sent: len(there.got()[0]) == n)
            there.c.send(frame(8, 0, 0, len(data).to_bytes(4, "big")) +
                         frame(8, there.stream, 0, len(data).to_bytes(4, "big")))
        tap.case("400 KiB arrive", there.got()[0] == data * 8, len(there.got()[0]))
        got = b""
        for _ in range(8):
            for at in range(0, len(data), 16384):
                there.send(data[at:at + 16384])
            got += client.take(len(data))
        tap.case("... and come back", got == data * 8, len(got))
        client.close()
        tap.case("a client that leaves ends it", until(lambda: there.got()[1] or
                                                       there.was_reset()))


def from_http2():
    server = h2raw.Server(OFFERED)
    with proxied(server, upstream=HTTP2) as p:
        c = http2_peer.Client(p.port)
        with c.heard:
            s = http2_peer.Stream(c.h2.get_next_available_stream_id())
            c.streams[s.number] = s
            c.head(s, [(":method", "CONNECT"), (":protocol", "websocket"),
                       (":scheme", "http"), (":path", "/chat"),
                       (":authority", "example.org"), ("sec-websocket-version", "13")])
        there = There(server)
        tap.case("an extended CONNECT stays one", there.open and
                 there.head.get(":protocol") == "websocket" and
                 "sec-websocket-key" not in there.head, there.head)
        there.accept()
        c.until(lambda: s.status)
        there.send(b"hi")
        c.send(s, b"hello")
        tap.case("bytes go both ways", c.until(lambda: s.body == b"hi") and
                 until(lambda: there.got() == (b"hello", False)) and s.status == 200 and
                 "sec-websocket-accept" not in s.fields, repr(s))
        there.send(b"", True)
        tap.case("the end comes", c.until(lambda: s.ended), repr(s))
        c.send(s, b"", True)
        tap.case("... and goes", until(lambda: there.got()[1]) and
                 not there.was_reset(), there.c.frames)
        c.close()


def refused():
    server = h2raw.Server(OFFERED)
    with proxied(server, upstream=HTTP2) as p:
        client, there = asks(p, server)
        there.c.send(frame(1, there.stream, 4, b"\x08\x03403" + h2raw.field(
            b"content-length", b"2")) + frame(0, there.stream, 1, b"no"))
        a = Answer(client)
        tap.case("a refusal is passed on", (a.status, a.body) == (403, b"no"), a)
        client.close()


def not_offered():
    server = h2raw.Server()
    with proxied(server, upstream=HTTP2, log=True) as p:
        client = connect(p)
        client.send(ASK)
        a = Answer(client)
        tap.case("an endpoint that does not offer it: 502, and why", a.status == 502 and
                 a.fields.get("x-bide-reason") == "no_upgrade" and
                 b"RFC 8441" in a.body, a)
        tap.case("... and it sees nothing", until(lambda: server.all) and
                 not server.all[0].asked(), server.all[0].frames)
        c = http2_peer.Client(p.port)
        with c.heard:
            s = http2_peer.Stream(c.h2.get_next_available_stream_id())
            c.streams[s.number] = s
            c.head(s, [(":method", "CONNECT"), (":protocol", "websocket"),
                       (":scheme", "http"), (":path", "/chat"),
                       (":authority", "example.org")])
        c.until(lambda: s.ended or s.reset is not None)
        tap.case("... over HTTP/2 as well", s.status == 502 and
                 s.fields.get("x-bide-reason") == "no_upgrade", repr(s))
        c.close()
        plain = connect(p)
        plain.send(get())
        there = There(server)
        there.c.answer(there.stream)
        tap.case("... and other requests are served", Answer(plain).status == 200)
        client.close()


run(from_http1, ends_there_first, much, from_http2, refused, not_offered)
