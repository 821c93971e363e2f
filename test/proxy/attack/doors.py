#!/usr/bin/env python3
"""doors.py BIDE: certificates without a SAN, a port that another bide has, and a
crowd at 64 descriptors."""
import os
import resource
import ssl
import subprocess

from parts import (BIDE, OPEN, PATIENCE, Answer, Origin, Peer, Sidecar, ask,
                   attacked, config, connect, ended, free_port, get, leave, ok, run,
                   says, tap, until, work)


def certificate(name, *more):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", *more, "-keyout", f"{name}.key", "-out",
                    f"{name}.pem"], check=True, cwd=work.name,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.path.join(work.name, name)


def certificates():
    """The common name is no name any more."""
    for what, more, status in [
            ("without a SAN", (), 502),
            ("with one", ("-addext", "subjectAltName=DNS:localhost"), 200),
            ("with an e-mail address for one",
             ("-addext", "subjectAltName=email:localhost@localhost"), 502)]:
        files = certificate("origin", *more)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files + ".pem", files + ".key")

        def talk(o, peer):
            s = Peer(context.wrap_socket(peer.socket, server_side=True), True)
            while o.request(s):
                s.send(ok())
        o = Origin(talk)
        p = Sidecar(config([o.port], OPEN + ", attempts: 1", upstream=", tls: { ca:"
                           f" {files}.pem }}").replace(
                               "http://127.0.0.1", "https://localhost"))
        a = ask(p, get())
        tap.case(f"a certificate {what}: {status}", a.status == status, a)
        tap.case("it ends", ended(p) == 0)
        o.stop()


def second():
    """Two on one port share the clients by chance: refused, unless it is meant."""
    o = Origin(says(ok()))
    port = free_port()

    def text(more=""):
        return config([o.port], more=more).replace("127.0.0.1:0",
                                                   f"127.0.0.1:{port}")
    p = Sidecar(text())
    file = os.path.join(work.name, "second.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(text())
    q = subprocess.Popen([BIDE, "proxy", "-c", file], stderr=subprocess.PIPE,
                         env=tap.environment())
    try:
        code = q.wait(PATIENCE)
        said = q.stderr.read().decode()
    except subprocess.TimeoutExpired:
        q.kill()
        q.wait()
        code, said = "runs", ""
    tap.case("a second bide on the same port is refused",
             code not in (0, "runs") and str(port) in said, (code, said))
    tap.case("and the first goes on", ask(p, get()).status == 200)
    tap.case("it ends", ended(p) == 0)
    p = Sidecar(text("  reuse_port: true\n"))
    q = Sidecar(text("  reuse_port: true\n"))
    tap.case("`reuse_port` lets two have it", ask(p, get()).status == 200)
    tap.case("they end", ended(q) == 0 and ended(p) == 0)
    p = Sidecar(text())
    tap.case("the port is free again at once", ask(p, get()).status == 200)
    tap.case("it ends", ended(p) == 0)
    o.stop()


def few(n):
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                     (n, n))}


def crowds():
    """Everybody gets an answer: theirs, or 503."""
    for workers in (1, 2, 4):
        o = Origin(says(ok()))
        with attacked(o, policy=OPEN, popen=few(64), log=True,
                      more=f"  workers: {workers}\n") as p:
            clients = []
            for _ in range(500):
                c = connect(p)
                c.send(get("/", b"Connection: close\r\n"))
                clients.append(c)
            got = [Answer(c).status for c in clients]
            tap.case(f"500 clients at 64 descriptors, {workers} workers: each "
                     "gets 200 or 503", set(got) <= {200, 503} and 200 in got,
                     {s: got.count(s) for s in set(got)})
            leave(clients)
            tap.case("afterwards all is well", until(
                lambda: ask(p, get()).status == 200))


def idle_crowd():
    """Those who hold a connection and ask for nothing are not served before those
    who ask."""
    o = Origin(says(ok()))
    with attacked(o, policy=OPEN, popen=few(64)) as p:
        idle = [connect(p) for _ in range(200)]
        got = []
        for _ in range(20):
            c = connect(p)
            c.send(get("/", b"Connection: close\r\n"))
            got.append(Answer(c).status)
            c.close()
        tap.case("beside 200 idle ones each gets an answer",
                 set(got) <= {200, 503}, got)
        leave(idle)
        tap.case("and when they have left, theirs", until(
            lambda: ask(p, get()).status == 200))


run(certificates, second, crowds, idle_crowd)
