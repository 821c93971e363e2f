#!/usr/bin/env python3
"""Whose fault it was: a client cannot shut a healthy service for everybody, nor
bring the sidecar down, whatever it does with its own time, its body or its answer.
e2e_blame.py BIDE"""
import json
import socket

from e2e_parts import Origin, ask, connect, get, ok, proxied, run, says, tap, until

SAMPLED = b"traceparent: 00-%032x-%016x-01\r\n" % (0xabc, 0xdef)
ADMIN = "  admin: 127.0.0.1:0\n"


def lines(path):
    try:
        with open(path, encoding="utf-8") as f:
            return [json.loads(line) for line in f if line.endswith("\n")]
    except FileNotFoundError:
        return []


# ===== answers that are cut off =====

def traced(write="30s"):
    """What a sidecar needs to tell of spans, and who hears them."""
    collector = Origin(says(ok()))
    log = f"/tmp/bide-blame-{collector.port}.jsonl"
    return collector, log, ADMIN + f"""
  timeouts: {{ write: {write} }}
  telemetry: {{ otlp: "http://127.0.0.1:{collector.port}", sample: 0%, log: {log} }}
"""


def told_of_the_cut(p, collector, log, what):
    tap.case(f"{what}: it lives, and serves", until(
        lambda: lines(p.log)) and ask(p, get("/after")).status == 200, p.said)
    tap.case(f"{what}: the access log names the reason",
             until(lambda: any(x["reason"] == "cut_short" for x in lines(p.log))),
             lines(p.log))
    tap.case(f"{what}: the log of decisions does",
             until(lambda: any(x.get("reason") == "cut_short" for x in lines(log))),
             lines(log))
    tap.case(f"{what}: its span is sent, and names it", until(
        lambda: any(b"cut_short" in body for body in collector.bodies)),
        collector.bodies)


def cut_by_the_origin():
    """Found: a sampled request whose answer broke off crashed the sidecar."""
    def talk(origin, peer):
        head = origin.request(peer)
        if b"/after" in head:
            peer.send(ok(more=b"Connection: close\r\n"))
        else:
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome of it")

    collector, log, more = traced()
    with proxied(Origin(talk), more=more, log=True) as p:
        c = connect(p)
        c.send(get("/cut", SAMPLED))
        head = c.head()
        tap.case("the client sees that its answer broke off",
                 head.startswith(b"HTTP/1.1 200") and c.all() == b"some of it", head)
        told_of_the_cut(p, collector, log, "cut by the origin")
    collector.stop()


def cut_by_the_client():
    """The same by one that does not read for timeouts.write."""
    def talk(origin, peer):
        head = origin.request(peer)
        if b"/after" in head:
            peer.send(ok(more=b"Connection: close\r\n"))
            return
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 30))
        while peer.send(bytes(1 << 20)):
            pass

    collector, log, more = traced(write="200ms")
    with proxied(Origin(talk), more=more, log=True) as p:
        s = p.connect(receive_buffer=4096)
        s.sendall(get("/cut", SAMPLED))
        told_of_the_cut(p, collector, log, "cut by the client")
        s.close()
    collector.stop()


if __name__ == "__main__":
    socket.setdefaulttimeout(60)
    run(cut_by_the_origin, cut_by_the_client)
