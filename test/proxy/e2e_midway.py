#!/usr/bin/env python3
"""e2e_midway.py BIDE: clients and origins that do the wrong thing at the wrong moment:
in the middle of a body that is being streamed, of an answer that is being passed
on, of a reload. Each case once broke the sidecar, or was thought to."""
import contextlib
import resource
import socket
import sys
import threading
import time

import sidecar
from parts import (SYN_SENT, Answer, Origin, ask, connect, get, ok, proxied,
                   run, says, sockets, tap, until)

KEPT = 65536  # limits.replay
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def lives(name, p, detail=""):
    """It still serves."""
    a = ask(p, get("/alive"))
    tap.case(f"{name}: it lives", a.status == 200, (a, detail, p.said))


def put(length, more=b""):
    return get("/", b"Content-Length: %d\r\n" % length + more, b"PUT")


# ===== uploads that are streamed =====

def an_upload_that_ends_at_the_bound():
    """The client leaves at the byte at which keeping becomes streaming. There is
    an idle connection, so that the attempt is made at once."""
    o = Origin(says(ok()))
    with proxied(o) as p:
        for _ in range(3):
            ask(p, get())
            peer = connect(p)
            peer.send(put(KEPT + 1000) + b"x" * KEPT)
            peer.close()
            ask(p, get())
        lives("a client that leaves at the bound for replays", p)


def chunks_that_go_wrong_at_the_bound():
    o = Origin(says(ok()))
    with proxied(o) as p:
        for _ in range(3):
            ask(p, get())
            a = ask(p, get("/", CHUNKED, b"PUT") + b"%x\r\n" % KEPT +
                    b"x" * KEPT + b"\r\nnot a size\r\n")
            tap.case("chunks that go wrong behind the bound are refused",
                     a.status in (400, 502), a)
        lives("chunks that go wrong behind the bound", p)


def early(origin, peer):
    """Answers as soon as a byte of the body is there, and streams on."""
    if b"/alive" in peer.head():
        peer.send(ok())
        return
    peer.take(KEPT)
    peer.send(b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"\r\n5\r\nearly\r\n")
    peer.gone()


def chunks_that_go_wrong_behind_an_early_answer():
    """There is one answer to a request, and this one has begun."""
    with proxied(Origin(early)) as p:
        peer = connect(p)
        peer.send(get("/", CHUNKED, b"PUT") + b"%x\r\n" % (2 * KEPT) +
                  b"x" * KEPT)
        first = peer.through(b"early")
        peer.send(b"x" * KEPT + b"\r\nnot a size\r\n")
        rest = peer.all()
        tap.case("an answer that has begun is not followed by another",
                 first and rest.count(b"HTTP/1.1") == 0, (first, rest))
        lives("chunks that go wrong behind an early answer", p)


def a_body_too_large_behind_an_early_answer():
    with proxied(Origin(early),
                 more="  limits: { body_bytes: 100KiB }") as p:
        peer = connect(p)
        peer.send(get("/", CHUNKED, b"PUT") + b"%x\r\n" % (4 * KEPT) +
                  b"x" * KEPT)
        first = peer.through(b"early")
        peer.send(b"x" * 2 * KEPT)
        rest = peer.all()
        tap.case("nor if the body becomes too large",
                 first and rest.count(b"HTTP/1.1") == 0, (first, rest))
        lives("a body that becomes too large behind an early answer", p)


def a_client_that_pauses():
    """An endpoint is not to blame for a client that is slow."""
    o = Origin(says(ok()))
    with proxied(o, policy=sidecar.OPEN + ", attempts: 1, attempt_timeout: 3s"
                 ) as p:
        peer = connect(p)
        peer.send(put(KEPT + 2000) + b"x" * (KEPT + 1000))
        time.sleep(4)
        peer.send(b"x" * 1000)
        a = Answer(peer)
        tap.case("a client may pause longer than an attempt may take",
                 a.status == 200 and len(o.bodies[-1]) == KEPT + 2000, a)


def pass_over(peer, n):
    """Takes n bytes, without keeping them."""
    buf = bytearray(1 << 20)
    n -= len(peer.rest)
    peer.rest = b""
    while n > 0:
        got = peer.socket.recv_into(buf)
        if got == 0:
            return False
        n -= got
    return n == 0


def length_of(head):
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def an_origin_that_pauses():
    """A client is not to blame for an endpoint that is slow."""
    def talk(origin, peer):
        head = peer.head()
        time.sleep(4)
        if pass_over(peer, length_of(head)):
            peer.send(ok())

    body = b"x" * 30_000_000
    with proxied(Origin(talk), more="  timeouts: { body: 3s }") as p:
        peer = connect(p)
        peer.send(put(len(body)) + body[:KEPT // 2])
        time.sleep(0.1)
        peer.send(body[KEPT // 2:])
        a = Answer(peer)
        tap.case("an origin may pause longer than a client may",
                 a.status == 200, a)


def hedges_of_a_streamed_body():
    """Each byte of a body that is not kept can go to one attempt only. The origins
    take nothing for a while, but give signs of life, so that the attempt that is
    not to get more is looked at, too."""
    def talk(origin, peer):
        head = peer.head()
        for _ in range(60):
            time.sleep(0.01)
            peer.send(b"HTTP/1.1 103 Wait\r\n\r\n")
        origin.bodies.append(peer.body(head))
        peer.send(ok())

    origins = [Origin(talk), Origin(talk)]
    with proxied(*origins, policy="attempts: 1, hedge: { after: 20ms, max: 1, "
                 "extra_load: 100% }, budget: { kind: off }") as p:
        n = 20_000_000
        body = bytes(range(251)) * (n // 251 + 1)
        body = body[:n]
        peer = connect(p)
        peer.send(put(n) + body[:KEPT])
        time.sleep(0.3)
        sender = threading.Thread(target=peer.send, args=(body[KEPT:],))
        sender.start()
        a = Answer(peer)
        while a.status == 103:
            a = Answer(peer)
        sender.join()
        whole = [b == body for o in origins for b in o.bodies if len(b) == n]
        tap.case("a streamed body arrives whole where hedges are allowed",
                 a.status == 200 and whole and all(whole),
                 (a, whole, [len(b) for o in origins for b in o.bodies]))


def a_long_upload():
    """Streams with little stack: each piece must not add to it."""
    def talk(origin, peer):
        while head := peer.head():
            if pass_over(peer, length_of(head)):
                peer.send(ok())

    small = (256 * 1024, resource.RLIM_INFINITY)
    with proxied(Origin(talk), popen={"preexec_fn": lambda: resource.setrlimit(
            resource.RLIMIT_STACK, small)}) as p:
        n = 300 << 20
        peer = connect(p)
        peer.send(put(n))
        piece = b"x" * (1 << 20)
        for _ in range(n >> 20):
            peer.send(piece)
        a = Answer(peer)
        tap.case("300 MiB go up with 256 KiB of stack", a.status == 200, a)
        lives("after a long upload", p)


# ===== answers =====

def a_client_slower_than_the_origin():
    """The origin is not silent, it is not asked: body_timeout is not for that."""
    n = 30_000_000

    def talk(origin, peer):
        peer.head()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % n)
        time.sleep(0.1)
        peer.send(b"x" * n)

    with proxied(Origin(talk), upstream=", body_timeout: 3s") as p:
        s = p.connect(receive_buffer=65536)
        s.sendall(get())
        got = 0
        begin = time.monotonic()
        while piece := s.recv(1 << 20):
            if got > n // 2 and time.monotonic() - begin < 4.5:
                time.sleep(0.05)
            elif got < n // 2:
                time.sleep(0.002)
            got += len(piece)
            if got >= n:
                break
        tap.case("an answer may take longer than the origin may be silent",
                 got >= n, got)
        s.close()


def the_last_real_answer():
    """Head and body come in two pieces, as many servers send them. Which statuses
    are retried is for the policy to say."""
    def answer(status):
        def talk(origin, peer):
            peer.head()
            origin.heads.append(b"")
            if len(origin.heads) == 1:
                peer.send(f"HTTP/1.1 {status} Sorry\r\n"
                          "Content-Length: 5\r\n\r\n".encode())
                time.sleep(0.05)
                peer.send(b"later")
                peer.head()  # the next attempt, if it comes by this connection
            peer.reset()
        return talk

    for status, more in [(503, ""), (404, ", retry_on: { status: [404], "
                                          "errors: [timeout] }")]:
        o = Origin(answer(status))
        with proxied(o, policy=sidecar.OPEN + ", attempts: 2" + more) as p:
            a = ask(p, get())
            tap.case(f"the last real answer, {status}, is passed on, if its body "
                     "came late", a.status == status and a.body == b"later"
                     and a.fields.get("x-bide-attempts") == "2", a)


# ===== keys, names, lengths =====

def keys_that_do_not_travel():
    """A key that the endpoint does not get to see protects nothing."""
    def talk(origin, peer):
        origin.request(peer)
        peer.reset()

    for name, more in [("named by Connection",
                        b"Idempotency-Key: k\r\nConnection: idempotency-key\r\n"),
                       ("that is empty", b"Idempotency-Key:\r\n")]:
        o = Origin(talk)
        with proxied(o) as p:
            a = ask(p, get("/", more + b"Content-Length: 0\r\n", b"POST"))
            tap.case(f"POST with an Idempotency-Key {name} is sent once",
                     len(o.heads) == 1 and
                     a.fields.get("x-bide-reason") == "not_idempotent",
                     (a, o.heads))


def heads_that_grow():
    """A head that fits on its way in and not on its way out is the client's
    fault: the breaker must not hear of it."""
    o = Origin(says(ok()))
    with proxied(o, policy=sidecar.FAST + ", breaker: { min_calls: 5 }",
                 more="  forwarded: { host: true }") as p:
        long = b"GET / HTTP/1.1\r\nHost: " + b"a" * 12000 + b"\r\n\r\n"
        answers = [ask(p, long).status for _ in range(10)]
        tap.case("a head that grows too long is refused as such",
                 set(answers) == {431}, answers)
        a = ask(p, get())
        tap.case("and nobody else hears of it", a.status == 200, a)


def memory_while_much_passes():
    """However much passes through, and however little the clients read."""
    much = 128 << 20
    piece = b"z" * (1 << 20)

    def talk(origin, peer):
        while head := peer.head():
            if not pass_over(peer, length_of(head)):
                return
            if not head.startswith(b"GET /big"):
                peer.send(ok())
                continue
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % much)
            while peer.send(piece):
                pass

    def resident():
        with open(f"/proc/{p.pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * resource.getpagesize()

    with proxied(Origin(talk)) as p:
        ask(p, get())
        before = resident()
        peer = connect(p)
        peer.send(get("/big"))
        peer.head()
        down = pass_over(peer, much)
        peer = connect(p)
        peer.send(put(much))
        for _ in range(much >> 20):
            peer.send(piece)
        up = Answer(peer)
        slow = [p.connect(receive_buffer=4096) for _ in range(50)]
        for s in slow:
            s.sendall(get("/big"))
        lives("with 50 clients that do not read", p)
        grown = resident() - before
        tap.case("128 MiB each way, and 50 clients that do not read, take less "
                 "than 32 MiB", down and up.status == 200 and grown < 32 << 20,
                 (down, up, grown))
        for s in slow:
            s.close()


def upgrades_with_a_body():
    """The body would have to be through before the tunnel begins. Nobody asks for
    that: such a request is an ordinary one."""
    o = Origin(says(ok()))
    with proxied(o) as p:
        n = KEPT + 10000
        peer = connect(p)
        peer.send(get("/", b"Connection: upgrade\r\nUpgrade: x\r\n"
                      b"Content-Length: %d\r\n" % n, b"POST") + b"a" * n +
                  get("/next", b"Connection: close\r\n"))
        first, second = Answer(peer), Answer(peer)
        tap.case("an upgrade with a body is no upgrade",
                 first.status == second.status == 200 and
                 b"pgrade" not in o.heads[0] and len(o.bodies[0]) == n and
                 o.heads[1].startswith(b"GET /next"), (first, second, o.heads))


def a_tunnel_that_is_half_closed():
    """What the endpoint still has to say arrives, though both have closed."""
    n = 20_000_000

    def talk(origin, peer):
        peer.head()
        peer.send(b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\n"
                  b"Upgrade: x\r\n\r\n")
        peer.gone()
        peer.send(b"z" * n)

    with proxied(Origin(talk)) as p:
        s = p.connect(receive_buffer=65536)
        s.sendall(get("/", b"Connection: upgrade\r\nUpgrade: x\r\n"))
        head = s.recv(4096)
        s.shutdown(socket.SHUT_WR)
        time.sleep(0.3)
        got = head.count(b"z")
        while piece := s.recv(1 << 16):
            got += len(piece)
        tap.case("a half-closed tunnel delivers the rest", got == n, got)


# ===== reloads =====

@contextlib.contextmanager
def full():
    """A server whose queue is full, so that further connections hang: its port, and
    how many hang there."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, \
            contextlib.ExitStack() as fill:
        port = server.getsockname()[1]
        for _ in range(3):
            s = fill.enter_context(socket.socket())
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", port))
        others = sockets((SYN_SENT,), remote=port)
        yield port, lambda: sockets((SYN_SENT,), remote=port) - others


def a_reload_while_connecting():
    """The endpoint of the old file never answers; its connection is under way when
    the last request that wanted it has gone."""
    o = Origin(says(ok()))
    policy = sidecar.OPEN + ", attempts: 1, attempt_timeout: 1s"
    with full() as (port, hanging), \
            proxied(port, policy=policy,
                    upstream=", pool: { connect_timeout: 2s }") as p:
        peer = connect(p)
        peer.send(get())
        until(hanging)
        p.reload(sidecar.config([o.port], policy=policy))
        a = Answer(peer)
        tap.case("an attempt of the old file times out", a.status == 504, a)
        until(lambda: not hanging())
        lives("a connection under way, of an upstream that is gone", p)
        code, _ = p.stop()
        tap.case("it ends well", code == 0, (code, p.said))


def a_reload_while_refused():
    """The connection of the last request to an old upstream is refused."""
    o = Origin(says(ok()))
    for _ in range(2):
        held = socket.socket()
        held.bind(("127.0.0.1", 0))  # not listening: refused
        port = held.getsockname()[1]
        policy = sidecar.OPEN + ", attempts: 2"
        with proxied(port, policy=policy) as p:
            peer = connect(p)
            peer.send(put(2, b"Expect: 100-continue\r\n"))
            peer.head()  # its route is chosen
            p.reload(sidecar.config([o.port], policy=policy))
            peer.send(b"hi")
            a = Answer(peer)
            tap.case("a request of the old file is refused by its endpoint",
                     a.status == 502, a)
            lives("a refused connection, of an upstream that is gone", p)
            code, _ = p.stop()
            tap.case("it ends well", code == 0, (code, p.said))
        held.close()


def an_end_while_connecting():
    with full() as (port, hanging), \
            proxied(port, more="  timeouts: { drain: 100ms }") as p:
        peers = [connect(p) for _ in range(5)]
        for peer in peers:
            peer.send(get())
        until(lambda: hanging() == 5)
        code, _ = p.stop()
        tap.case("it ends well amid connections", code == 0 and
                 not any("ERROR" in x for x in p.said), (code, p.said))


if __name__ == "__main__":
    parts = [an_upload_that_ends_at_the_bound, chunks_that_go_wrong_at_the_bound,
             chunks_that_go_wrong_behind_an_early_answer,
             a_body_too_large_behind_an_early_answer, a_client_that_pauses,
             an_origin_that_pauses, hedges_of_a_streamed_body, a_long_upload,
             a_client_slower_than_the_origin, the_last_real_answer,
             keys_that_do_not_travel, heads_that_grow,
             memory_while_much_passes, upgrades_with_a_body,
             a_tunnel_that_is_half_closed, a_reload_while_connecting,
             a_reload_while_refused, an_end_while_connecting]
    only = sys.argv[2:]
    run(*[x for x in parts if not only or x.__name__ in only])
