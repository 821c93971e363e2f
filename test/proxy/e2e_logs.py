#!/usr/bin/env python3
"""e2e_logs.py BIDE: logs that nobody reads, disks that are full, and what clients
can do to a line. Nobody waits for a log; each line is whole; each that is missing is
counted."""
import contextlib
import fcntl
import json
import os
import re
import resource
import signal
import socket
import subprocess
import urllib.request

import sidecar
from parts import (PATIENCE, Origin, ask, connect, get, ok, proxied, run, says,
                   tap, until)
from ports import free_port, socket_path
from sidecar import config


class Deaf:
    """A sidecar whose standard output and error are a pipe that is full, and that
    nobody reads."""

    def __init__(self, origin, more=""):
        self.port, self.admin = free_port(), free_port()
        self.file = os.path.join(sidecar.work.name, f"deaf{self.port}.yaml")
        self.reader, self.writer = os.pipe()
        fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(self.writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(self.writer, b"x")
        os.set_blocking(self.writer, True)
        self.more = more
        self.write(origin)
        self.process = subprocess.Popen(
            [sidecar.BIDE, "proxy", "-c", self.file], env=tap.environment(),
            stdout=self.writer, stderr=self.writer)
        self.up = until(self.answers)

    def write(self, origin):
        text = config([origin.port], more=f"  workers: 1\n  admin: 127.0.0.1:"
                      f"{self.admin}\n" + self.more)
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(text.replace("127.0.0.1:0", f"127.0.0.1:{self.port}", 1))

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def end(self):
        """Whether it ends as told."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self.reader)
            os.close(self.writer)


def metrics(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics",
                                timeout=PATIENCE) as r:
        return r.read().decode()


def dropped(port, log):
    found = re.search(rf'^bide_log_dropped_total{{log="{log}"}} (\d+)',
                      metrics(port), re.M)
    return int(found[1]) if found else None


def many(p, n, path="/"):
    """So many requests on one connection; how many were answered with 200."""
    c = connect(p)
    good = 0
    for _ in range(n):
        if not c.send(get(path)):
            break
        head = c.head()
        good += head.startswith(b"HTTP/1.1 200")
        if not head:
            break
        c.body(head)
    c.close()
    return good


def a_log_that_nobody_reads():
    first, second = Origin(says(ok(b"1"))), Origin(says(ok(b"2")))
    p = Deaf(first, "  access_log: stdout\n  telemetry: { log: stderr }\n")
    tap.case("it starts, whatever its standard error is", p.up)
    good = many(p, 1500, "/" + "x" * 1000)
    tap.case("an access log that nobody reads stops no request", good == 1500,
             good)
    tap.case("lines that found no room are counted", dropped(p.admin, "access") > 0
             and dropped(p.admin, "decisions") == 0)
    with urllib.request.urlopen(f"http://127.0.0.1:{p.admin}/api/state") as r:
        values = [v for v in json.load(r)["values"]
                  if v["name"] == "bide_log_dropped_total"]
    tap.case("and the dashboard has the count", [v["label_value"] for v in values]
             == ["access", "decisions"] and values[0]["value"] > 0, values)
    p.write(second)
    p.process.send_signal(signal.SIGHUP)
    tap.case("a reload has nobody to wait for",
             until(lambda: ask(p, get()).body == b"2"))
    p.process.send_signal(signal.SIGUSR1)
    tap.case("SIGTERM ends it, whatever its standard output is", p.end())
    first.stop()
    second.stop()


def a_log_that_is_read_late():
    """What the pipe and the ring hold comes when somebody reads."""
    o = Origin(says(ok()))
    reader, writer = os.pipe()
    with proxied(o, more="  access_log: stdout\n",
                 popen={"stdout": writer}) as p:
        os.close(writer)
        many(p, 300, "/" + "x" * 1000)  # far more than a pipe takes
        text = b""
        while text.count(b"\n") < 300:
            text += os.read(reader, 65536)
        lines = [json.loads(line) for line in text.splitlines()]
        tap.case("a log that is read late has every line, whole",
                 len(lines) == 300 and all(x["status"] == 200 for x in lines))
        tap.case("standard output stays as it was for others",
                 not fcntl.fcntl(reader, fcntl.F_GETFL) & os.O_NONBLOCK)
    os.close(reader)


@contextlib.contextmanager
def small_disk():
    """A directory on a disk of 64 KiB; None where that may not be had."""
    path = os.path.join(sidecar.work.name, "disk")
    os.mkdir(path)
    mounted = os.getuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "bide-test", path],
        check=False, stderr=subprocess.DEVNULL).returncode == 0
    try:
        yield path if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", path], check=False)


def whole(path):
    """The lines of a file, each of which must be JSON and end. One may be on its
    way out, or back, just now."""
    lines = []

    def read():
        with open(path, "rb") as f:
            text = f.read()
        with contextlib.suppress(ValueError):
            lines[:] = [json.loads(line) for line in text.splitlines()]
            return not text or text.endswith(b"\n")
        return False
    return list(lines) if until(read, 3) else None


def a_full_disk():
    o = Origin(says(ok()))
    admin = free_port()
    with small_disk() as disk:
        if not disk:
            print("# no disk may be mounted here")
            o.stop()
            return
        log = os.path.join(disk, "log")
        with proxied(o, more=f"  workers: 2\n  admin: 127.0.0.1:{admin}\n"
                     f"  access_log: {log}\n") as p:
            good = [many(p, 60, "/" + "x" * 777) for _ in range(4)]
            full = until(lambda: dropped(admin, "access") > 0)
            tap.case("a full disk stops no request", full and good == [60] * 4,
                     good)
            lines = whole(log)
            tap.case("and leaves no torn line", lines and 30 < len(lines) < 240,
                     lines and len(lines))
            os.truncate(log, 0)
            # The first may still find no room.
            tap.case("when there is room again, lines are whole", until(
                lambda: ask(p, get("/after")) and
                (whole(log) or [{}])[-1].get("path") == "/after"))
            # Of paths of all lengths, so that the disk is full anywhere in a line.
            good = sum(many(p, 1, "/" + "x" * (i * 7 % 97)) for i in range(1000))
            p.stop()
            lines = whole(log)
            tap.case("nor is one torn when it is full at the end", good == 1000 and
                     lines and len(lines) < 1000, (good, lines and len(lines)))


def a_limit_on_files():
    """As a full disk, for those who may not mount one: and a signal besides."""
    o = Origin(says(ok()))
    admin = free_port()
    with proxied(o, log=True, more=f"  admin: 127.0.0.1:{admin}\n") as p:
        resource.prlimit(p.pid, resource.RLIMIT_FSIZE,
                         (10000, resource.RLIM_INFINITY))
        many(p, 60, "/" + "x" * 777)
        full = until(lambda: dropped(admin, "access") > 0)
        tap.case("a limit on the size of files leaves no torn line", full and
                 0 < len(whole(p.log) or []) < 60, whole(p.log))


def fifo():
    o = Origin(says(ok()))
    path = os.path.join(sidecar.work.name, "fifo")
    os.mkfifo(path)
    with proxied(o, more=f"  access_log: {path}\n") as p:
        ask(p, get("/early"))
        fd = os.open(path, os.O_RDONLY)
        text = b""
        while b"\n" not in text:
            text += os.read(fd, 65536)
        tap.case("a FIFO that nobody has opened yet holds nothing up",
                 json.loads(text)["path"] == "/early", text)
        os.close(fd)


# ===== what a line says =====

HOSTILE = [  # a path, and the value of a field
    (b'/"}\\', b"caf\xc3\xa9"),            # UTF-8 stays
    (b"/%0a{}", b'"\xff\\","status":9'),   # what is none does not
    (b"/", b"\xc2\x9b2J"),                 # a control of terminals, in UTF-8
    (b"/" + b'"' * 3000, b"\xff" * 3000),  # each becomes two bytes, or three
    (b"/\xff", b"x"),                      # refused
]


def request(path, more=b""):
    return b"GET " + path + b" HTTP/1.1\r\nHost: X.example\r\n" + more + b"\r\n"


def hostile_requests(p):
    for path, value in HOSTILE:
        ask(p, request(path, b"".join(name + b": " + value + b"\r\n" for name in
                                      (b"Referer", b"User-Agent", b"X-Request-Id"))))
    ask(p, request(b"/ok", b"X-Request-Id: abc-1\r\n"))
    ask(p, b"NONSENSE\r\n\r\n")


def json_lines():
    o = Origin(says(ok()))
    with proxied(o, log=True) as p:
        hostile_requests(p)
        p.stop()
    with open(p.log, "rb") as f:
        text = f.read()
    lines = [json.loads(line) for line in text.splitlines()]
    served = [x for x in lines if x["status"] == 200]
    tap.case("what clients send makes no line of its own",
             len(lines) == len(HOSTILE) + 2, lines)
    tap.case("UTF-8 stays as it is", b'"request_id":"caf\xc3\xa9"' in text, text[:500])
    tap.case("bytes that are none become U+FFFD, in a line that is valid",
             sum("\ufffd" in x.get("request_id", "") for x in lines) == 2, lines)
    tap.case("no control reaches a terminal", not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f]", text.decode()), text)
    tap.case("no line is longer than a pipe takes at once",
             max(map(len, text.splitlines())) < 4096)
    tap.case("host and request id are told", served and served[-1]["host"] ==
             "X.example" and served[-1]["request_id"] == "abc-1", served[-1:])


CLF = re.compile(r'^127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d '
                 r'\+0000\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)'
                 r'(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?$')


def who_left():
    """A client that gave up is told from one that only closed its sending half, though
    both look the same until the answer is written."""
    goes, log = [], os.path.join(sidecar.work.name, "left.log")

    def talk(origin, peer):
        while origin.request(peer):
            until(lambda: goes)
            goes.clear()
            peer.send(ok(b"late"))
    o = Origin(talk)
    with proxied(o, more=f"  access_log: {log}\n") as p:
        for n, half in enumerate((False, True)):
            c = connect(p)
            c.send(get())
            until(lambda: len(o.heads) == n + 1)
            if half:
                c.socket.shutdown(socket.SHUT_WR)
            else:
                c.close()
            goes.append(1)
            until(lambda: os.path.exists(log) and
                  len(open(log, encoding="utf-8").readlines()) == n + 1)
            if half:
                c.close()
    lines = [json.loads(x) for x in open(log, encoding="utf-8")]
    tap.case("a client that left is logged as 499, one that waits with its status",
             [(x["status"], x["reason"]) for x in lines] ==
             [(499, "cancelled"), (200, "success")], lines)


def common_lines():
    for form in "common", "combined":
        o = Origin(says(ok()))
        with proxied(o, log=True, more=f"  access_log_format: {form}\n") as p:
            hostile_requests(p)
            ask(p, get("/x?secret"))
            p.reload(p.text.replace(f"format: {form}", "format: json"))
            ask(p, get("/after"))
            p.process.terminate()
            p.process.wait(PATIENCE)
        with open(p.log, encoding="ascii") as f:
            text = f.read()
        *lines, last = text.splitlines()
        found = [CLF.match(line) for line in lines]
        tap.case(f"{form}: each request is a line of the common log format",
                 len(lines) == len(HOSTILE) + 3 and all(found), text)
        tap.case(f"{form}: with what was asked, without its query",
                 all(found) and found[-1][1] == "GET /x HTTP/1.1" and
                 found[-2][1] == "-" and found[0][1] == r'GET /\"}\\ HTTP/1.1',
                 lines)
        tap.case(f"{form}: Referer and User-Agent only in the combined one",
                 all(found) and (found[-3][4], found[0][5]) == (
                     ("-", r"caf\xc3\xa9") if form == "combined" else
                     (None, None)), lines)
        tap.case(f"{form}: a reload changes the format",
                 json.loads(last)["path"] == "/after", last)


def syslog():
    o = Origin(says(ok()))
    path = socket_path("devlog")
    admin = free_port()
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind(path)
    log.settimeout(PATIENCE)
    with proxied(o, more=f"  access_log: syslog:{path}\n"
                 f"  admin: 127.0.0.1:{admin}\n") as p:
        ask(p, get("/one"))
        got = log.recv(65536)
        found = re.match(rb"<30>[A-Z][a-z]{2} [ 123]\d \d\d:\d\d:\d\d "
                         rb"bide\[\d+\]: (\{.*\})$", got)
        tap.case("syslog gets a datagram for each line", found and
                 json.loads(found[1])["path"] == "/one", got)
        good = many(p, 1500, "/" + "x" * 1000)
        tap.case("a syslog that reads nothing stops no request", good == 1500 and
                 dropped(admin, "access") > 0, good)
        log.close()
        os.unlink(path)
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        log.bind(path)
        log.settimeout(0.1)

        def again():
            ask(p, get("/two"))
            with contextlib.suppress(TimeoutError):
                while True:
                    if b'"/two"' in log.recv(65536):
                        return True
        tap.case("one that was restarted is found again", until(again))
        log.close()


def request_ids():
    o = Origin(says(ok()))
    with proxied(o, log=True, more="  request_id: generate\n") as p:
        ask(p, get("/a"))
        ask(p, get("/b", b"X-Request-Id: mine\r\n"))
        ask(p, get("/c", b"X-Request-Id:\r\n"))
        _, lines = p.stop()
    sent = [[line.split(b":", 1)[1].strip().decode() for line in
             head.split(b"\r\n") if line.lower().startswith(b"x-request-id:")]
            for head in o.heads]
    tap.case("a request without an id gets one, its own",
             all(len(s) == 1 for s in sent) and sent[1] == ["mine"] and
             len(sent[0][0]) == 36 and sent[0] != sent[2], sent)
    tap.case("and the log has what the endpoint was sent",
             [x["request_id"] for x in lines] == [s[0] for s in sent], lines)


run(who_left, a_log_that_nobody_reads, a_log_that_is_read_late, a_full_disk,
    a_limit_on_files, fifo, json_lines, common_lines, syslog, request_ids)
