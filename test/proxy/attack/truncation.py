#!/usr/bin/env python3
"""truncation.py BIDE: an answer that ends by its connection is whole only if that
was closed. If it was reset, or TLS ended without close_notify, the client must be
able to see that something is missing: no last chunk, or a reset."""
import os
import socket
import ssl

import certificate
from attack import (OPEN, Origin, Peer, Sidecar, attacked, config, connect,
                    ended, get, ok, run, tap, until, work)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
BODY = b"half of it"


def received(peer):
    """All that comes, and how it ended: "whole", "cut" or "reset"."""
    data, how = b"", "closed"
    try:
        while piece := peer.recv(65536):
            data += piece
    except (ConnectionResetError, ssl.SSLEOFError):
        how = "reset"
    except TimeoutError:
        return data, b"", "open"
    head, _, body = data.partition(b"\r\n\r\n")
    if b"chunked" in head.lower():
        how = "whole" if body.endswith(b"0\r\n\r\n") and how == "closed" else "cut"
    elif b"content-length" in head.lower():
        how = "cut"
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:") and \
                    int(line.split(b":")[1]) == len(body):
                how = "whole"
    elif how == "closed":
        how = "whole"
    return head, body, how


def client(p, version, context=None):
    s = connect(p).socket
    if context:
        s = context.wrap_socket(s, server_hostname="localhost",
                                suppress_ragged_eofs=False)
    s.sendall(get("/", b"Connection: close\r\n", version=version))
    return received(s)


def plain(how):
    """An origin whose answer ends by its connection, which ends so. The client's
    sidecar must have read the part before a reset, or it is lost."""
    def talk(o, peer):
        o.request(peer)
        peer.send(HEAD + BODY)
        if how == "reset":
            until(lambda: sidecar_has_read(peer))
            peer.reset()
    return talk


def sidecar_has_read(peer):
    """Nothing is left in the kernel's buffers: /proc/net/tcp's queue."""
    mine = peer.socket.getsockname()[1]
    theirs = peer.socket.getpeername()[1]
    with open("/proc/net/tcp", encoding="ascii") as f:
        for row in (line.split() for line in f):
            if row[1].endswith(f":{theirs:04X}") and \
                    row[2].endswith(f":{mine:04X}"):
                return int(row[4].split(":")[1], 16) == 0
    return True


def judge(what, got, whole):
    head, body, how = got
    if whole:
        tap.case(f"{what}: arrives whole", how == "whole" and BODY in body, got)
    else:
        # Nothing of it may have been passed on: then it may be a refusal.
        tap.case(f"{what}: is seen to be cut off", how in ("cut", "reset") or
                 head.startswith(b"HTTP/1.1 502"), got)


def without_tls():
    for how in ("closed", "reset"):
        for version in (b"1.1", b"1.0"):
            o = Origin(plain(how))
            with attacked(o, policy=OPEN + ", attempts: 1") as p:
                judge(f"a connection that is {how}, HTTP/{version.decode()}",
                      client(p, version), how == "closed")


def own():
    certificate.make(work.name, "cut")
    return os.path.join(work.name, "cut")


def secure(files, how):
    """An origin by TLS: ends with close_notify, without, or by a reset."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files + ".pem", files + ".key")

    def talk(o, peer):
        s = context.wrap_socket(peer.socket, server_side=True)
        inner = Peer(s, True)
        o.request(inner)
        inner.send(HEAD + BODY)
        if how == "with close_notify":
            try:
                s.unwrap()
            except OSError:
                pass
        elif how == "with a reset":
            until(lambda: sidecar_has_read(inner))
            inner.reset()
        else:
            s.shutdown(socket.SHUT_WR)  # as TCP does, without a word of TLS
            inner.gone()
    return talk


def with_tls():
    files = own()
    for how in ("with close_notify", "without close_notify", "with a reset"):
        for version in (b"1.1", b"1.0"):
            o = Origin(secure(files, how))
            text = config([o.port], OPEN + ", attempts: 1", upstream=", tls: { ca: "
                          f"{files}.pem }}").replace("http://", "https://")
            p = Sidecar(text)
            judge(f"TLS that ends {how}, HTTP/{version.decode()}",
                  client(p, version), how == "with close_notify")
            tap.case("it ends", ended(p) == 0)
            o.stop()


def tls_clients():
    """A client by TLS sees the same: without close_notify nothing is whole."""
    files = own()
    context = ssl.create_default_context(cafile=files + ".pem")
    for how in ("closed", "reset"):
        for version in (b"1.1", b"1.0"):
            o = Origin(plain(how))
            with attacked(o, policy=OPEN + ", attempts: 1", more="  tls: { "
                          f"certificate: {files}.pem, key: {files}.key }}\n") as p:
                judge(f"to a client by TLS, {how}, HTTP/{version.decode()}",
                      client(p, version, context), how == "closed")


def lengths_and_chunks():
    """Those that say how long they are were never in doubt."""
    for what, data in [("a length", ok(b"x" * 100)[:-10]),
                       ("chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
                        b"\r\n\r\n5\r\nhello\r\n"),
                       ("half a chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                        b"chunked\r\n\r\n50\r\nhello")]:
        for version in (b"1.1", b"1.0"):
            def talk(o, peer):
                o.request(peer)
                peer.send(data)
            o = Origin(talk)
            with attacked(o, policy=OPEN + ", attempts: 1") as p:
                judge(f"{what}, cut off, HTTP/{version.decode()}",
                      client(p, version), False)


run(without_tls, with_tls, tls_clients, lengths_and_chunks)
