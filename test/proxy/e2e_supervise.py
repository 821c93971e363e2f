#!/usr/bin/env python3
"""e2e_supervise.py BIDE: the supervisor and the process that serves: deaths,
signals, what is kept, and what the serving process may not do."""
import ctypes
import os
import pty
import random
import shutil
import signal
import socket
import stat
import struct
import subprocess
import threading
import urllib.request

import sidecar
from parts import (PATIENCE, Answer, Load, Origin, ask, connect, get, ok,
                   proxied, run, says, stopped, tap, until)
from ports import socket_path
from sidecar import FAST, Sidecar, config

SO_PASSCRED, SCM_CREDENTIALS = 16, 2


def heard(p, words, n=1):
    """Waits until it has said so, so often."""
    return until(lambda: sum(words in x for x in p.said) >= n)


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def status(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(x for x in f if x.startswith(name + ":")).split()[1:]


def kill(p, n=1):
    """Kills the serving process; waits for the next."""
    old = p.pid
    os.kill(old, signal.SIGKILL)
    heard(p, "was ended by signal 9", n)
    return until(lambda: p.serving() and p.pid != old)


# ===== deaths =====

def killed_under_load():
    o = Origin(says(ok(b"fine")))
    with proxied(o, more="  workers: 2\n") as p:
        load = Load(p, 8, keep=False)
        for n in range(1, 6):
            load.more(50)
            kill(p, n)
        load.more(50)
        odd = load.end()
        refused = [r for r in odd if isinstance(r[0], ConnectionRefusedError)]
        tap.case("five deaths under load: nobody is refused a connection",
                 not refused, refused)
        tap.case("what was being served is all that is lost",
                 all(isinstance(r[0], OSError) for r in odd) and
                 len(odd) <= 5 * 8, odd)
        tap.case("each is said in a line",
                 sum("another starts" in x for x in p.said) == 5 and
                 sum("listening on" in x for x in p.said) == 1, p.said)


def waits_in_the_queue():
    """A client that connects while nobody serves is served by the next."""
    o = Origin(says(ok(b"late")))
    with proxied(o) as p:
        os.kill(p.pid, signal.SIGSTOP)
        until(lambda: stopped(p))
        early = connect(p)
        early.send(get())
        os.kill(p.pid, signal.SIGKILL)
        tap.case("a connection that waited is served by the process after",
                 Answer(early).body == b"late")


def state_is_kept():
    o = Origin(says(ok(b"no", b"", b"503 X")))
    policy = FAST + ", breaker: { min_calls: 5, open: 5m, open_max: 10m }"
    with proxied(o, policy=policy) as p:
        until(lambda: ask(p, get()).fields.get("x-bide-reason") ==
              "breaker_open")
        before = len(o.heads)
        kill(p)
        a = ask(p, get())
        tap.case("a breaker that was open is open after a crash",
                 a.fields.get("x-bide-reason") == "breaker_open" and
                 len(o.heads) == before, a)
        p.write(p.text.replace("open: 5m", "open: 4m"))
        kill(p, 2)
        a = ask(p, get())
        tap.case("a file that was changed is not read before it is time",
                 a.fields.get("x-bide-reason") == "breaker_open", a)
        p.reload()
        a = ask(p, get())
        tap.case("it is open under another policy, too",
                 a.fields.get("x-bide-reason") == "breaker_open" and
                 len(o.heads) == before, a)
        p.reload(p.text.replace("min_calls: 5", "kind: off"))
        a = ask(p, get())
        tap.case("unless that has no breaker",
                 a.fields.get("x-bide-reason") == "attempts", a)
    policy = FAST + (", breaker: { kind: off }, attempts: 2, budget: "
                     "{ window: 10m, floor: 0.01/s }")
    o = Origin(says(ok(b"no", b"", b"503 X")))
    with proxied(o, policy=policy) as p:
        until(lambda: ask(p, get()).fields.get("x-bide-reason") == "budget")
        kill(p)
        a = ask(p, get())
        tap.case("a budget that was spent is spent after a crash",
                 a.fields.get("x-bide-reason") == "budget", a)


def places_are_taken_back():
    def talk(origin, peer):
        while origin.request(peer):
            if not go.wait(PATIENCE):
                return
            peer.send(ok(b"free"))
    go = threading.Event()
    o = Origin(talk)
    with proxied(o, policy=FAST + ", limits: { in_flight: 2 }, "
                 "budget: { kind: off }, breaker: { kind: off }") as p:
        held = [connect(p) for _ in range(2)]
        for c in held:
            c.send(get())
        until(lambda: len(o.heads) == 2)
        a = ask(p, get())
        kill(p)
        go.set()
        b = ask(p, get())
        tap.case("places that a dead process held are free",
                 a.status == 503 and b.body == b"free", (a, b))


def dies_again_and_again():
    o = Origin(says(ok()))
    with proxied(o) as p:
        for n in range(1, 5):
            kill(p, n)
        said = [x for x in p.said if "another starts" in x]
        tap.case("the first starts at once, later ones after a wait",
                 "now" in said[0] and all("in " in x for x in said[1:]), said)
        tap.case("and it serves again", ask(p, get()).status == 200)


def file_is_broken_meanwhile():
    o = Origin(says(ok(b"old")))
    with proxied(o) as p:
        p.write("proxy: [")
        kill(p)
        tap.case("a crash is survived with what was served, not with what is on "
                 "disk", ask(p, get()).body == b"old", p.said)


def supervisor_is_killed():
    o = Origin(says(ok()))
    p = Sidecar(config([o.port]))
    ask(p, get())
    serving = p.pid
    p.process.kill()
    p.process.wait()
    tap.case("without its supervisor the serving process ends",
             until(lambda: gone(serving)), p.said)
    tap.case("and nobody listens", until(lambda: refuses(p.port)))
    o.stop()


def refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return False
    except ConnectionRefusedError:
        return True


# ===== signals =====

def both_are_told():
    """Ctrl-C, and systemd, reach both processes: that is one word, not two."""
    for number in (signal.SIGINT, signal.SIGTERM):
        go = threading.Event()

        def talk(origin, peer, go=go):
            origin.request(peer)
            go.wait(PATIENCE)
            peer.send(ok(b"whole"))
        o = Origin(talk)
        p = Sidecar(config([o.port]), start_new_session=True)
        c = connect(p)
        c.send(get())
        until(lambda o=o: o.heads)
        os.killpg(p.process.pid, number)
        heard(p, "ending")
        go.set()
        a = Answer(c)
        tap.case(f"{number.name} to both drains once", a.body == b"whole" and
                 p.process.wait(PATIENCE) == 0 and
                 sum("ending" in x for x in p.said) == 1, (a, p.said))
        o.stop()


def second_word():
    o = Origin(lambda origin, peer: origin.request(peer) and peer.gone())
    p = Sidecar(config([o.port]))
    c = connect(p)
    c.send(get())
    until(lambda: o.heads)
    p.process.terminate()
    heard(p, "ending")
    p.process.terminate()
    tap.case("a second word ends it at once",
             p.process.wait(PATIENCE) == 0 and c.gone())
    o.stop()


def terminal():
    """Ctrl-C on a real one."""
    o = Origin(says(ok()))
    file = os.path.join(sidecar.work.name, "terminal.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(config([o.port]))
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sidecar.BIDE, [sidecar.BIDE, "proxy", "-c", file])
    said = b""
    while b"listening on" not in said:
        said += os.read(fd, 1000)
    os.write(fd, b"\x03")
    try:
        while piece := os.read(fd, 1000):
            said += piece
    except OSError:  # the other end is closed
        pass
    _, code = os.waitpid(pid, 0)
    tap.case("Ctrl-C ends it, with code 0 and one word",
             code == 0 and said.count(b"ending") == 1, (code, said))
    os.close(fd)
    o.stop()


def told_by_admin():
    o = Origin(says(ok()))
    p = Sidecar(config([o.port], more="  admin: 127.0.0.1:0\n  admin_access: "
                       "{ token: 0123456789abcdef }\n"))
    admin = next(x for x in p.said if "admin endpoint at" in x).split()[-1]

    def act(what):
        request = urllib.request.Request(
            admin + "api/" + what, method="POST", data=b"",
            headers={"Authorization": "Bearer 0123456789abcdef"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as r:
            return r.status
    tap.case("the admin endpoint can reload", act("reload") in (200, 202, 204) and
             heard(p, "reloaded"))
    kill(p)
    with urllib.request.urlopen(admin + "healthz", timeout=PATIENCE) as r:
        tap.case("it is there after a crash, at the same address",
                 r.status == 200)
    act("drain")
    tap.case("it can end the whole program", p.process.wait(PATIENCE) == 0 and
             not any("another starts" in x for x in p.said[-1:]), p.said)
    o.stop()


def notices():
    """systemd hears everything from the process that it knows."""
    o = Origin(says(ok()))
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = socket_path("supervised")
    s.bind(path)
    s.setsockopt(socket.SOL_SOCKET, SO_PASSCRED, 1)
    s.settimeout(PATIENCE)

    def hear():
        data, more, _, _ = s.recvmsg(1000, socket.CMSG_SPACE(12))
        return data, struct.unpack("3i", more[0][2])[0]
    p = Sidecar(config([o.port]), environment={"NOTIFY_SOCKET": path})
    got = [hear()]
    p.process.send_signal(signal.SIGHUP)
    got += [hear(), hear()]
    kill(p)
    got.append(hear())
    p.process.terminate()
    got.append(hear())
    p.process.wait(PATIENCE)
    s.setblocking(False)
    try:
        got.append(s.recv(1000))
    except BlockingIOError:
        pass
    tap.case("systemd hears all from the supervisor, and the end once",
             [x[0].split(b"\n")[0] for x in got] == [
                 b"READY=1", b"RELOADING=1", b"READY=1", b"READY=1",
                 b"STOPPING=1"] and {x[1] for x in got} == {p.process.pid}, got)
    o.stop()


# ===== apart from the rest =====

def alone():
    o = Origin(says(ok()))
    with proxied(o, more="  supervise: false\n") as p:
        tap.case("without a supervisor it is one process",
                 not p.serving() and ask(p, get()).status == 200)
        tap.case("in the sandbox all the same", status(p.process.pid,
                                                       "NoNewPrivs") == ["1"] or
                 not sandboxed())


def sandboxed():
    """Builds with sanitizers have no sandbox."""
    return b"__asan_init" not in BINARY and b"__tsan_init" not in BINARY


with open(os.path.join(os.path.dirname(sidecar.BIDE), "bide-proxy"), "rb") as f_:
    BINARY = f_.read()


def sandbox():
    o = Origin(says(ok()))
    with proxied(o) as p:
        threads = [f"{p.pid}/task/{t}"
                   for t in os.listdir(f"/proc/{p.pid}/task")]
        tap.case("the serving process is in the sandbox, with all its threads",
                 len(threads) > 1 and all(
                     status(t, "Seccomp") == ["2" if sandboxed() else "0"]
                     for t in threads), threads)
        tap.case("the supervisor is not", status(p.process.pid, "Seccomp") ==
                 ["0"])
    with proxied(Origin(says(ok())), more="  sandbox: false\n") as p:
        tap.case("it can be switched off", status(p.pid, "Seccomp") == ["0"])
        said = p.reload(p.text.replace("sandbox: false", "sandbox: true"))
        tap.case("but not by a reload",
                 "proxy.sandbox cannot change" in said, said)


def line_of(pid):
    """The serving process's end of the line to its supervisor, as a process has
    it that has taken over its place."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(pid)
    for fd in os.listdir(f"/proc/{pid}/fd"):
        mine = libc.syscall(438, pidfd, int(fd), 0)  # pidfd_getfd
        try:
            s = socket.socket(fileno=mine)
            if s.type == socket.SOCK_SEQPACKET:
                return s
        except OSError:
            os.close(mine)
    raise RuntimeError("no line")


def taken_over():
    """The text of a configuration is what a process says that may be another's
    by now: those after it do not become root by it."""
    if os.getuid() != 0:
        tap.case("nothing to take over: skipped", True)
        return
    os.chmod(sidecar.work.name, 0o755)
    o = Origin(says(ok(b"nobody")))
    with proxied(o, more="  user: nobody\n") as p:
        text = os.memfd_create("config")
        os.write(text, p.text.replace("user: nobody", "sandbox: false").encode())
        s = line_of(p.pid)
        for word in (b"user root", b"drop #config", b"sandbox no"):
            s.send(word)
        socket.send_fds(s, [b"hold #config"], [text])
        s.close()
        kill(p)
        a = ask(p, get())
        tap.case("a process that was taken over cannot choose who the next is",
                 a.body == b"nobody" and set(status(p.pid, "Uid")) == {"65534"}
                 and status(p.pid, "Seccomp") == ["2" if sandboxed() else "0"],
                 (a, status(p.pid, "Uid"), p.said))


def privileged_port():
    while True:
        port = random.randrange(600, 1000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            pass


def user():
    if os.getuid() != 0:
        tap.case("who is not root cannot become nobody: skipped", True)
        return
    os.chmod(sidecar.work.name, 0o755)
    o = Origin(says(ok(b"nobody")))
    port = privileged_port()
    log = os.path.join(sidecar.work.name, "nobody")
    os.mkdir(log)
    shutil.chown(log, "nobody")
    text = config([o.port], more="  user: nobody\n  workers: 2\n  access_log: "
                  f"{log}/log\n")
    p = Sidecar(text.replace("127.0.0.1:0", f"127.0.0.1:{port}", 1))
    a = ask(p, get())
    tap.case("a port of root's is served by nobody", a.body == b"nobody" and
             set(status(p.pid, "Uid")) == {"65534"} and
             set(status(p.pid, "Gid")) == {"65534"} and
             status(p.pid, "CapEff") == ["0" * 16], (a, p.said))
    tap.case("its log is nobody's", os.stat(log + "/log").st_uid == 65534)
    kill(p)
    tap.case("also after a crash", ask(p, get()).body == b"nobody" and
             set(status(p.pid, "Uid")) == {"65534"})
    tap.case("a reload works", "reloaded" in p.reload(
        p.text.replace("1ms", "2ms")))
    p.process.kill()
    serving = p.pid
    p.process.wait()
    tap.case("it ends with its supervisor", until(lambda: gone(serving)))
    key = os.path.join(sidecar.work.name, "key.pem")
    with open(key, "w", encoding="ascii") as f:
        os.fchmod(f.fileno(), stat.S_IRUSR)
    for what, more, words in [
            ("an unknown user", "  user: nobody-at-all\n", "there is no user"),
            ("an unknown group", "  user: nobody\n  group: none-at-all\n",
             "there is no group"),
            ("a key that it cannot read", "  user: nobody\n  tls: { certificate: "
             f"{key}, key: {key} }}\n", key),
            ("a log that it cannot write", "  user: nobody\n  access_log: "
             f"{sidecar.work.name}/root.log\n", "root.log"),
            ("a policy file that it cannot read", "  user: nobody\n",
             "as a reload must")]:
        file = os.path.join(sidecar.work.name, "user.yaml")
        with open(file, "w", encoding="utf-8") as f:
            f.write(config([o.port], more=more))
            os.fchmod(f.fileno(), 0o600 if "reload" in words else 0o644)
        got = subprocess.run([sidecar.BIDE, "proxy", "-c", file],
                             env=tap.environment(), capture_output=True,
                             text=True, timeout=PATIENCE, check=False)
        tap.case(f"{what}: it does not start, and says why",
                 got.returncode == 1 and words in got.stderr, got)
    o.stop()


def memory():
    """A supervisor is small."""
    with proxied(Origin(says(ok()))) as p:
        with open(f"/proc/{p.process.pid}/smaps_rollup", encoding="ascii") as f:
            private = sum(int(x.split()[1]) for x in f if "Private_" in x)
        tap.case("the supervisor has little memory of its own",
                 private < 1024 or not sandboxed(), f"{private} kB")


run(killed_under_load, waits_in_the_queue, state_is_kept, places_are_taken_back,
    dies_again_and_again, file_is_broken_meanwhile, supervisor_is_killed,
    both_are_told, second_word, terminal, told_by_admin, notices, alone, sandbox,
    user, taken_over, memory)
