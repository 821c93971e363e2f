#!/usr/bin/env python3
"""e2e_service.py BIDE: the sidecar as a service under load: reload, drain, log,
systemd's sockets and its notices, and how it refuses to start."""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading

import sidecar
from parts import (PATIENCE, Answer, Load, Origin, Peer, ask, connect, get, ok,
                   proxied, run, says, tap, until)
from ports import free_port, socket_path
from sidecar import FAST, OPEN, Sidecar, config


def reload_under_load():
    first, second = Origin(says(ok(b"first"))), Origin(says(ok(b"second")))
    with proxied(first) as p:
        load = Load(p)
        load.more(50)
        for o in (second, first) * 5:
            text = config([o.port], OPEN + f", attempts: {o.port % 7 + 2}")
            said = p.reload(text.replace("proxy:\n", "proxy:\n  workers: 1\n"))
            load.more(30)
        bad = p.reload(p.text.replace("endpoints", "endpoint"))
        load.more(30)
        worse = p.reload("proxy: [")
        load.more(30)
        os.unlink(p.file)
        gone = p.reload()
        load.more(30)
        odd = load.end()
        tap.case("ten reloads under load: not a request fails",
                 "reloaded" in said and not odd and len(second.heads) > 50
                 and len(first.heads) > 50, (said, odd[:5]))
        tap.case("a bad file is refused, with place and advice",
                 "was refused" in bad and "did you mean `endpoints`" in bad and
                 ".yaml:" in bad, bad)
        tap.case("so are one that is no YAML, and one that is not there",
                 "was refused" in worse and "was refused" in gone, (worse, gone))
        tap.case("and the old one still holds", ask(p, get()).body == b"first")
    second.stop()


def breakers_stay():
    o = Origin(says(ok(b"no", b"", b"503 X")))
    with proxied(o, policy=FAST) as p:
        until(lambda: ask(p, get()).fields.get("x-bide-reason") ==
              "breaker_open")
        before = len(o.heads)
        p.reload(p.text.replace("routes:\n", "limits: { headers: 50 }\n"
                                "  routes:\n"))
        a = ask(p, get())
        tap.case("a reload keeps an open breaker open",
                 a.fields.get("x-bide-reason") == "breaker_open" and
                 len(o.heads) == before, a)
        said = p.reload(p.text.replace("endpoints: [",
                                       'endpoints: ["http://127.0.0.1:1", '))
        a = ask(p, get())
        tap.case("also when its upstream has another endpoint",
                 "reloaded" in said and
                 a.fields.get("x-bide-reason") == "breaker_open" and
                 len(o.heads) == before, (said, a))
        p.reload(p.text.replace(FAST, FAST + ", attempts: 2"))
        a = ask(p, get())
        tap.case("also when its policy has changed",
                 a.fields.get("x-bide-reason") == "breaker_open" and
                 len(o.heads) == before, a)


def a_reload_does_not_refill_a_budget():
    quota = ", attempts: 2, breaker: { kind: off }, " \
        "budget: { kind: quota, capacity: %d }"
    with proxied(Origin(says(ok(b"no", b"", b"503 X"))),
                 policy=FAST + quota % 10) as p:
        reasons = [ask(p, get()).fields["x-bide-reason"] for _ in range(3)]
        tap.case("a budget of two retries is spent by two",
                 reasons == ["attempts", "attempts", "budget"], reasons)
        for capacity in (20, 5, 1000):
            p.reload(p.text.replace("capacity: 10", f"capacity: {capacity}"))
            a = ask(p, get())
            tap.case(f"it stays spent with a capacity of {capacity}",
                     a.fields["x-bide-reason"] == "budget" and
                     a.fields["x-bide-attempts"] == "1", a)
        p.reload(p.text.replace(FAST, FAST + ", deadline: 1m"))
        a = ask(p, get())
        tap.case("and when another option changes",
                 a.fields["x-bide-reason"] == "budget", a)


def what_a_reload_may_change():
    with proxied(Origin(says(ok()))) as p:
        good = p.text
        moved = os.path.join(sidecar.work.name, "moved.jsonl")
        p.reload(good.replace("proxy:\n", f"proxy:\n  access_log: {moved}\n"))
        ask(p, get())
        p.reload(good)
        tap.case("the log goes where the file says now", until(
            lambda: os.path.exists(moved) and os.path.getsize(moved) > 0))
        said = p.reload(good.replace("proxy:\n", "proxy:\n  limits: "
                                     "{ header_bytes: 4KiB }\n"))
        tap.case("what cannot change is named",
                 "proxy.limits.header_bytes cannot change" in said, said)
        tap.case("and the old one stays", ask(p, get()).status == 200)


def trust_changes():
    o = Origin(says(ok(b"no", b"", b"503 X")))
    with proxied(o, more="  trusted: [127.0.0.0/8]\n") as p:
        c = connect(p)
        asks = get("/", b"X-Bide-Attempts-Max: 1\r\n")
        got = []
        for networks in ("[127.0.0.0/8]", "[10.0.0.0/8]", "[127.0.0.1]"):
            p.reload(p.text.replace(p.text.split("trusted: ")[1].split("\n")[0],
                                    networks))
            c.send(asks)
            got.append(Answer(c).fields["x-bide-attempts"])
        tap.case("who is trusted may change, also for those who are connected",
                 got == ["1", "4", "1"], got)


def connections_stay():
    go = threading.Event()

    def talk(o, peer):
        while head := o.request(peer):
            if b"/wait" in head:
                go.wait(PATIENCE)
            peer.send(ok(head.split(b" ")[1]))
    o = Origin(talk)
    with proxied(o) as p:
        idle, busy = connect(p), connect(p)
        idle.send(get("/1"))
        Answer(idle)
        busy.send(get("/wait"))
        until(lambda: len(o.heads) == 2)
        p.reload(p.text.replace("1ms", "2ms"))
        go.set()
        a = Answer(busy)
        idle.send(get("/2"))
        b = Answer(idle)
        tap.case("a reload keeps clients' connections, idle and busy",
                 (a.body, b.body) == (b"/wait", b"/2"), (a, b))


def drain():
    go, begun = threading.Event(), threading.Event()

    def talk(o, peer):
        while head := o.request(peer):
            if b"/late" in head:
                go.wait(PATIENCE)
                peer.send(ok(b"late"))
                continue
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
            begun.set()
            go.wait(PATIENCE)
            peer.send(b"def")
    o = Origin(talk)
    with proxied(o, log=True) as p:
        idle, busy, half, late = (connect(p) for _ in range(4))
        late.send(get("/late"))
        until(lambda: o.heads)
        busy.send(get())
        half.send(b"GET /half HTTP/1.1\r\nHo")
        begun.wait(PATIENCE)
        p.process.send_signal(signal.SIGTERM)
        tap.case("at SIGTERM idle connections are closed", idle.all() == b"")
        tap.case("nobody new is let in", until(lambda: refused(p.port)))
        half.send(b"st: x\r\n\r\n")
        go.set()
        a = Answer(busy)
        tap.case("what was begun is finished", a.body == b"abcdef", a)
        a = Answer(late)
        tap.case("and who is answered then is told that it is the last time",
                 a.body == b"late" and a.fields["connection"] == "close", a)
        b = half.all()
        tap.case("a half request is served or closed, not left hanging",
                 b == b"" or b.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")), b)
        tap.case("then it ends, with 0", p.process.wait(PATIENCE) == 0)
        with open(p.log, encoding="utf-8") as f:
            lines = [json.loads(x) for x in f]
        tap.case("and the log has it", 200 in [x["status"] for x in lines], lines)
    o = Origin(lambda o, peer: o.request(peer) and peer.gone())
    with proxied(o, more="  timeouts: { drain: 200ms }\n") as p:
        c = connect(p)
        c.send(get())
        until(lambda: o.heads)
        p.process.send_signal(signal.SIGTERM)
        tap.case("a drain that takes too long is cut short",
                 p.process.wait(PATIENCE) == 0 and
                 not c.all().startswith(b"HTTP/1.1 200"))


def refused(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return False
    except OSError:
        return True


def drain_under_load():
    o = Origin(says(ok()))
    with proxied(o) as p:
        load = Load(p)
        load.more(200)
        p.process.send_signal(signal.SIGTERM)
        code = p.process.wait(PATIENCE)
        odd = load.end()
        # A client may send just as its idle connection is closed; that it can
        # tell, because it hears nothing.
        bad = [r for r in odd if not isinstance(
            r[0], (ConnectionError, http.client.RemoteDisconnected))]
        tap.case("SIGTERM under load: answers are whole, or there is none",
                 code == 0 and not bad and
                 len(o.heads) == sum(r[0] == 200 for r in load.results),
                 (code, bad[:5], len(o.heads)))


def log():
    o = Origin(says(ok(b"no", b"", b"503 X"), ok(b"fine")))
    with proxied(o, log=True) as p:
        ask(p, get('/a"b\\c?secret=1', b"User-Agent: \x80\xff\r\n"))
        ask(p, b"NONSENSE\r\n\r\n")
        ask(p, get("/x" * 3000))
        until(lambda: open(p.log, "rb").read().count(b"\n") == 3)
        old = p.log + ".1"
        os.rename(p.log, old)
        p.reload()
        p.process.send_signal(signal.SIGUSR1)
        # Those that come while it is being opened may still be in the old one.
        until(lambda: ask(p, get("/after")) and os.path.exists(p.log) and
              os.path.getsize(p.log) > 0)
        code, after = p.stop()
        with open(old, encoding="utf-8") as f:
            before = [json.loads(x) for x in f]
        tap.case("each line is JSON, whatever was asked for",
                 before[0]["path"].startswith('/a"b\\c') and
                 {x["path"] for x in before[3:]} <= {"/after"}, before)
        tap.case("with a field for each decision", before[0]["attempts"] == 2 and
                 before[0]["status"] == 200 and before[0]["waited_ms"] >= 0 and
                 before[0]["reason"] == "success" and before[0]["client"] ==
                 "127.0.0.1" and before[1]["status"] == 400, before)
        tap.case("a log that was moved is opened anew",
                 code == 0 and {x["path"] for x in after} == {"/after"},
                 (code, after))


def systemd():
    o = Origin(says(ok(b"fd")))
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = socket_path("notices")
    notices.bind(path)
    notices.settimeout(PATIENCE)
    listening = socket.create_server(("127.0.0.1", 0))
    text = config([o.port], more="  workers: 2\n").replace(
        "  listen: 127.0.0.1:0\n", "")
    file = os.path.join(sidecar.work.name, "fds.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(text)
    process = subprocess.Popen(
        ["sh", "-c", 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" proxy -c '
         '"$1"' % listening.fileno(), sidecar.BIDE, file],
        env=tap.environment(NOTIFY_SOCKET=path), pass_fds=[listening.fileno()],
        stderr=subprocess.DEVNULL)
    try:
        tap.case("it says READY", b"READY=1" in notices.recv(999))
        good = []
        for _ in range(20):
            c = Peer(socket.create_connection(listening.getsockname(), PATIENCE))
            c.send(get("/", b"Connection: close\r\n"))
            good.append(Answer(c).body)
        tap.case("and serves on systemd's socket, without one of its own",
                 good == [b"fd"] * 20, good)
        process.send_signal(signal.SIGHUP)
        said = notices.recv(999)
        tap.case("it says RELOADING, and READY again", b"RELOADING=1" in said and
                 b"MONOTONIC_USEC=" in said and b"READY=1" in notices.recv(999),
                 said)
        process.terminate()
        tap.case("it says STOPPING", b"STOPPING=1" in notices.recv(999) and
                 process.wait(PATIENCE) == 0)
    finally:
        process.kill()
        process.wait()
        o.stop()


def unix_sockets():
    o = Origin(says(ok(b"unix")))
    path = socket_path("in.sock")
    text = config([o.port]).replace("127.0.0.1:0",
                                    f'["127.0.0.1:0", "unix:{path}"]', 1)
    p = Sidecar(text)
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    c = Peer(s)
    c.send(get())
    a = Answer(c)
    tap.case("it listens on a unix socket too", a.body == b"unix", a)
    p.stop()
    o.stop()


def starts():
    """Every mistake has a message and a code of its own."""
    port = free_port()
    busy = socket.create_server(("127.0.0.1", 0))
    good = config([port])
    rows = [("a file that is not there", None, 2, "cannot"),
            ("a file that is no YAML", "proxy: [", 2, "x.yaml:2:1: error"),
            ("an unknown key", good.replace("routes:", "route:"), 2,
             "did you mean `routes`"),
            ("no section proxy", "version: 1\npolicies: { default: {} }\n", 2,
             "proxy"),
            ("an unknown upstream", good.replace("upstream: up", "upstream: pu"),
             2, "pu"),
            ("an address that is taken", good.replace(
                "127.0.0.1:0", f"127.0.0.1:{busy.getsockname()[1]}"), 1,
             "in use"),
            ("an address of somebody else", good.replace(
                "127.0.0.1:0", "192.0.2.1:1"), 1, "192.0.2.1"),
            ("a log that cannot be written", good.replace(
                "routes:", "access_log: /nonexistent/x\n  routes:"), 1,
             "/nonexistent/x"),
            ("a key that cannot be read", good.replace(
                "routes:", "tls: { certificate: /nonexistent/c, "
                "key: /nonexistent/k }\n  routes:"), 1, "/nonexistent/")]
    file = os.path.join(sidecar.work.name, "x.yaml")
    for what, text, code, words in rows:
        if text is not None:
            with open(file, "w", encoding="utf-8") as f:
                f.write(text)
        got = subprocess.run(
            [sidecar.BIDE, "proxy", "-c", file], env=tap.environment(),
            capture_output=True, text=True, timeout=PATIENCE, check=False)
        tap.case(f"{what}: it does not start, and says why",
                 got.returncode == code and words in got.stderr, got)
        if text is not None:
            os.unlink(file)
    busy.close()


def second(text):
    """Starts another one, which ends by itself: its exit code, what it says."""
    file = os.path.join(sidecar.work.name, "second.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(text)
    r = subprocess.run([sidecar.BIDE, "proxy", "-c", file], timeout=PATIENCE,
                       capture_output=True, text=True, env=tap.environment(),
                       check=False)
    return r.returncode, r.stderr


def one_port():
    """Two of them on one port share the clients by chance: refused, unless it is
    meant."""
    o = Origin(says(ok()))
    text = config([o.port], more="  workers: 3\n")
    p = Sidecar(text)
    here = text.replace("127.0.0.1:0", f"127.0.0.1:{p.port}")
    for what, other in [
            ("on the same port", here),
            ("on all addresses", here.replace("listen: 127.0.0.1", "listen: '*'")
             .replace(f"'*':{p.port}", f"'*:{p.port}'"))]:
        code, said = second(other)
        tap.case(f"a second one {what} is refused, and told of the key",
                 code == 1 and "reuse_port" in said and str(p.port) in said,
                 (code, said))
    tap.case("the first one goes on", ask(p, get()).status == 200)
    for what, other in [
            ("its own port is no obstacle to a reload",
             text.replace("127.0.0.1:0", f"'*:{p.port}'")), ("either way", here)]:
        said = p.reload(other)
        # Who meets the socket that is being closed has to come again.
        tap.case(what, "reloaded" in said and
                 until(lambda: ask(p, get()).status == 200), said)
    q = Sidecar(here.replace("proxy:\n", "proxy:\n  reuse_port: true\n"))
    tap.case("where it is meant, two listen", q.port == p.port)
    sidecar.ended("the first", p)
    tap.case("and the second is left", ask(q, get()).status == 200)
    sidecar.ended("the second", q)
    q = Sidecar(here)
    tap.case("a port can be had again at once", ask(q, get()).status == 200)
    # some other test may have it for a moment
    sidecar.ended("the third", q, "waiting up to")
    o.stop()


def listens(p, *addresses):
    """Has it listen elsewhere; what it said."""
    old = p.text.split("listen: ")[1].split("\n")[0]
    return p.reload(p.text.replace(old, "[" + ", ".join(addresses) + "]"))


def asked_at(address, family=socket.AF_INET):
    """The status of an answer from there; None if nobody listens."""
    with socket.socket(family) as s:
        try:
            s.connect(address)
        except ConnectionRefusedError:
            return None
        c = Peer(s)
        c.send(get())
        return Answer(c).status


def addresses_change():
    path = os.path.join(sidecar.work.name, "moved.sock")
    o = Origin(says(ok()))
    with proxied(o, more="  workers: 2\n") as p:
        load = Load(p)
        load.more(50)
        kept = connect(p)
        kept.send(get())
        Answer(kept)
        first = listens(p, "127.0.0.1:0", "127.0.0.2:0")
        second = listens(p, "127.0.0.2:0", "127.0.0.1:0", "unix:" + path)
        load.more(50)
        odd = load.end()
        two = ("127.0.0.2", int(first.split("127.0.0.2:")[1].split()[0]))
        tap.case("a reload opens further addresses", asked_at(two) == 200 and
                 asked_at(path, socket.AF_UNIX) == 200, (first, second))
        tap.case("and leaves the others as they are, under load",
                 not odd and first.count("listening on") == 1 and
                 second.count("listening on") == 1, (odd, first, second))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            said = listens(p, f"127.0.0.1:{port}")
        tap.case("one that is taken is a reason to refuse the file",
                 "was refused" in said and "cannot listen on 127.0.0.1:"
                 f"{port}" in said and ask(p, get()).status == 200, said)
        listens(p, "127.0.0.2:0")
        tap.case("those that are gone are closed", until(
            lambda: refused(p.port) and
            asked_at(path, socket.AF_UNIX) is None))
        kept.send(get())
        tap.case("but not who came by them", Answer(kept).status == 200 and
                 asked_at(two) == 200)


def workers():
    o = Origin(says(ok()))
    with proxied(o, more="  workers: 4\n") as p:
        load = Load(p, 12)
        load.more(600)
        odd = load.end()
        tap.case("four workers serve as one", not odd and len(o.heads) ==
                 len(load.results), (odd[:5], len(o.heads), len(load.results)))
        p.process.terminate()
        tap.case("and end as one", p.process.wait(PATIENCE) == 0)


run(reload_under_load, breakers_stay, a_reload_does_not_refill_a_budget,
    what_a_reload_may_change, trust_changes, connections_stay, drain, drain_under_load, log, systemd, unix_sockets, starts,
    one_port, addresses_change, workers)
