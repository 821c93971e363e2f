#!/usr/bin/env python3
"""life.py BIDE: the sidecar as a service: clients that leave, reload, draining,
limits, systemd."""
import os
import resource
import signal
import socket
import subprocess
import time

import sidecar
import tap
from ports import socket_path
from sidecar import FAST, Fault, Sidecar, config

fault = Fault()


def get(path, more=b""):
    return b"GET " + path.encode() + b" HTTP/1.1\r\nHost: x\r\n" + more + b"\r\n"


def wait_for(what):
    """Until something holds; a minute is for ever."""
    for _ in range(6000):
        if what():
            return True
        time.sleep(0.01)
    return False


def through(c, mark):
    """Reads up to this mark, in as many pieces as it comes; whether it is the last."""
    data = b""
    while mark not in data and (piece := c.recv(1000)):
        data += piece
    return data.endswith(mark)


def arrived(name):
    return wait_for(lambda: fault.count(name)["requests"] > 0)


def clients_that_leave():
    p = Sidecar(config([fault.ports["http"]]), log=True)
    path, name = fault.path("stall")
    c = p.connect()
    c.sendall(get(path))
    arrived(name)
    # A close alone may be that of its sending half.
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    c.close()
    c = p.connect()
    c.sendall(get(fault.path("200;n=50000000")[0]))
    c.recv(1000)
    c.close()
    c = p.connect()
    c.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
    c.close()
    c = p.connect(4096)
    c.sendall(get(fault.path("200;n=5000000")[0], b"Connection: close\r\n"))
    n = len(sidecar.everything(c))
    tap.case("a slow reader gets it all", 5000000 < n < 5001000, n)
    log = sidecar.ended("clients that leave", p)
    tap.case("a client that leaves cancels its call",
             log[0]["status"] == 499 and log[0]["reason"] == "cancelled" and
             sum(x["reason"] == "cancelled" for x in log) == 3, log)


def reload():
    text = config([fault.ports["http"]], FAST)
    p = Sidecar(text)
    for _ in range(60):
        p.request(path="/s/503")
    said = p.reload()
    _, head, _ = p.request(path="/s/200")
    tap.case("a reload keeps the breaker of a policy that did not change",
             "was read again" in said and
             head.get("x-bide-reason") == "breaker_open", (said, head))
    c = p.connect()
    path, name = fault.path("200;wait=1000;body=zz")
    p.reload(p.text.replace(FAST, FAST + ", attempts: 3"))
    c.sendall(get(path))
    arrived(name)
    p.reload(p.text.replace("attempts: 3", "attempts: 2"))
    tap.case("a reload keeps what is being served", through(c, b"zz"))
    _, head, _ = p.request(path="/s/503")
    tap.case("the new policy holds", head["x-bide-attempts"] == "2", head)
    good = p.text
    said = p.reload(good.replace("attempts: 2", "attemps: 2"))
    tap.case("a bad file is refused, with its mistakes",
             "did you mean `attempts`" in said and "was refused" in said, said)
    moved = os.path.join(sidecar.work.name, "moved.jsonl")
    p.reload(good.replace("proxy:\n", f"proxy:\n  access_log: {moved}\n"))
    p.request(path="/s/200")
    p.reload(good)
    tap.case("the log goes where the file says now", wait_for(
        lambda: os.path.exists(moved) and os.path.getsize(moved) > 0))
    said = p.reload(good.replace("proxy:\n", "proxy:\n  limits: "
                                 "{ header_bytes: 4KiB }\n"))
    tap.case("what cannot change is named",
             "proxy.limits.header_bytes cannot change" in said, said)
    status, head, _ = p.request(path="/s/200")
    tap.case("and the old one stays", status == 200, (status, head))
    p.stop()


def draining():
    p = Sidecar(config([fault.ports["http"]]))
    c, idle = p.connect(), p.connect()
    path, name = fault.path("200;wait=2000;body=zz")
    c.sendall(get(path))
    arrived(name)
    p.process.send_signal(signal.SIGTERM)
    out = sidecar.everything(c)
    tap.case("what is being served is served",
             out.endswith(b"zz") and b"Connection: close" in out, out)
    tap.case("idle connections are closed", idle.recv(10) == b"")
    sidecar.ended("draining", p)
    p = Sidecar(config([fault.ports["http"]],
                       more="  timeouts: { drain: 100ms }\n"))
    c = p.connect()
    path, name = fault.path("stall")
    c.sendall(get(path))
    arrived(name)
    tap.case("a drain has a deadline", p.stop()[0] == 0)


def limits():
    p = Sidecar(config([fault.ports["http"]],
                       more="  limits: { connections: 5, body_bytes: 10 }\n"),
                log=True)
    all_of_them = [p.connect() for _ in range(8)]
    got = []
    for c in all_of_them:
        try:
            c.sendall(get("/s/200;body=ok", b"Connection: close\r\n"))
        except OSError:
            pass
        got.append(sidecar.everything(c)[9:12])
    tap.case("over the limit a connection is told so",
             got.count(b"503") == 3 and got.count(b"200") == 5, got)
    wait_for(lambda: p.request(path="/s/200")[0] == 200)
    status, head, _ = p.request("PUT", "/s/200", b"x" * 11)
    tap.case("a body that is too large is refused", status == 413 and
             head["x-bide-reason"] == "body_too_large", (status, head))
    path, name = fault.path("200")
    out = p.raw(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n" +
                get(path))
    tap.case("regress: and is not taken for the next request",
             out.count(b"HTTP/1.1") == 1 and fault.count(name)["requests"] == 0,
             out)
    log = sidecar.ended("limits", p)
    tap.case("and logged so", log[-1]["status"] == 413 and
             log[-1]["reason"] == "body_too_large", log[-1])
    p = Sidecar(config([fault.ports["http"]], more="  limits: { memory: 1MiB, "
                       "replay: 1MiB }\n"))
    crowd = [p.connect() for _ in range(80)]
    for c in crowd:
        c.sendall(b"GET / HTT")
    got = [sidecar.everything(c)[9:12] for c in crowd[60:]]
    tap.case("over the memory a request is told so", set(got) == {b"503"}, got)
    for c in crowd:
        c.close()
    wait_for(lambda: p.request(path="/s/200")[0] == 200)
    status, head, _ = p.request("PUT", "/s/200", b"x" * 2000000)
    tap.case("a body too", status == 503 and head["x-bide-reason"] == "memory",
             (status, head))
    sidecar.ended("memory", p)
    p = Sidecar(config([fault.ports["http"]],
                       more="  timeouts: { header: 50ms, body: 50ms }\n"))
    tap.case("a slow head is given up", p.raw(b"GET / HTT").startswith(
        b"HTTP/1.1 408"))
    tap.case("a slow body is given up", p.raw(
        b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na").startswith(
            b"HTTP/1.1 408"))
    sidecar.ended("slow clients", p)


def descriptors():
    """So few that clients would take them all."""
    p = Sidecar(config([fault.ports["http"]]), preexec_fn=lambda:
                resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)))
    first = p.connect()
    first.sendall(get("/s/200;body=ok"))
    ok = through(first, b"ok")
    crowd = [p.connect() for _ in range(100)]
    first.sendall(get("/s/200;body=ok"))
    ok = ok and through(first, b"ok")
    tap.case("without descriptors it goes on serving", ok)
    got = []
    for c in crowd:
        try:
            c.sendall(get("/s/200;body=ok", b"Connection: close\r\n"))
        except OSError:
            pass
        got.append(sidecar.everything(c)[9:12])
    tap.case("and tells those that it cannot serve",
             set(got) == {b"200", b"503"}, got)
    sidecar.ended("descriptors", p)


def second(text):
    """Starts another one, which ends by itself: its exit code, what it says."""
    file = os.path.join(sidecar.work.name, "second.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(text)
    r = subprocess.run([sidecar.BIDE, "proxy", "-c", file], timeout=60,
                       stderr=subprocess.PIPE, env=tap.environment(),
                       check=False)
    return r.returncode, r.stderr.decode()


def one_port():
    """Two of them on one port, by mistake and by intention."""
    text = config([fault.ports["http"]], more="  workers: 3\n")
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
    tap.case("the first one goes on", p.request(path="/s/200")[0] == 200)
    said = p.reload(text.replace("127.0.0.1:0", f"'*:{p.port}'"))
    tap.case("its own port is no obstacle to a reload",
             "read again" in said and p.request(path="/s/200")[0] == 200, said)
    said = p.reload(here)
    tap.case("either way", "read again" in said and
             p.request(path="/s/200")[0] == 200, said)
    q = Sidecar(here.replace("proxy:\n", "proxy:\n  reuse_port: true\n"))
    tap.case("where it is meant, two listen", q.port == p.port)
    sidecar.ended("the first", p)
    tap.case("and the second is left", q.request(path="/s/200")[0] == 200)
    sidecar.ended("the second", q)
    q = Sidecar(here)
    tap.case("a port can be had again at once",
             q.request(path="/s/200")[0] == 200)
    sidecar.ended("the third", q)


def systemd():
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = socket_path("notify")
    notify.bind(path)
    notify.settimeout(30)
    listening = socket.create_server(("127.0.0.1", 0))
    file = os.path.join(sidecar.work.name, "systemd.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(config([fault.ports["http"]], more="  workers: 2\n"))
    # The shell passes its own pid on, as systemd does.
    process = subprocess.Popen(
        ["sh", "-c", 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" proxy '
         '-c "$1"' % listening.fileno(), sidecar.BIDE, file],
        env=tap.environment(NOTIFY_SOCKET=path),
        pass_fds=[listening.fileno()], stderr=subprocess.DEVNULL)
    tap.case("systemd is told when it is ready",
             notify.recv(1000) == b"READY=1")
    c = socket.create_connection(listening.getsockname())
    c.sendall(get("/s/200;body=ok", b"Connection: close\r\n"))
    tap.case("a socket that was passed is served",
             sidecar.everything(c).endswith(b"ok"))
    process.terminate()
    tap.case("and when it ends", notify.recv(1000) == b"STOPPING=1" and
             process.wait(60) == 0)


for part in (clients_that_leave, reload, draining, limits, descriptors, one_port,
             systemd):
    part()
fault.stop()
tap.finish()
