"""What the tests of `bide proxy` share: the sidecar, and requests by hand. Nothing
that is asserted depends on how long anything takes."""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import tap
from fault import Fault  # noqa: F401 (for the tests)

BIDE = os.path.abspath(sys.argv[1])
FAST = "backoff: { base: 1ms, cap: 2ms }"
OPEN = (FAST + ", budget: { kind: off }, breaker: { kind: off }, "
        "unreachable: { wait: none }")
work = tempfile.TemporaryDirectory()


def config(endpoints, policy=OPEN, more="", upstream="", route="", top=""):
    """A policy file with one route and one upstream; `top` stands beside `proxy:`."""
    urls = ", ".join(f'"http://127.0.0.1:{port}"' for port in endpoints)
    return f"""
version: 1
{top}policies:
  default: {{ {policy} }}
proxy:
  listen: 127.0.0.1:0
{more}
  routes:
    - {{ upstream: up{route} }}
  upstreams:
    up: {{ endpoints: [{urls}]{upstream} }}
"""


class Sidecar:
    """The program, with a policy file; it tells where it listens."""
    made = 0

    def __init__(self, text, log=False, environment=None, **popen):
        Sidecar.made += 1
        self.file = os.path.join(work.name, f"p{Sidecar.made}.yaml")
        self.log = os.path.join(work.name, f"p{Sidecar.made}.jsonl")
        if log:
            text = text.replace("proxy:\n", f"proxy:\n  access_log: {self.log}\n")
        if "workers:" not in text:
            text = text.replace("proxy:\n", "proxy:\n  workers: 1\n")
        self.write(text)
        self.process = subprocess.Popen(
            [BIDE, "proxy", "-c", self.file], stderr=subprocess.PIPE,
            env=tap.environment(**(environment or {})), **popen)
        self.said = []
        self.port = None
        while self.port is None:
            line = self.process.stderr.readline().decode()
            if not line:
                raise SystemExit("not ok - it did not start: " +
                                 "".join(self.said))
            self.said.append(line)
            if "listening on 127.0.0.1:" in line:
                self.port = int(line.split("127.0.0.1:")[1].split()[0])
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.heard = threading.Condition()
        self.reader.start()

    def serving(self):
        """The processes that serve: those that the supervisor has started."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(x) for x in f.read().split()]

    @property
    def pid(self):
        """The one that serves; the program itself where nobody supervises."""
        return (self.serving() or [self.process.pid])[-1]

    def read(self):
        for line in self.process.stderr:
            with self.heard:
                self.said.append(line.decode())
                self.heard.notify_all()

    def write(self, text):
        self.text = text
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(text)

    def reload(self, text=None):
        """Has the file read again; gives what was said about it."""
        if text is not None:
            self.write(text)
        with self.heard:
            before = len(self.said)
            self.process.send_signal(signal.SIGHUP)
            self.heard.wait_for(lambda: any(
                "reloaded" in x or "was refused" in x
                for x in self.said[before:]), timeout=30)
            return "".join(self.said[before:])

    def request(self, method="GET", path="/", body=None, headers=None):
        """Status, header fields by lower-case name, body."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.request(method, path, body, headers or {})
        r = c.getresponse()
        data = r.read()
        c.close()
        return r.status, {k.lower(): v for k, v in r.getheaders()}, data

    def connect(self, receive_buffer=None):
        s = socket.socket()
        if receive_buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        s.settimeout(30)
        s.connect(("127.0.0.1", self.port))
        return s

    def raw(self, *pieces):
        """Sends bytes; gives all that comes until the connection is closed."""
        s = self.connect()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            s.sendall(piece)
        data = everything(s)
        s.close()
        return data

    def stop(self):
        """Ends it: its exit code, and the lines of its log."""
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.reader.join()
        if not os.path.exists(self.log):
            return code, []
        with open(self.log, encoding="utf-8") as f:
            return code, [json.loads(line) for line in f]


def everything(s):
    data = b""
    while True:
        try:
            piece = s.recv(65536)
        except ConnectionResetError:
            return data
        if not piece:
            return data
        data += piece


def ended(name, sidecar, *complaints):
    """The sidecar ends as told, without a word of complaint but these. Gives its log."""
    code, log = sidecar.stop()
    usual = ("listening", "ending", "reloaded") + complaints
    words = [line for line in sidecar.said if not any(u in line for u in usual)]
    tap.case(f"{name}: ends well", code == 0 and not words,
             f"{code}\n{''.join(words)}")
    return log
