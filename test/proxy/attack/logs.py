#!/usr/bin/env python3
"""logs.py BIDE: a log that nobody reads stops nothing: requests are answered, lines
are dropped and counted, SIGTERM ends it. And a worker that is stuck is noticed."""
import contextlib
import ctypes
import os
import socket
import subprocess
import urllib.error
import urllib.request

from attack import (ADMIN, BIDE, OPEN, PATIENCE, Answer, Origin, Sidecar, admin,
                    ask, config, connect, ended, get, ok, run, says, serving,
                    series, socket_path, tap, until, work)

ENOUGH = 500  # long lines that no pipe takes: 64 KiB are some 50
MOST = 10000  # and that no buffer should keep
LONG = "/" + "x" * 1000


def many(p, n=ENOUGH, path=LONG):
    """So many requests on one connection; how many were answered."""
    c = connect(p)
    good = 0
    for _ in range(n):
        c.send(get(path))
        if Answer(c).status == 0:
            break
        good += 1
    c.close()
    return good


def unread(what, more, popen=None, dropped="access", policy=OPEN, status=200):
    """The log goes where nobody reads; all else goes on."""
    o = Origin(says(ok(status=b"%d Well" % status)))
    p = Sidecar(config([o.port], more=ADMIN + more, policy=policy), **(popen or {}))
    good = many(p)
    tap.case(f"{what}: {ENOUGH} requests are answered", good == ENOUGH, good)
    sent = good

    def counted():
        nonlocal sent
        if series(p, "bide_log_dropped_total", f'log="{dropped}"') > 0:
            return True
        if ENOUGH <= sent < MOST:
            sent += many(p)
        return False
    tap.case(f"{what}: the lines that are dropped are counted", until(counted),
             sent)
    tap.case(f"{what}: others are served", ask(p, get()).status == status)
    code = ended(p)
    tap.case(f"{what}: SIGTERM ends it", code == 0, (code, "".join(p.said)))
    o.stop()


@contextlib.contextmanager
def a_pipe():
    """The writing end of a pipe that nobody reads."""
    r, w = os.pipe()
    try:
        yield w
    finally:
        os.close(r)
        os.close(w)


def access_log():
    with a_pipe() as w:
        unread("the access log in a pipe", "  access_log: stdout\n", {"stdout": w})
    with open("/dev/full", "wb") as f:
        unread("the access log in /dev/full", "  access_log: stdout\n",
               {"stdout": f})
    unread("the access log is /dev/full", "  access_log: /dev/full\n")


def decisions():
    """Of requests that fail: a line for each attempt."""
    more = "  telemetry: { log: stdout, log_rate: 1000000/s }\n"
    with a_pipe() as w:
        unread("the log of decisions in a pipe", more, {"stdout": w}, "decisions",
               status=503)
    unread("the log of decisions is /dev/full",
           more.replace("stdout", "/dev/full"), None, "decisions", status=503)


def fifos():
    path = os.path.join(work.name, "fifo")
    os.mkfifo(path)
    fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    unread("the access log in a FIFO", f"  access_log: {path}\n")
    os.close(fd)
    # Without a reader: it may refuse to start, or serve; it must not hang.
    file = os.path.join(work.name, "fifo.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(config([1], more=f"  access_log: {path}\n"))
    r = subprocess.Popen([BIDE, "proxy", "-c", file], stderr=subprocess.PIPE,
                         env=tap.environment())
    os.set_blocking(r.stderr.fileno(), False)
    said = b""

    def spoken():
        nonlocal said
        said += r.stderr.read() or b""
        return b"listening" in said or r.poll() is not None
    tap.case("a FIFO without a reader: it starts, or says why not",
             until(spoken) and (r.poll() in (None, 1, 2)), (r.poll(), said))
    r.terminate()
    try:
        code = r.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        code = "hangs"
        r.kill()
        r.wait()
    tap.case("and SIGTERM ends it", code != "hangs", (code, said))


def a_reader_that_returns():
    """What was dropped leaves no torn line behind."""
    r, w = os.pipe()
    o = Origin(says(ok()))
    p = Sidecar(config([o.port], more="  access_log: stdout\n"), stdout=w)
    os.close(w)
    tap.case("nobody reads", many(p) == ENOUGH)
    got = b""
    os.set_blocking(r, False)

    def read():
        nonlocal got
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(r, 1 << 20):
                got += piece
    read()
    tap.case("somebody reads again, and new lines come", until(
        lambda: ask(p, get("/afterwards")).status == 200 and
        (read() or b"/afterwards" in got)), got[-300:])
    tap.case("SIGTERM ends it", ended(p) == 0)
    read()
    lines = got.decode().split("\n")
    whole = [x for x in lines[:-1] if x.startswith("{") and x.endswith("}")]
    tap.case("every line is whole", lines[-1] == "" and
             len(whole) == len(lines) - 1, [x for x in lines if x not in whole])
    os.close(r)
    o.stop()


def standard_streams():
    """SIGTERM works whatever they are."""
    for what, popen in [("a pipe that is full", "full"), ("closed", "closed")]:
        o = Origin(says(ok()))
        r, w = os.pipe()
        if popen == "full":
            os.set_blocking(w, False)
            with contextlib.suppress(BlockingIOError):
                while os.write(w, b"x" * 65536):
                    pass
            os.set_blocking(w, True)
        else:
            os.close(r)
        p = Sidecar(config([o.port], more="  access_log: stdout\n"), stdout=w)
        tap.case(f"standard output is {what}: it serves", many(p, 10) == 10)
        tap.case(f"standard output is {what}: SIGTERM ends it", ended(p) == 0)
        os.close(w)
        if popen == "full":
            os.close(r)
        o.stop()


PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207


def busiest(pid):
    """The thread that has run longest: a worker."""
    def ran(task):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0])
    return int(max(os.listdir(f"/proc/{pid}/task"), key=ran))


def healthy(p):
    try:
        with urllib.request.urlopen(admin(p) + "healthz", timeout=PATIENCE) as r:
            return r.status
    except urllib.error.HTTPError as e:
        return e.code


def a_worker_that_is_stuck():
    """A thread is held as a debugger holds it: /healthz says so, and a watchdog
    hears no more."""
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(socket_path("watchdog"))
    notify.settimeout(PATIENCE)
    o = Origin(says(ok()))
    p = Sidecar(config([o.port], more=ADMIN), environment={
        "NOTIFY_SOCKET": socket_path("watchdog"), "WATCHDOG_USEC": "1000000"})
    many(p)
    heard = []

    def watchdog(seconds):
        notify.settimeout(seconds)
        try:
            heard.append(notify.recv(1000))
        except TimeoutError:
            return False
        return b"WATCHDOG=1" in heard[-1] or watchdog(seconds)
    tap.case("a watchdog is fed", watchdog(PATIENCE), heard)
    tap.case("/healthz says that all is well", healthy(p) == 200)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                            ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    worker = busiest(serving(p)[-1])
    if libc.ptrace(PTRACE_SEIZE, worker, None, None) != 0:
        print("# no thread may be held here: the rest is left out")
        ended(p)
        o.stop()
        return
    libc.ptrace(PTRACE_INTERRUPT, worker, None, None)
    os.waitpid(worker, 0x40000000)  # __WALL
    tap.case("a worker is stuck: /healthz notices", until(
        lambda: healthy(p) != 200, 30))
    fed = 0
    while fed < 10 and watchdog(5):
        fed += 1
    tap.case("and the watchdog hears no more", fed < 10, fed)
    libc.ptrace(PTRACE_DETACH, worker, None, None)
    tap.case("it goes on: /healthz notices that, too", until(
        lambda: healthy(p) == 200, 30))
    tap.case("SIGTERM ends it", ended(p) == 0)
    o.stop()


run(access_log, decisions, fifos, a_reader_that_returns, standard_streams,
    a_worker_that_is_stuck)
