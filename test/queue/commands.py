#!/usr/bin/env python3
"""commands.py BIDE: `bide enqueue` and `bide worker` as users meet them: every line of
"two commands", every sentence about bad input, and what a worker does when handlers,
workers and disks fail. Everything is waited for, nothing is timed tightly."""
import http.server
import json
import os
import re
import select
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import certificate
import servers
import tap

BIDE = os.path.abspath(sys.argv[1])
LIMIT = 120  # seconds, for anything


class Place:
    """A folder for the state of one case."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bide-queue-")
        self.env = tap.environment(XDG_STATE_HOME=self.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def run(self, *args, text="", **more):
        p = subprocess.run([BIDE, *args], input=text.encode() if isinstance(text, str)
                           else text, capture_output=True, timeout=LIMIT, cwd=self.dir,
                           env={**self.env, **more})
        return p.returncode, p.stdout.decode(errors="replace"), \
            p.stderr.decode(errors="replace")

    def start(self, *args, **more):
        return subprocess.Popen([BIDE, *args], stdin=subprocess.DEVNULL, cwd=self.dir,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**self.env, **more})

    def counts(self, queue="default"):
        code, out, err = self.run("worker", "ls", "--json", "--queue", queue)
        return json.loads(out) if code == 0 else {"error": err}

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""


def until(what, limit=LIMIT):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().split()[2] != "Z"
    except OSError:
        return False


def hears(p, what):
    """Waits until a worker has said something that this is in."""
    p.heard = getattr(p, "heard", b"")

    def more():
        if select.select([p.stderr], [], [], 0)[0]:
            p.heard += os.read(p.stderr.fileno(), 65536)
        return what in p.heard
    return until(more)


def end(p, number=signal.SIGTERM):
    """Ends a worker; gives its exit code and what it said."""
    p.send_signal(number)
    out, err = p.communicate(timeout=LIMIT)
    err = getattr(p, "heard", b"") + err
    return p.returncode, out.decode(errors="replace"), err.decode(errors="replace")


# ===== two commands =====

def two_commands():
    with Place() as at:
        code, out, err = at.run("enqueue", "hello")
        tap.case("enqueue says what it did",
                 (code, out, err) == (0, "queued 1 in default (1 waiting)\n", ""), out + err)
        code, out, err = at.run("worker", "-v", "--until-empty", "--at-once", "4", "--",
                                "sh", "-c", "test $BIDE_ATTEMPT = 2")
        tap.case("worker says what it did", re.fullmatch(
            r"bide worker: default: 1 waiting, 4 at once; Ctrl-C drains\n"
            r"([0-9a-f]{4}) attempt 1 of 15: exit 1, again in \d\.\ds\n"
            r"\1 attempt 2 of 15: done in [\d.]+m?s\n", err) and code == 0, f"{code} {err}")
        mode = os.stat(at.path("bide", "queue.db")).st_mode & 0o777
        tap.case("the queue is the user's alone", mode == 0o600, oct(mode))


def enqueue_ways():
    with Place() as at:
        at.run("enqueue", "--quiet", "argument")
        at.run("enqueue", text=b"\x00binary\xff\n")
        code, out, _ = at.run("enqueue", "--lines", text="a\n\nb")
        tap.case("--lines queues each line, also an empty one",
                 out == "queued 3 in default (5 waiting)\n", out)
        at.run("enqueue", text="")
        code, out, err = at.run("worker", "--until-empty", "--at-once", "1", "--", "sh",
                                "-c", "od -An -c | tr -d ' \\n'; echo .")
        got = out.split()
        tap.case("each body arrives as it is", got == [
            "argument.", "\\0binary377\\n.", "a.", ".", "b.", "."], repr(got))
        one = at.run("enqueue", "--id", "x", "1")
        two = at.run("enqueue", "--id", "x", "2")
        tap.case("the same id twice is one message", one[0] == two[0] == 0 and
                 two[1] == "queued 0 in default, 1 was there already (1 waiting)\n", two)
        code, out, _ = at.run("enqueue", "--delay", "1h", "later")
        tap.case("--delay is later", "(1 waiting, 1 later)" in out, out)
        at.run("enqueue", "--queue", "mail", "-a", "content-type=text/plain", "-a",
               "LD_PRELOAD=/evil", "-k", "alice", "--id", "m 1", "hi")
        code, out, _ = at.run("worker", "-q", "mail", "--until-empty", "--", "sh", "-c",
                              "env | grep -E 'BIDE_|LD_PRE' | sort",
                              BIDE_ATTR_FORGED="1")
        lines = out.splitlines()
        tap.case("the environment has the message and nothing forged",
                 "BIDE_ATTR_CONTENT_TYPE=text/plain" in lines and
                 "BIDE_ATTR_LD_PRELOAD=/evil" in lines and
                 "BIDE_IDEMPOTENCY_KEY=mail:m%201" in lines and
                 "BIDE_MESSAGE_ID=m 1" in lines and "BIDE_MESSAGE_KEY=alice" in lines and
                 "BIDE_QUEUE=mail" in lines and "BIDE_ATTEMPT=1" in lines and
                 "BIDE_ATTEMPTS=15" in lines and
                 not any("FORGED" in li or li.startswith("LD_") for li in lines), out)


def exit_codes():
    with Place() as at:
        for code, flags, state in (("65", [], "dead"), ("1", [], "later"),
                                   ("3", ["--stop-on", "3"], "dead"),
                                   ("4", ["--retry-on", "3"], "dead"),
                                   ("3", ["--retry-on", "3"], "later")):
            queue = f"q{code}{len(flags)}{state}"
            at.run("enqueue", "-q", queue, "x")
            p = at.start("worker", "-q", queue, *flags, "--", "sh", "-c",
                         f"echo oops >&2; exit {code}")
            done = until(lambda: at.counts(queue).get(state) == 1)
            end(p)
            tap.case(f"exit {code} {' '.join(flags)}: {state}", done, at.counts(queue))
        code, out, _ = at.run("worker", "ls", "-q", "q650dead", "--dead", "--json")
        ident = json.loads(out)["messages"][0]["id"]
        code, out, _ = at.run("worker", "show", "-q", "q650dead", ident[:6])
        tap.case("a dead message has reason, class, attempts, errors and output",
                 all(re.search(w, out) for w in (r"reason +permanent", r"class +permanent",
                                                 r"attempts +1\n", r"Z 1 exit 65", "oops",
                                                 r"body, 1 byte\nx\n")), out)
        code, out, _ = at.run("worker", "show", "-q", "q650dead", "--json", ident)
        shown = json.loads(out)
        tap.case("... and as JSON", code == 0 and shown["id"] == ident and
                 shown["state"] == "dead" and shown["reason"] == "permanent" and
                 shown["output"] == "oops\n" and shown["body"] == "x" and
                 [e.split(" ", 1)[1] for e in shown["errors"]] == ["1 exit 65"], out)
        at.run("enqueue", "-q", "bytes", "--id", "b", text=b"\xff\0x")
        code, out, _ = at.run("worker", "show", "-q", "bytes", "--json", "b")
        tap.case("a body that is not text is base64",
                 code == 0 and json.loads(out).get("body_base64") == "/wB4", out)
        code, _, _ = at.run("worker", "--until-empty", "-q", "q2", "--", "false")
        at.run("enqueue", "-q", "q3", "x")
        died, _, _ = at.run("worker", "--until-empty", "-q", "q3", "--", "sh", "-c",
                            "exit 65")
        tap.case("--until-empty: 0, or 1 if a message died", (code, died) == (0, 1),
                 (code, died))


# ===== bad input =====

def bad_input():
    with Place() as at:
        at.run("enqueue", "x")
        for args, want in (
                (("worker", "--queue", "defualt", "--", "true"), "did you mean `default`?"),
                (("worker", "ls", "--queue", "defualt"), "did you mean `default`?"),
                (("worker", "--untl-empty", "--", "true"), "--until-empty"),
                (("worker", "--broker", "foo:bar", "--", "true"), "`foo` is not a broker"),
                (("worker",), "expected a handler"),
                (("worker", "lss"), "did you mean `ls`?"),
                (("worker", "redrive", "--resaon", "x"), "see `bide worker redrive --help`"),
                (("worker", "check", "--queue", "defualt"), "did you mean `default`?"),
                (("worker", "--", "no-such-command"), "not found; no message was taken"),
                (("worker", "--", "/etc/passwd"), "no message was taken"),
                (("worker", "--to", "ftp://x"), "http://"),
                (("worker", "--to", "http://x", "--", "true"), "not both"),
                (("enqueue", "--priority", "10", "x"), "from -9 to 9"),
                (("enqueue", "--id", "a\nb", "x"), "control character"),
                (("enqueue", "--queue", "../x", "x"), "letters, digits"),
                (("enqueue", "a", "b"), "quote it"),
                (("enqueue", "--broker", "sqlite:/proc/none/x.db", "x"), "/proc/none/x.db")):
            code, out, err = at.run(*args)
            tap.case(f"{' '.join(args)}: exit 2, named".replace("\n", "\\n"),
                     code == 2 and want in err, f"{code} {err}")
        c = at.counts()
        tap.case("none of them took a message", c["waiting"] == 1, c)
        code, _, err = at.run("enqueue", text=b"x" * ((16 << 20) + 1))
        tap.case("too large: refused with the limit", code == 2 and "16777216" in err, err)
        code, _, _ = at.run("enqueue", "--id", "large", text=b"x" * (16 << 20))
        tap.case("the limit itself fits", code == 0, code)


def hostile():
    """Whoever may enqueue chooses these bytes; whoever looks has a terminal."""
    with Place() as at:
        csi, mark = b"\xc2\x9b31m", "\u202e".encode()
        at.run("enqueue", "--id", b"i" + csi + b"\xff", "--key", b"k" + csi, "-a", b"n=" + csi,
               text=b"\x1b[31m" + csi + b"\x9b" + mark + "\u00e4\n".encode())
        said = [at.run("worker", "ls"), at.run("worker", "show", "i"),
                at.run("worker", "-v", "--until-empty", "--", "sh", "-c",
                       "printf 'out\\302\\2331m'; exit 65"),
                at.run("worker", "ls", "--dead"), at.run("worker", "show", "i")]
        controls = [c for _, out, err in said[:2] + said[3:] for c in out + err
                    if c != "\n" and not c.isprintable()]
        tap.case("nothing that is queued controls the terminal of who looks", not controls and
                 all(code == 0 for code, _, _ in said[:2] + said[3:]), (controls, said))
        tap.case("... nor of who reads the log", "i??31m? attempt 1 of 15" in said[2][2],
                 said[2])
        tap.case("what is harmless is shown as it is", "\u00e4\n" in said[1][1] and
                 r"i\xc2\x9b31m\xff" in said[1][1] and r"out\xc2\x9b1m" in said[4][1], said)


def several_alike():
    """Ids of which one begins like others."""
    with Place() as at:
        for i in range(7):
            at.run("enqueue", "--id", f"order-{i}", "x")
        at.run("enqueue", "--id", "order-1-b", "y")
        code, _, err = at.run("worker", "show", "order")
        tap.case("show: several begin like this, and are named", code == 1 and
                 "8 messages begin with `order`: expected one\n  order-0\n" in err and
                 err.endswith("\n  and 3 more\n"), (code, err))
        code, out, err = at.run("worker", "show", "order-1")
        tap.case("show: one that is meant, and begins like another", code == 0 and
                 out.count("order-1") == 1 and "order-1-b" not in out, (code, out, err))
        at.run("worker", "--until-empty", "--", "sh", "-c", "exit 65")
        code, out, err = at.run("worker", "redrive", "order-1")
        tap.case("redrive: one that is meant, and begins like another",
                 (code, out) == (0, "brought back 1 in default\n"), (code, out, err))
        code, _, err = at.run("worker", "show", "order-1")
        tap.case("show: a live one that begins like a dead one", code == 0, err)


def at_night():
    """What `ls` says to somebody who knows nothing yet."""
    with Place() as at:
        at.run("enqueue", "x")
        out = at.run("worker", "ls")[1]
        tap.case("ls: nobody handles them", "  workers  0; start one" in out, out)
        p = at.start("worker", "-v", "--", "sh", "-c", "exit 7")
        until(lambda: at.counts().get("later") == 1)
        out = at.run("worker", "ls")[1]
        error = at.counts()["messages"][0].get("last_error")
        end(p)
        tap.case("ls: what the last attempt came to", error == "exit 7" and re.search(
            r"later    1 attempt   in \d\.\ds, after exit 7  x\n", out), (error, out))
        at.run("enqueue", "--queue", "away", "--lines", text="1\n2\n")
        p = at.start("worker", "--queue", "away", "--to", "http://127.0.0.1:9/")
        paused = until(lambda: "they run nothing: paused?" in
                       at.run("worker", "ls", "--queue", "away")[1])
        end(p)
        tap.case("ls: nothing is handled although a worker runs", paused,
                 at.run("worker", "ls", "--queue", "away")[1])


def damaged():
    with Place() as at:
        at.run("enqueue", "x")
        with open(at.path("bide", "queue.db"), "r+b") as f:
            f.write(b"not a database at all")
        for suffix in ("-wal", "-shm"):
            if os.path.exists(at.path("bide", "queue.db" + suffix)):
                os.unlink(at.path("bide", "queue.db" + suffix))
        before = os.path.getsize(at.path("bide", "queue.db"))
        code, _, err = at.run("worker", "--until-empty", "--", "true")
        tap.case("a damaged database is said, and left as it is",
                 code == 2 and "queue.db" in err and "not" in err and
                 os.path.getsize(at.path("bide", "queue.db")) == before, f"{code} {err}")
        os.makedirs(at.path("other"))
        with sqlite3.connect(at.path("other", "x.db")) as db:
            db.execute("CREATE TABLE t(x)")
        db.close()
        code, _, err = at.run("enqueue", "--broker", "sqlite:other/x.db", "x")
        tap.case("another program's database is left alone",
                 code == 2 and "another program" in err, err)


def full():
    """A file system of 1 MiB, where the test may make one."""
    with Place() as at:
        inside = """
import json, os, subprocess, sys
bide, place = sys.argv[1:3]
env = {**os.environ, "XDG_STATE_HOME": place}
def run(*args, body=b""):
    return subprocess.run([bide, *args], input=body, env=env, capture_output=True)
def waiting():
    return json.loads(run("worker", "ls", "--json", "--limit", "0").stdout)["waiting"]
n = 0
while (p := run("enqueue", body=b"x" * 100000)).returncode == 0 and n < 50:
    n += 1
w = subprocess.Popen([bide, "worker", "--until-empty", "--", "true"], env=env,
                     stderr=subprocess.PIPE)
said = b""
while b"no space" not in said and (line := w.stderr.readline()):
    said += line
kept = waiting()
subprocess.run(["mount", "-o", "remount,size=9m", place])
w.communicate()
print(json.dumps([n, p.returncode, p.stderr.decode(), said.decode(), kept, w.returncode,
                  waiting()]))
"""
        p = subprocess.run(["unshare", "-m", "sh", "-c",
                            'mount -t tmpfs -o size=1m tmpfs "$1" && shift && exec "$@"', "sh",
                            at.dir, sys.executable, "-c", inside, BIDE, at.dir], capture_output=True,
                           timeout=LIMIT)
        if not p.stdout:
            print("# no file system can be made here: not shown", p.stderr[-200:])
            return
        n, code, err, said, kept, end_code, left = json.loads(p.stdout)
        tap.case("a full disk: enqueue says so, and that nothing was queued", n > 0 and
                 code == 1 and "no space left" in err and "nothing was queued" in err, err)
        tap.case("a full disk: the worker says so, and goes on when there is room",
                 "no space left" in said and kept == n and (end_code, left) == (0, 0),
                 (said, n, kept, end_code, left))


def replaced():
    """Somebody removes the file under a worker, and makes a new one."""
    with Place() as at:
        at.run("enqueue", "one")
        p = at.start("worker", "--", "true")
        until(lambda: at.counts()["waiting"] + at.counts()["running"] == 0)
        for name in os.listdir(at.path("bide")):
            os.unlink(at.path("bide", name))
        at.run("enqueue", "two")
        hears(p, b"was moved, removed or replaced")
        _, _, err = end(p)
        tap.case("a file that was replaced is noticed", "was moved, removed or replaced" in
                 err, err)
        code, _, err = at.run("worker", "--until-empty", "--", "true")
        tap.case("... and whoever starts again finds the new one", code == 0 and
                 at.counts()["waiting"] == 0, err)


def log_removed():
    """Somebody removes what is beside the file under a worker: a put would go to a new log,
    and the worker's own log be nobody's."""
    with Place() as at:
        at.run("enqueue", "one")
        p = at.start("worker", "--", "true")
        until(lambda: at.counts()["waiting"] + at.counts()["running"] == 0)
        for suffix in ("-wal", "-shm"):
            os.unlink(at.path("bide", "queue.db" + suffix))
        os.set_blocking(p.stderr.fileno(), False)
        said = []

        def noticed():
            said.append(p.stderr.read() or b"")
            return b"-shm, was moved or removed" in b"".join(said)
        tap.case("a log that was removed is noticed", until(noticed), said)
        end(p)
        tap.case("... what was done is done", at.counts()["waiting"] == 0, at.counts())
        at.run("enqueue", "two")
        code, _, err = at.run("worker", "--until-empty", "--", "true")
        tap.case("... and whoever starts again goes on", code == 0 and
                 at.counts()["waiting"] == 0, err)


def others_folder():
    with Place() as at:
        os.mkdir(at.path("bide"))
        os.chmod(at.path("bide"), 0o777)
        code, _, err = at.run("enqueue", "x")
        tap.case("a folder that everybody may write is no place for a queue",
                 code == 2 and "everybody" in err and not os.listdir(at.path("bide")), err)


# ===== handlers that misbehave =====

def misbehaving():
    with Place() as at:
        at.run("enqueue", "x")
        p = at.start("worker", "--until-empty", "--", "sh", "-c",
                     "head -c 200000000 /dev/zero | tr '\\0' x; echo the end")
        out, _ = p.communicate(timeout=LIMIT)
        tap.case("a flood of output is passed on up to a limit",
                 p.returncode == 0 and (1 << 20) <= len(out) < (1 << 20) + 1000 and
                 b"not shown" in out, (p.returncode, len(out)))
        at.run("enqueue", "x")
        code, _, _ = at.run("worker", "--until-empty", "--", "sh", "-c",
                            "sleep 1000 & echo $! > child; exit 0")
        pid = int(at.read("child"))
        tap.case("what a handler leaves behind is ended", code == 0 and
                 until(lambda: not alive(pid)), pid)
        at.run("enqueue", "--lines", text="1\n2\n3\n")
        p = at.start("worker", "--", "sh", "-c",
                     "setsid sh -c 'echo $$ >> away; sleep 0.2' > /dev/null 2>&1 &"
                     "while ! test -s away; do sleep 0.01; done")
        until(lambda: at.counts()["waiting"] + at.counts()["running"] == 0)
        pids = [int(n) for n in at.read("away").split()]
        tap.case("what has left its group is waited for", len(pids) > 0 and until(
            lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids)), pids)
        end(p)
        at.run("enqueue", "x")
        p = at.start("worker", "-v", "--attempt-timeout", "300ms", "--kill-after", "200ms",
                     "--", "sh", "-c", "trap '' TERM; sleep 1000 & wait; wait; sleep 1000")
        done = until(lambda: at.counts().get("later") == 1)
        code, _, err = end(p)
        tap.case("one that ignores TERM is killed", done and code == 0 and
                 "timeout, again in" in err, err)


def too_much_for_an_environment():
    """Its own fault: it dies, and nobody else waits."""
    with Place() as at:
        many = [w for i in range(32) for w in ("-a", f"a{i}={'x' * 4088}")]
        at.run("enqueue", *many, "large")
        at.run("enqueue", "small")
        p = subprocess.run(["sh", "-c", "ulimit -s 256; exec \"$@\"", "sh", BIDE, "worker",
                            "--until-empty", "-v", "--", "cat"], cwd=at.dir, env=at.env,
                           capture_output=True, timeout=LIMIT)
        c = at.counts()
        tap.case("attributes that no environment holds kill their message alone",
                 p.returncode == 1 and p.stdout == b"small" and b"paused" not in p.stderr and
                 c["dead_by_reason"] == {"permanent": 1}, (p, c))


def handler_away():
    with Place() as at:
        at.run("enqueue", "--lines", text="".join(f"{i}\n" for i in range(50)))
        tool = at.path("tool")
        with open(tool, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho $BIDE_ATTEMPT >> attempts\n")
        os.chmod(tool, 0o755)
        p = at.start("worker", "-v", "--", tool)
        until(lambda: at.counts()["waiting"] + at.counts()["running"] == 0)
        os.rename(tool, tool + ".gone")
        at.run("enqueue", "--lines", text="".join(f"{i}\n" for i in range(50)))
        hears(p, b"paused: cannot start")
        time.sleep(3)  # to be wrong in, not to be right
        c = at.counts()
        tap.case("the handler is gone: nothing dies, all stay in the queue",
                 c["dead"] == 0 and c["waiting"] + c["later"] + c["running"] == 50, c)
        os.rename(tool + ".gone", tool)
        back = until(lambda: at.counts()["waiting"] + at.counts()["later"] +
                     at.counts()["running"] == 0)
        code, _, err = end(p)
        attempts = at.read("attempts").split()
        tap.case("it is back: all are handled, no attempt was counted",
                 back and len(attempts) == 100 and set(attempts) == {"1"},
                 (at.counts(), len(attempts), set(attempts)))
        tap.case("it says why it pauses, and that it goes on",
                 "paused: cannot start" in err and "the handler is back" in err, err)


class Origin(http.server.BaseHTTPRequestHandler):
    requests, answer = [], (200, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Origin.requests.append((self.headers, body))
        status, fields = Origin.answer
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def over_http():
    with Place() as at:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/jobs"
        at.run("enqueue", "--id", 'a"b', "-a", "content-type=text/plain", "-a", "x=1",
               text=b"\0body")
        Origin.answer = (500, {})
        p = at.start("worker", "-v", "--base", "10ms", "--to", url)
        until(lambda: len(Origin.requests) >= 2)
        Origin.answer = (200, {})
        done = until(lambda: at.counts()["waiting"] + at.counts()["later"] +
                     at.counts()["running"] == 0)
        keys = {h["Idempotency-Key"] for h, _ in Origin.requests}
        first = Origin.requests[0][0]
        tap.case("over HTTP: one key on every delivery", done and
                 keys == {'"default:a%22b"'}, keys)
        tap.case("over HTTP: body and attributes", Origin.requests[0][1] == b"\0body" and
                 first["Content-Type"] == "text/plain" and first["X-Bide-Attr-x"] == "1" and
                 first["X-Bide-Attempt"] == "1; max=15", first)
        Origin.requests.clear()
        Origin.answer = (429, {"Retry-After": "2"})
        at.run("enqueue", "--lines", text="".join(f"{i}\n" for i in range(100)))
        until(lambda: len(Origin.requests) > 0)
        time.sleep(1)
        seen, c = len(Origin.requests), at.counts()
        tap.case("throttled: consumption pauses, nothing counts",
                 seen <= 40 and c["dead"] == 0 and
                 c["waiting"] + c["later"] + c["running"] == 100, (seen, c))
        Origin.answer = (200, {})
        done = until(lambda: at.counts()["waiting"] + at.counts()["later"] +
                     at.counts()["running"] == 0)
        attempts = {h["X-Bide-Attempt"] for h, _ in Origin.requests}
        tap.case("no longer throttled: all are handled", done and
                 attempts == {"1; max=15"}, (at.counts(), attempts))
        server.shutdown()
        server.server_close()
        thread.join()
        at.run("enqueue", "refused")
        hears(p, b"paused: Couldn't connect to server")
        c = at.counts()
        code, _, err = end(p)
        tap.case("refused: it says where it could not connect to",
                 "paused: Couldn't connect to server (http://127.0.0.1:" in err, err)
        tap.case("refused: paused, and not counted", code == 0 and c["dead"] == 0 and
                 err.count("paused:") >= 2 and "refused" not in str(c), err)


class Strange(threading.Thread):
    """Answers each connection in its own way, over TLS or not, until it is closed."""

    def __init__(self, answer, tls=None):
        super().__init__(daemon=True)
        self.answer, self.tls, self.asked = answer, tls, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.open = []
        self.start()

    def run(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            self.asked += 1
            try:
                if self.tls:
                    c = self.tls.wrap_socket(c, server_side=True)
                c.recv(65536)
                c.sendall(self.answer)
            except OSError:
                pass
            self.open.append(c)  # and says no more
            if self.answer.endswith(b"\n"):
                c.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.join()
        for c in self.open:
            c.close()


def meets(answer, *flags, tls=None, says=None):
    """Three messages, and a handler that answers so: what is left when the worker has said
    this, or when nothing is, and what it said."""
    with Place() as at:
        at.run("enqueue", "--lines", text="1\n2\n3\n")
        server = Strange(answer, tls)
        scheme = "https" if tls else "http"
        p = at.start("worker", "-v", *flags, "--to", f"{scheme}://127.0.0.1:{server.port}/")
        if says:
            hears(p, says)
            time.sleep(1)  # to be wrong in, not to be right
        else:
            until(lambda: not at.counts()["messages"])
        code, out, _ = at.run("worker", "ls", "--json")
        _, _, err = end(p)
        server.close()
        return json.loads(out), err


def strange_over_http():
    def all_left(c):
        return c["dead"] == 0 and len(c["messages"]) == 3

    for status in 301, 302, 307, 308, 304:
        c, err = meets(f"HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:1/new\r\n"
                       "Content-Length: 0\r\nConnection: close\r\n\r\n".encode(),
                       says=b"paused:")
        tap.case(f"over HTTP: {status} is not done: paused, nothing is lost", all_left(c) and
                 f"paused: HTTP {status}" in err and (status == 304 or "/new" in err),
                 (c, err))
    c, err = meets(b"HTTP/1.1 303 See other\r\nLocation: /job/1\r\nContent-Length: 0\r\n"
                   b"Connection: close\r\n\r\n")
    tap.case("over HTTP: 303 is done", not c["messages"] and c["dead"] == 0, (c, err))
    for what, answer in ("never answers", b""), ("never ends its answer",
                                                 b"HTTP/1.1 200 OK\r\n\r\nmore"):
        for limit in "--attempt-timeout", "--deadline":
            c, err = meets(answer, limit, "100ms", says=b"imeout")
            tap.case(f"over HTTP: a handler that {what} meets {limit}",
                     "Timeout" in err or "timeout" in err, (c, err))
    for status in 429, 503:
        c, err = meets(f"HTTP/1.1 {status} No\r\nRetry-After: 31536000\r\n"
                       "Content-Length: 0\r\nConnection: close\r\n\r\n".encode(),
                       "--set", "retry_after.max=1m", says=b"again in")
        latest = max(m["due_ms"] for m in c["messages"])
        queued = min(m["queued_ms"] for m in c["messages"])
        tap.case(f"over HTTP: {status} puts nothing off beyond retry_after.max",
                 all_left(c) and latest - queued < 120000, (c, err))
    c, err = meets(b"HTTP/1.1 409 Conflict\r\nX-Bide-Reason: idempotency_in_progress\r\n"
                   b"Retry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                   "--set", "attempts=1", says=b"does not count")
    tap.case("over HTTP: what is still in progress there does not count", all_left(c) and
             "does not count" in err, (c, err))
    c, err = meets(b"220 smtp.example.net ESMTP\r\n", says=b"again in")
    tap.case("over HTTP: another program on the port kills no message", all_left(c),
             (c, err))
    with tempfile.TemporaryDirectory() as directory:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate.make(directory, "unknown"))
        c, err = meets(b"", tls=context, says=b"paused:")
    tap.case("over HTTPS: a certificate that nobody knows kills no message",
             all_left(c) and "paused:" in err, (c, err))


# ===== workers that die =====

def killed():
    with Place() as at:
        at.run("enqueue", "--lines", text="1\n2\n3\n")
        slow = ["worker", "-v", "--at-once", "4", "--", "sh", "-c",
                "sleep 1000 & echo start $$ $! >> log; wait"]
        p = at.start(*slow)
        until(lambda: at.read("log").count("start") == 3)
        p.kill()
        p.communicate()
        begun = time.monotonic()
        q = at.start("worker", "-v", "--", "sh", "-c", "cat >> done; echo >> done")
        ok = until(lambda: len(at.read("done").split()) == 3)
        took = time.monotonic() - begun
        code, _, err = end(q)
        tap.case("killed with -9: its messages run elsewhere", ok and code == 0 and
                 "rescued 3 messages" in err, f"{took:.1f} s {err}")
        pids = [int(n) for n in at.read("log").split() if n.isdigit()]
        tap.case("its handlers are dead, and what they have started", len(pids) == 6 and
                 until(lambda: not any(map(alive, pids))), pids)
        at.run("enqueue", "poison")
        for death in range(3):
            p = at.start("worker", "--", "sh", "-c",
                         "kill -9 $PPID; sleep 1000")
            p.communicate(timeout=LIMIT)
        q = at.start("worker", "--", "true")
        dead = until(lambda: at.counts()["dead"] == 1)
        end(q)
        c = at.counts()
        tap.case("a message that kills its worker is dead after three deaths",
                 dead and c["dead_by_reason"] == {"crashed": 1}, c)


def frozen():
    """Frozen for longer than its lease. The lease is 30 s: the longest case."""
    with Place() as at:
        at.run("enqueue", "x")
        p = at.start("worker", "-v", "--", "sh", "-c", "echo a >> log; sleep 3; echo b >> log")
        until(lambda: at.read("log").count("a") == 1)
        p.send_signal(signal.SIGSTOP)
        q = at.start("worker", "-v", "--", "sh", "-c", "echo c >> log")
        ok = until(lambda: "c" in at.read("log"))
        p.send_signal(signal.SIGCONT)
        ok = ok and until(lambda: at.counts()["running"] == 0)
        time.sleep(1)
        _, _, err = end(p)
        end(q)
        c = at.counts()
        tap.case("frozen past its lease: the other one's word stands, its own is refused",
                 ok and c["waiting"] + c["later"] + c["dead"] + c["running"] == 0 and
                 "lost to another worker" in err, (c, err))


def drained():
    with Place() as at:
        at.run("enqueue", "--lines", text="1\n2\n3\n4\n5\n6\n")
        p = at.start("worker", "-v", "--at-once", "2", "--", "sh", "-c",
                     "echo s >> log; while ! test -e go; do sleep 0.1; done; echo e >> log")
        until(lambda: at.read("log").count("s") == 2)
        p.send_signal(signal.SIGTERM)
        until(lambda: at.counts()["running"] == 2 and at.counts()["waiting"] == 4)
        still = p.poll() is None
        with open(at.path("go"), "w", encoding="utf-8"):
            pass
        _, err = p.communicate(timeout=LIMIT)
        c = at.counts()
        tap.case("SIGTERM: what runs may end, nothing new is begun", still and
                 p.returncode == 0 and at.read("log").count("e") == 2 and
                 c["waiting"] == 4 and c["running"] == 0, (c, err))
        os.unlink(at.path("go"))
        p = at.start("worker", "-v", "--at-once", "2", "--drain", "500ms", "--", "sh", "-c",
                     "echo t >> log; sleep 1000")
        until(lambda: at.read("log").count("t") == 2)
        p.send_signal(signal.SIGTERM)
        _, err = p.communicate(timeout=LIMIT)
        c = at.counts()
        tap.case("what does not end is given back, no attempt lost", p.returncode == 0 and
                 c["waiting"] == 4 and all(m["attempts"] == 0 for m in c["messages"]), c)
        p = at.start("worker", "-v", "--at-once", "2", "--drain", "1h", "--", "sh", "-c",
                     "trap '' TERM; echo u >> log; sleep 1000; sleep 1000")
        until(lambda: at.read("log").count("u") == 2)
        p.send_signal(signal.SIGTERM)
        hears(p, b"draining")
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=LIMIT)
        c = at.counts()
        tap.case("a second signal: now", p.returncode == 0 and c["waiting"] == 4, c)


def drained_without_broker():
    """The broker is away, and so is whoever told us to stop, soon."""
    with Place() as at, servers.Redis(durable=True) as redis:
        url = ["--broker", f"redis://127.0.0.1:{redis.port}"]
        at.run("enqueue", *url, "x")
        p = at.start("worker", "-v", *url, "--drain", "1s", "--", "sh", "-c",
                     "echo s >> log; sleep 1000")
        until(lambda: "s" in at.read("log"))
        redis.crash()
        code, _, err = end(p)
        redis.start()
        code2, out, _ = at.run("worker", "ls", *url, "--json")
        c = json.loads(out) if code2 == 0 else {}
        tap.case("SIGTERM while the broker is away: the worker ends, nothing is lost",
                 code == 0 and c.get("waiting", 0) + c.get("running", 0) == 1 and
                 all(m["attempts"] == 0 for m in c["messages"]), (code, err, c))


def said_well():
    """Small things that a newcomer stumbled over."""
    with Place() as at:
        at.run("enqueue", "x")
        code, out, _ = at.run("worker", "redrive")
        tap.case("redrive with nothing dead says so",
                 (code, out) == (0, "nothing is dead in default\n"), (code, out))
        at.run("worker", "--until-empty", "--", "sh", "-c", "exit 65")
        code, out, err = at.run("worker", "redrive", "--reason", "permanant")
        tap.case("redrive with a mistyped reason: 1, and what was meant", code == 1 and
                 out == "" and "did you mean `permanent`?" in err, (code, out, err))
        code, out, _ = at.run("worker", "redrive", "--dry-run")
        tap.case("redrive --dry-run says what would be", code == 0 and
                 out == "1 dead message would be brought back in default\n", out)
        for name in ("./nothere", "nothere"):
            code, _, err = at.run("worker", "--", name)
            tap.case(f"{name}: no subcommand is suggested", code == 2 and
                     "not found" in err and "expected" not in err and "ls" not in err, err)
        code, _, err = at.run("worker", "--until-empty", "--admin", "x", "--", "true")
        tap.case("--admin is judged before the worker says that it starts",
                 code == 2 and "waiting" not in err, err)
        code, _, err = at.run("worker", "--until-empty", "--admin", "0", "--", "true")
        tap.case("--admin takes a port", code == 0 and re.search(
            r"admin endpoint at http://127\.0\.0\.1:[1-9]\d*/\n", err), err)


def lowered_limit():
    with Place() as at:
        at.run("enqueue", "--id", "m", "x")
        p = at.start("worker", "--base", "1ms", "--cap", "10ms", "--", "sh", "-c",
                     "echo r >> log; test $BIDE_ATTEMPT = 3 && sleep 1000; exit 1")
        until(lambda: at.read("log").count("r") == 3)
        end(p, signal.SIGKILL)
        code, _, err = at.run("worker", "-v", "--until-empty", "--attempts", "2", "--",
                              "sh", "-c", "echo r >> log")
        tap.case("a limit that was lowered: dead, and not run again",
                 code == 1 and at.read("log").count("r") == 3 and
                 "m attempt 2 of 2: not run again, dead: attempts\n" in err,
                 (code, err, at.read("log")))
        out = at.run("worker", "show", "m")[1]
        tap.case("a limit that was lowered: what it died of is kept",
                 re.search(r"attempts +2\n", out) and "exit 1" in out, out)


def fits_the_terminal():
    with Place() as at:
        at.run("enqueue", text="")
        at.run("enqueue", "word " * 30)
        for columns in "20", "40", "60", "80", "200":
            lines = at.run("worker", "ls", COLUMNS=columns)[1].splitlines()[6:]
            tap.case(f"ls in {columns} columns: no line is longer, or ends in blanks",
                     len(lines) == 2 and all(len(x) <= max(int(columns), 45) for x in lines) and
                     not lines[0].endswith(" ") and
                     ("word word" in lines[1]) == (int(columns) >= 60), lines)


def on_redis():
    """What is refused on SQLite is refused here as well."""
    with Place() as at, servers.Redis() as redis:
        url = ["--broker", redis.tcp]
        code, out, err = at.run("enqueue", *url, "x")
        tap.case("redis that keeps nothing: a producer is refused, with the setting",
                 code == 1 and out == "" and "appendonly is no" in err and
                 "CONFIG SET appendonly yes" in err and at.run(
                     "worker", "ls", *url, "--json")[1].count('"id"') == 0, (code, out, err))
        tap.case("redis that keeps nothing: all settings at once",
                 "CONFIG SET appendfsync always" in err, err)
        redis.ask("CONFIG SET appendonly yes")
        redis.ask("CONFIG SET appendfsync always")
        code, out, err = at.run("enqueue", *url, "x")
        tap.case("redis that keeps everything: queued", code == 0, (out, err))
        code, _, err = at.run("worker", *url, "-q", "defalt", "--", "true")
        tap.case("redis: a name that is close to another is refused",
                 code == 2 and "did you mean `default`?" in err, (code, err))
        code, _, err = at.run("worker", *url, "-q", "defalt", "--create", "--until-empty",
                              "--", "true")
        tap.case("redis: --create makes it", code == 0 and "is new" in err, (code, err))


def full_redis():
    """A producer is refused; what is there is handled, and so makes room."""
    with Place() as at, servers.Redis(durable=True) as redis:
        url = ["--broker", redis.tcp]
        at.run("enqueue", *url, "--lines", text="done\nagain\ndead\n")
        redis.ask("CONFIG SET maxmemory 1")
        code, _, err = at.run("enqueue", *url, "x")
        tap.case("a full Redis: enqueue says so, and that nothing was queued",
                 code == 1 and "OOM" in err and "nothing was queued" in err, (code, err))
        code, _, err = at.run("worker", *url, "-v", "-n", "1", "--until-empty", "--base", "1ms",
                              "--", "sh", "-c", "read x; echo $x >> log; case $x in dead) exit 65;; "
                              "again) test $BIDE_ATTEMPT = 2;; esac")
        c = json.loads(at.run("worker", "ls", *url, "--json")[1])
        tap.case("a full Redis: a worker goes on", code == 1 and "OOM" not in err and
                 sorted(at.read("log").split()) == ["again", "again", "dead", "done"] and
                 c["dead_by_reason"] == {"permanent": 1} and
                 c["waiting"] + c["later"] + c["running"] == 0, (code, err, c))


def nobody_reads():
    """Standard error that nobody reads costs lines, not the lease; output of commands
    that nobody reads holds up those commands, but not the end."""
    with Place() as at:
        at.run("enqueue", "--lines", text="x\n" * 2000)
        p = at.start("worker", "-v", "--json", "--", "true")
        tap.case("nobody reads the log: all are handled",
                 until(lambda: at.counts().get("waiting") == 0), at.counts())
        p.send_signal(signal.SIGTERM)
        tap.case("nobody reads the log: the worker ends", p.wait(LIMIT) == 0)
        p.communicate()
    with Place() as at:
        at.run("enqueue", "--lines", text="x\n" * 20)
        p = at.start("worker", "--at-once", "2", "--", "sh", "-c",
                     "head -c 200000 /dev/zero; touch wrote")
        until(lambda: at.counts().get("running") == 2)
        # sent until it ends: two at once may arrive as one, and one alone drains for 25 s
        ended = until(lambda: p.poll() is not None or p.send_signal(signal.SIGTERM), 20)
        tap.case("nobody reads the output: a second signal ends the worker", ended and
                 p.returncode == 0, p.returncode)
        if not ended:
            p.kill()
        p.communicate()
        tap.case("nobody reads the output: nothing is lost",
                 at.counts().get("waiting") == 20, at.counts())
    with Place() as at:
        at.run("enqueue", "x")
        p = at.start("worker", "--until-empty", "--", "sh", "-c",
                     "head -c 300000 /dev/zero | tr '\\0' y")
        out = b""
        while piece := os.read(p.stdout.fileno(), 4096):
            out += piece
            time.sleep(0.001)
        tap.case("output that is read slowly arrives whole", p.wait(LIMIT) == 0 and
                 out == b"y" * 300000, (p.returncode, len(out)))
        p.communicate()


def redriven():
    with Place() as at:
        at.run("enqueue", "--lines", text="".join(f"{i}\n" for i in range(25)))
        at.run("worker", "--until-empty", "--", "sh", "-c", "exit 65")
        code, out, _ = at.run("worker", "redrive", "--dry-run")
        tap.case("redrive --dry-run says how many, and changes nothing",
                 "25 dead messages would be" in out and at.counts()["dead"] == 25, out)
        code, _, err = at.run("worker", "redrive")
        tap.case("redrive without a worker changes nothing",
                 code == 1 and at.counts()["dead"] == 25 and "start one" in err, err)
        code, out, _ = at.run("worker", "redrive", "--reason", "attempts")
        tap.case("redrive by reason", code == 0 and out.startswith("none of the dead"), out)
        code, out, err = at.run("worker", "redrive", "--reason", "permanant")
        tap.case("a reason that nothing died of: those that are there",
                 code == 1 and "25 of `permanent`" in err, err)
        code, out, _ = at.run("worker", "redrive", "--dry-run", "--since", "1h")
        after = at.run("worker", "redrive", "--dry-run", "--until", "1h")
        tap.case("redrive by time", out.startswith("25 dead") and after[1].startswith("0 dead"),
                 (out, after))
        p = at.start("worker", "--", "sh", "-c", "exit 65")
        until(lambda: at.counts()["workers"] == 1)
        code, out, err = at.run("worker", "redrive", "--rate", "100/s")
        tap.case("redrive stops after the first ten, if most fail",
                 code == 1 and "15 stay dead" in err and at.counts()["dead"] == 25,
                 err + str(at.counts()))
        end(p)
        p = at.start("worker", "--", "sh", "-c", "echo $BIDE_IDEMPOTENCY_KEY >> keys")
        until(lambda: at.counts()["workers"] == 1)
        code, out, err = at.run("worker", "redrive", "--rate", "100/s", "--fresh-key")
        done = until(lambda: len(at.read("keys").split()) == 25)
        end(p)
        keys = at.read("keys").split()
        tap.case("redrive brings all back, with fresh keys", code == 0 and done and
                 out == "brought back 25 in default\n" and len(set(keys)) == 25 and
                 all(k.endswith(":1") for k in keys), (out, err))
        at.run("enqueue", "--lines", text="".join(f"{i}\n" for i in range(40)))
        at.run("worker", "--until-empty", "--", "sh", "-c", "exit 65")
        p = at.start("worker", "--", "true")
        until(lambda: at.counts()["workers"] == 1)
        q = at.start("worker", "redrive", "--rate", "5/s")
        until(lambda: at.counts()["dead"] < 28)
        q.send_signal(signal.SIGINT)
        q.communicate(timeout=LIMIT)
        until(lambda: at.counts()["waiting"] + at.counts()["running"] == 0)
        dead = at.counts()["dead"]
        code, out, _ = at.run("worker", "redrive", "--rate", "100/s")
        tap.case("redrive that is interrupted leaves the rest dead, for the next one",
                 0 < dead < 30 and code == 0 and out == f"brought back {dead} in default\n",
                 (dead, out))
        end(p)


def watched():
    with Place() as at:
        at.run("enqueue", "--lines", text="1\n2\n3\n")
        at.run("enqueue", "--delay", "1h", "later")
        p = at.start("worker", "--admin", "127.0.0.1:0", "--", "sh", "-c",
                     "read x; test $x != 2 || exit 65")
        head = p.stderr.readline() + p.stderr.readline()
        port = int(re.search(rb"http://127.0.0.1:(\d+)/", head).group(1))

        def get(path):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}",
                                            timeout=LIMIT) as r:
                    return r.read().decode()
            except OSError as e:
                return str(e)
        ok = until(lambda: 'bide_worker_dead_total{reason="permanent"} 1' in
                   get("/metrics") and "bide_worker_done_total 2" in get("/metrics") and
                   'bide_queue_messages{state="later"} 1' in get("/metrics"))
        metrics = get("/metrics")
        tap.case("metrics say what was done", ok, (p.poll(), head, metrics))
        root = os.path.join(tap.HERE, "..", "..", "docs")
        with open(os.path.join(root, "prometheus", "worker.yml"), encoding="utf-8") as f:
            alerts = set(re.findall(r"\bbide_(?:queue|worker)_\w+", f.read()))
        there = set(re.findall(r"^# TYPE (bide_(?:queue|worker)_\w+)", metrics, re.M))
        with open(os.path.join(root, "metrics.md"), encoding="utf-8") as f:
            listed = set(re.findall(r"`(bide_(?:queue|worker)_\w+)`", f.read()))
        tap.case("the alerts and the page name what is there", alerts <= there and
                 listed == there, (alerts - there, listed ^ there))
        if shutil.which("promtool"):
            q = subprocess.run(["promtool", "check", "rules", "worker.yml"], check=False,
                               cwd=os.path.join(root, "prometheus"), capture_output=True)
            tap.case("the alerts are valid", q.returncode == 0, q.stderr + q.stdout)
        tap.case("/healthz is green", "ok" in get("/healthz").lower(), get("/healthz"))
        end(p)


def checked():
    with Place() as at:
        at.run("enqueue", "x")
        code, out, _ = at.run("worker", "check")
        tap.case("check has no objections to SQLite", code == 0 and "intact" in out, out)


CASES = [two_commands, fits_the_terminal, enqueue_ways, exit_codes, bad_input, hostile, several_alike, at_night,
         damaged, full,
         replaced, log_removed, others_folder, misbehaving,
         too_much_for_an_environment, handler_away, over_http, strange_over_http, killed,
         drained, drained_without_broker, said_well, lowered_limit, on_redis, full_redis, nobody_reads,
         redriven, watched, checked]
if os.environ.get("BIDE_TEST_SLOW"):
    CASES.append(frozen)
for each in CASES:
    if len(sys.argv) < 3 or each.__name__ in sys.argv[2:]:
        each()
tap.finish()
