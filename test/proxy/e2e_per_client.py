#!/usr/bin/env python3
"""e2e_per_client.py BIDE: limits for each client address, over all workers. Loopback
has as many addresses as are needed."""
import os
import socket
import ssl

import certificate
import sidecar
from parts import (PATIENCE, Answer, Origin, Peer, ask, counted, get, ok,
                   proxied, run, says, tap, until)

HERE = sidecar.work.name
ADMIN = "  admin: 127.0.0.1:0\n  workers: 2\n"


def limits(what):
    return f"  limits: {{ per_client: {{ {what} }} }}\n"


def come(p, address="127.0.0.1"):
    """A connection from that address."""
    return Peer(socket.create_connection(("127.0.0.1", p.port), PATIENCE,
                                         source_address=(address, 0)))


def once(peer):
    peer.send(get())
    return Answer(peer)


def refused(p, address="127.0.0.1"):
    """A connection from there is one too many; to be asked if it surely is."""
    peer = come(p, address)
    a = Answer(peer)
    peer.close()
    return a.status == 503 and a.fields["x-bide-reason"] == "client_connections"


def served(p, address="127.0.0.1"):
    peer = come(p, address)
    a = once(peer)
    peer.close()
    return a.status == 200


def connections():
    o = Origin(says(ok()))
    with proxied(o, more=ADMIN + limits("connections: 4")) as p:
        held = [come(p) for _ in range(4)]
        tap.case("as many as it may have are served",
                 all(once(c).status == 200 for c in held))
        peer = come(p)
        a = Answer(peer)
        tap.case("one more is told so, and closed", a.status == 503 and
                 a.fields["x-bide-reason"] == "client_connections" and
                 a.fields["x-bide-retry"] == "no" and
                 int(a.fields["retry-after"]) > 0 and
                 b"urn:bide:problem:client_connections" in a.body and
                 peer.all() == b"", a)
        tap.case("whichever worker it comes to",
                 all(refused(p) for _ in range(20)))
        tap.case("others are served", served(p, "127.0.0.2"))
        tap.case("it is counted", counted(p, "client_connections") == 21)
        held.pop().close()
        tap.case("when one has gone there is a place again",
                 until(lambda: served(p)))
        p.reload(p.text.replace("connections: 4", "connections: 6"))
        def grow():
            """Holds one more, if it may; true when there are six."""
            peer = come(p)
            if once(peer).status == 200:
                held.append(peer)
            else:
                peer.close()
            return len(held) == 6
        tap.case("a reload allows more, and not too many",
                 until(grow) and refused(p))
        for c in held:
            c.close()


def requests():
    o = Origin(says(ok()))
    with proxied(o, more=ADMIN + limits("requests: 1/h")) as p:
        peer = come(p)
        tap.case("as often as it may ask it is answered", once(peer).status == 200)
        a = once(peer)
        tap.case("once more is 429", a.status == 429 and
                 a.fields["x-bide-reason"] == "client_rate" and
                 a.fields["x-bide-retry"] == "no" and
                 0 < int(a.fields["retry-after"]) <= 3600 and
                 a.fields["content-type"] == "application/problem+json", a)
        tap.case("on the same connection, which goes on", once(peer).status == 429)
        peer.close()
        tap.case("and on any other", all(ask(p, get()).status == 429
                                         for _ in range(10)))
        tap.case("nothing of it reached the origin", len(o.heads) == 1, o.heads)
        tap.case("others are served", served(p, "127.0.0.2") and
                 not served(p, "127.0.0.2"))
        tap.case("it is counted", counted(p, "client_rate") == 13)
    o = Origin(says(ok()))
    with proxied(o, more=limits("requests: 1/h")) as p:
        tap.case("what was asked for is gone", served(p) and not served(p))
        p.reload(p.text.replace("1/h", "none"))
        tap.case("a reload lifts the limit", until(lambda: served(p)))
        p.reload(p.text.replace("requests: none", "requests: 1/h"))
        until(lambda: not served(p, "127.0.0.2"))  # it is in force again
        tap.case("and the next one has not forgotten", not served(p))
    o = Origin(says(ok()))
    with proxied(o, more=limits("requests: 50/s")) as p:
        peer = come(p)
        tap.case("a second's worth may come at once",
                 all(once(peer).status == 200 for _ in range(50)))
        peer.close()


def exempt():
    o = Origin(says(ok()))
    path = os.path.join(HERE, "exempt.sock")
    more = limits("connections: 1, requests: 1/h") + "  trusted: [127.0.0.1]\n"
    text = sidecar.config([o.port], more=more).replace(
        "listen: 127.0.0.1:0", f"listen: [127.0.0.1:0, 'unix:{path}']")
    p = sidecar.Sidecar(text)
    held = [come(p) for _ in range(5)]
    tap.case("who is trusted is not limited",
             all(once(c).status == 200 for c in held + held))
    tap.case("others are", served(p, "127.0.0.2") and not served(p, "127.0.0.2"))

    def unix():
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        return Peer(s)
    by_socket = [unix() for _ in range(3)]
    tap.case("nor who comes without an address",
             all(once(c).status == 200 for c in by_socket + by_socket))
    p.reload(text.replace("  trusted: [127.0.0.1]\n", ""))
    tap.case("who is trusted no more is counted, with what is open",
             until(lambda: not served(p)) and refused(p))
    for c in held + by_socket:
        c.close()
    sidecar.ended("exemptions", p)
    o.stop()


def begun_before():
    o = Origin(says(ok()))
    with proxied(o, more="  workers: 2\n") as p:
        held = [come(p) for _ in range(3)]
        for c in held:
            once(c)
        p.reload(p.text.replace("proxy:\n", "proxy:\n" +
                                limits("connections: 3"), 1))
        tap.case("what was open before there was a limit counts",
                 until(lambda: not served(p)))
        tap.case("and stays open", all(once(c).status == 200 for c in held))
        held.pop().close()
        tap.case("until it leaves", until(lambda: served(p)))
        for c in held:
            c.close()


def handshakes():
    cert, key = certificate.make(HERE, "own")
    context = ssl.create_default_context(cafile=cert)

    def shake(p, address="127.0.0.1"):
        s = socket.create_connection(("127.0.0.1", p.port), PATIENCE,
                                     source_address=(address, 0))
        try:
            peer = Peer(context.wrap_socket(s, server_hostname="x.example"))
        except (ssl.SSLError, OSError):
            s.close()
            return False
        status = once(peer).status
        peer.close()
        return status == 200
    tls = f"  tls: {{ certificate: {cert}, key: {key} }}\n"
    o = Origin(says(ok()))
    with proxied(o, more=ADMIN + tls + limits("handshakes: 1/h")) as p:
        tap.case("as many handshakes as it may have", shake(p))
        tap.case("then it is closed before one",
                 not any(shake(p) for _ in range(5)))
        tap.case("others are served", shake(p, "127.0.0.2"))
        tap.case("it is counted", counted(p, "client_handshakes") == 5)


run(connections, requests, exempt, begun_before, handshakes)
