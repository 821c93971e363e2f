#!/usr/bin/env python3
"""top.py BIDE LIVE: bide top on a program whose engine is real, on a terminal and
without one, and on what is no admin endpoint."""
import fcntl
import http.client
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import tap

BIDE = os.path.join(tap.START, sys.argv[1])
LIVE = os.path.join(tap.START, sys.argv[2])
PATIENCE = 30  # seconds; only what hangs takes so long


def start(*args):
    p = subprocess.Popen([LIVE, *args], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    return p, p.stdout.readline().decode().strip()


class Terminal:
    """bide top on a pseudo-terminal of some size."""

    def __init__(self, port, columns=80, rows=24, lang="C.UTF-8"):
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.p = subprocess.Popen([BIDE, "top", port, "--interval", "200ms"],
                                  env=tap.environment(TERM="xterm", LC_ALL=lang), stdin=slave,
                                  stdout=slave, stderr=slave, start_new_session=True)
        self.text = ""

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
        return self.text

    def until(self, holds):
        """Reads on until something holds; whether it does."""
        end = time.monotonic() + PATIENCE
        while not (got := holds()) and time.monotonic() < end:
            self.read(0.1)
        return got

    def wait_for(self, words):
        return self.until(lambda: words in self.text)

    def frame(self):
        """The last whole picture, without its colours."""
        frames = self.text.split("\033[H")
        last = frames[-2] if len(frames) > 2 else frames[-1]
        return re.sub("\033\\[[0-9;?]*[a-zA-Z]", "", last).replace("\r", "")

    def ended(self):
        """Its exit code; what it still writes is taken from it."""
        self.until(lambda: self.p.poll() is not None)
        self.read(0.2)
        return self.p.returncode

    def given_back(self):
        return (self.text.rstrip().endswith("\033[?1000l\033[?25h\033[?1049l")
                and termios.tcgetattr(self.slave) == self.before)


def figures(text, name="mail"):
    """Those of a dependency, by the names of their columns."""
    lines = text.splitlines()
    row = next(line for line in lines if re.match(rf"\S +{name} ", line))
    titles = lines[2].split()
    values = row.split()[2:]
    if "minute" in titles:  # the sparkline, which may be blank at first
        titles.remove("minute")
        values = [v for v in values if v.isascii()]
    return dict(zip(titles[1:], values))


def calls_per_s(port):
    text = tap.run([BIDE, "top", port], COLUMNS="160", LC_ALL="C.UTF-8")[1]
    try:
        return float(figures(text)["calls/s"])
    except (IndexError, KeyError, ValueError, StopIteration):
        return 0


def once(port):
    end = time.monotonic() + PATIENCE  # there are figures of whole seconds
    while not calls_per_s(port) > 1 and time.monotonic() < end:
        time.sleep(0.2)
    code, out, err = tap.run([BIDE, "top", port], COLUMNS="160", LC_ALL="C.UTF-8")
    lines = out.splitlines()
    tap.case("without a terminal it is printed once",
             code == 0 and lines[0].startswith("observe live") and not err, out)
    tap.case("a line for each dependency", {line.split()[1] for line in lines[3:7]}
             == {"payments", "search", "ledger", "mail"}, out)
    tap.case("with its last minute as bars", all(
        re.search("[▁▂▃▄▅▆▇█]", line) for line in lines[3:7]), out)
    tap.case("no colours, and no blanks at the end",
             "\033" not in out and all(s == s.rstrip() for s in lines), out)
    state = json.loads(tap.run([BIDE, "top", port, "--json"])[1])
    tap.case("--json is the state", len(state["deps"]) == 4)
    row = figures(out)
    tap.case("mail is well", row["first"] == row["end"] == "100%"
             and row["ampl"] == "1.00" and row["breaker"] == "closed"
             and float(row["calls/s"]) > 1, row)
    for columns in (20, 30, 40, 50, 64, 72, 80, 132, 300):
        for lang in ("C", "C.UTF-8"):
            out = tap.run([BIDE, "top", port, "--once"], COLUMNS=str(columns),
                          LC_ALL=lang)[1]
            tap.case(f"fits {columns} columns in {lang}",
                     max(len(line) for line in out.splitlines()) <= max(columns, 20)
                     and "paymen" in out, out)
    for address in (f"127.0.0.1:{port}", f"localhost:{port}",
                    f"http://127.0.0.1:{port}/"):
        tap.case(f"{address} is understood",
                 tap.run([BIDE, "top", address])[0] == 0)


def on_a_socket():
    path = os.path.join(tempfile.mkdtemp(), "admin")
    p, _ = start("--listen", f"unix:{path}")
    code, out, err = tap.run([BIDE, "top", f"unix:{path}"])
    tap.case("a Unix socket is understood", code == 0
             and f"unix:{path}" in out and "payments" in out, (out, err))
    p.stdin.close()
    p.wait(timeout=10)
    code, out, err = tap.run([BIDE, "top", f"unix:{path}"])
    tap.case("one that nobody listens on is told, and what to look for", code == 1
             and path in err and "admin endpoint" in err, err)
    for wrong in ("unix:", "unix:" + "x" * 200, "https://", "https://a/b",
                  "https://a?b", "https://" + "x" * 200):
        tap.case(f"{wrong[:12]} is a mistake", tap.run([BIDE, "top", wrong])[0] == 2)


def forced():
    p, port = start("--token", "a-token-of-some-length")
    c = http.client.HTTPConnection("127.0.0.1", int(port))
    c.request("POST", "/api/deps/mail/breaker/forced_open",
              headers={"Authorization": "Bearer a-token-of-some-length"})
    c.getresponse().read()
    for columns in ("80", "55"):
        out = tap.run([BIDE, "top", port], COLUMNS=columns)[1]
        tap.case(f"a breaker that somebody forced is shown as such in {columns}",
                 any("mail" in line and line.endswith("forced open")
                     for line in out.splitlines()), out)
    lines = tap.run([BIDE, "top", port], COLUMNS="160")[1].splitlines()
    tap.case("it is first, and why is beside it", "mail" in lines[3]
             and lines[3].endswith("breaker forced open"), lines)
    lines = tap.run([BIDE, "top", port], COLUMNS="66")[1].splitlines()
    tap.case("where it is narrow, columns make room for why", "retry/s" not in lines[2]
             and lines[3].endswith("breaker forced open"), lines)
    p.stdin.close()
    p.wait(timeout=10)


def on_terminal(port):
    t = Terminal(port)
    tap.case("it draws on a screen of its own", t.wait_for("mail")
             and t.text.startswith("\033[?1049h\033[?25l"), t.text[:200])
    tap.case("again and again", t.until(lambda: t.text.count("dependency") > 2))
    tap.case("no more lines than there are",
             len(t.frame().splitlines()) <= 24, t.frame())
    os.write(t.master, b" ")
    tap.case("space stops it", t.wait_for("paused"))
    os.write(t.master, b" ")
    t.resize(44, 9)
    os.kill(t.p.pid, signal.SIGWINCH)

    def fits():
        frame = t.frame().splitlines()
        return len(frame) <= 9 and max(map(len, frame), default=99) <= 44
    tap.case("it follows the size of the terminal", t.until(fits), t.frame())
    os.write(t.master, b"q")
    tap.case("q ends it", t.ended() == 0)
    tap.case("the terminal is given back", t.given_back(), t.text[-100:])


def keys(port):
    t = Terminal(port, 100, 30)
    t.wait_for("mail")
    os.write(t.master, b"mai")
    tap.case("letters filter by name", t.until(
        lambda: "filter: mai_  (1)" in t.frame() and "payments  " not in
        "\n".join(t.frame().splitlines()[4:6])), t.frame())
    os.write(t.master, b"\x7f\x7f")
    tap.case("and can be taken back", t.until(
        lambda: "filter: m_  (2)" in t.frame()), t.frame())
    os.write(t.master, b"\x1b")
    tap.case("escape shows all again", t.until(
        lambda: "order: worst first" in t.frame()), t.frame())
    os.write(t.master, b">")
    tap.case("> changes the order", t.until(
        lambda: "order: name" in t.frame()
        and t.frame().splitlines()[4].split()[1] == "ledger"), t.frame())
    os.write(t.master, b"\x1b[B\x1b[B\r")  # two down
    tap.case("enter opens the page of the selected one", t.until(
        lambda: t.frame().splitlines()[1:2] == ["● payments"]
        or "* payments" in t.frame()), t.frame())
    tap.case("with its course, endpoints and routes", t.until(
        lambda: all(w in t.frame() for w in (
            "calls/s", "failed/s", "p99", "10.0.0.1:8080", "POST /pay/*"))), t.frame())
    t.resize(100, 12)
    os.kill(t.p.pid, signal.SIGWINCH)
    t.until(lambda: len(t.frame().splitlines()) <= 12)
    os.write(t.master, b"\x1b[F")  # end
    tap.case("it scrolls", t.until(lambda: "given up " not in t.frame()), t.frame())
    os.write(t.master, b"\x1b")
    tap.case("escape goes back", t.until(lambda: "order: name" in t.frame()), t.frame())
    os.write(t.master, b"\x1b[<0;5;5M\x1b[<0;5;5m")  # the first row
    tap.case("so does a click", t.until(
        lambda: any(line.endswith(" ledger") for line in t.frame().splitlines()[1:2])),
        t.frame())
    os.write(t.master, b"?")
    tap.case("? shows the keys", t.until(lambda: "filter by name" in t.frame()),
             t.frame())
    os.write(t.master, b"xq")
    tap.case("and q ends it", t.ended() == 0 and t.given_back(), t.text[-100:])


def many():
    """Three hundred, with long names that begin alike."""
    p, port = start("--many", "300", "--calm")
    for columns, rows in ((80, 24), (120, 40), (60, 20), (30, 10)):
        t = Terminal(port, columns, rows)
        t.wait_for("304 dependenc")
        t.until(lambda: t.frame().count("\n") >= rows - 1)
        lines = t.frame().splitlines()
        tap.case(f"304 in {columns} x {rows}: it fits", len(lines) <= rows
                 and max(map(len, lines)) <= columns, t.frame())
        names = [line[2:].split()[0] for line in lines[4:-1] if "billing" in line]
        tap.case(f"304 in {columns} x {rows}: what all begin with gives way",
                 names and (columns > 110 or all(n[0] in "…~" for n in names)), names)
        # Again and again: the selected one stays selected when the order changes.
        tap.case(f"304 in {columns} x {rows}: the end can be reached", t.until(
            lambda: os.write(t.master, b"\x1b[F") and "ship" in t.frame()), t.frame())
        os.write(t.master, b"q")
        t.ended()
    out = tap.run([BIDE, "top", port], COLUMNS="200")[1]
    tap.case("printed once, all are there", out.count("shop-platform-") == 300, out)
    p.stdin.close()
    p.wait(timeout=PATIENCE)


def signals(port):
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        t = Terminal(port)
        t.wait_for("mail")
        os.kill(t.p.pid, s)
        tap.case(f"{s.name} ends it, and the terminal is given back",
                 t.ended() == 0 and t.given_back(), t.text[-100:])
    t = Terminal(port)
    t.wait_for("mail")
    for _ in range(300):  # nobody reads: the terminal is full before long
        os.kill(t.p.pid, signal.SIGWINCH)
        time.sleep(0.003)
    os.write(t.master, b"q")
    tap.case("signals while it writes leave no picture half drawn",
             t.ended() == 0 and t.given_back(), t.text[-200:])
    t = Terminal(port)
    t.wait_for("mail")
    os.kill(t.p.pid, signal.SIGTSTP)
    tap.case("stopped, the terminal is given back", t.until(t.given_back),
             t.text[-100:])
    t.text = ""
    os.kill(t.p.pid, signal.SIGCONT)
    tap.case("and taken again", t.wait_for("\033[?1049h") and t.wait_for("mail"),
             t.text[:200])
    os.write(t.master, b"q")
    tap.case("and ended", t.ended() == 0 and t.given_back())


def gone():
    p, port = start("--calm")
    t = Terminal(port)
    t.wait_for("mail")
    p.stdin.close()
    p.wait(timeout=PATIENCE)
    tap.case("a program that goes away is told", t.wait_for("refused"), t.frame())
    os.write(t.master, b"q")
    t.ended()


def answers(text):
    """A server that says this to everybody; its port."""
    s = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            c, _ = s.accept()
            c.recv(4096)
            c.sendall(text)
            c.close()
    threading.Thread(target=serve, daemon=True).start()
    return str(s.getsockname()[1])


def hostile():
    ok = b"HTTP/1.1 200 OK\r\n\r\n"
    for name, text in {
        "not HTTP": b"220 smtp\r\n", "nothing": b"", "404": b"HTTP/1.1 404 no\r\n\r\n",
        "no JSON": ok + b"<html>", "another object": ok + b"{}",
        "cut off": ok + b'{"deps": [', "too deep": ok + b"[" * 5000,
    }.items():
        code, out, err = tap.run([BIDE, "top", answers(text)])
        tap.case(f"{name} is told, exit code 1",
                 code == 1 and not out and "bide top: " in err, (code, out, err))
    odd = {"deps": [{"name": "a\x1b[31m\u202eb" + "x" * 300, "breaker": [],
                     "second": {"seconds": 1, "first": "x", "refused": {"a": {}}},
                     "budget": 3}, 5, None, []],
           "decisions": [{"text": "\x1b]0;title\x07", "at_ms": 1e300}, 1]}
    code, out, err = tap.run([BIDE, "top", answers(ok + json.dumps(odd).encode())])
    tap.case("what could steer a terminal does not reach it",
             code == 0 and "\x1b" not in out and "\u202e" not in out, (out, err))
    for args in (["x"], ["1.2.3.4"], ["host.example:80"], ["0"], ["70000"],
                 ["1", "2"], ["--interval", "1ms"], ["--what"]):
        code, out, err = tap.run([BIDE, "top", *args])
        tap.case(f"{' '.join(args)} is a mistake", code == 2 and err, err)


def shared():
    """A store that is down, and a fleet out of reach: every dependency may look well."""
    def shows(joined, *values):
        state = {"now_ms": 1, "deps": [{"name": "pay", "mood": "good",
                                        "fleet": {"joined": joined, "instances": 3}}],
                 "values": [{"name": n, "value": v} for n, v in values]}
        return tap.run([BIDE, "top", answers(b"HTTP/1.1 200 OK\r\n\r\n" +
                                             json.dumps(state).encode())])[1]

    out = shows(False, ("bide_store_up", 0), ("bide_store_down_total", 12))
    tap.case("a store that is down is said",
             "\nstore: down, 12 operations unanswered; the log says why\n" in out, out)
    tap.case("who has left the fleet is told",
             "\nfleet: alone, with its own part of the budget; the log says why\n" in out, out)
    out = shows(True, ("bide_store_up", 1), ("bide_store_records", 7),
                ("bide_store_bytes", 25), ("bide_store_limit_bytes", 100))
    tap.case("both are well", "\nstore: up, 7 records, 25% full\nfleet: joined, 3 instances\n"
             in out, out)
    out = shows(True, ("bide_store_up", 1), ("bide_store_records", 1),
                ("bide_proxy_idempotency_full_total", 3))
    tap.case("a store without room for more is not passed off as well",
             "\nstore: up, 1 record, 0% full; 3 requests found no room\n" in out, out)


live, live_port = start()
once(live_port)
forced()
on_a_socket()
on_terminal(live_port)
keys(live_port)
many()
signals(live_port)
live.stdin.close()
gone()
hostile()
shared()
tap.finish()
