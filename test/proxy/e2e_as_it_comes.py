#!/usr/bin/env python3
"""e2e_as_it_comes.py BIDE: gRPC as docs/grpc.md and the examples have it, each line as it
is typed, in one shell: what fails without the sidecar, what does not through it, how often
the handler ran; and HTTP/2 on the port of HTTP/1.1. In a network of its own, for the ports
are those of the examples."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

from parts import run, tap, until

BIDE = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = "/usr/bin/python3"  # for which Debian has packaged gRPC
# With processes of its own: whoever ends the test ends its shell's jobs, which are groups
# of their own.
ALONE = ["unshare", "-rnpf", "--kill-child"]


def enter():
    if os.environ.get("BIDE_TEST_NAMESPACE") == "1":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if not shutil.which("unshare") or not shutil.which("ip") or subprocess.run(
            [*ALONE, "ip", "link", "set", "lo", "up"], capture_output=True,
            check=False).returncode != 0:
        print("1..0 # SKIP namespaces cannot be made here")
        sys.exit(0)
    if subprocess.run([PYTHON, "-c", "import grpc"], capture_output=True,
                      check=False).returncode != 0:
        print("1..0 # SKIP no python3-grpcio")
        sys.exit(0)
    os.environ["BIDE_TEST_NAMESPACE"] = "1"
    os.execvp("unshare", [*ALONE, sys.executable, *sys.argv])


class Shell:
    """One in which lines are typed, with job control."""

    def __init__(self, work):
        os.symlink(BIDE, os.path.join(work, "bide"))
        os.symlink(PYTHON, os.path.join(work, "python3"))
        self.process = subprocess.Popen(
            ["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, cwd=ROOT, env={**os.environ, "PATH": work + ":" + os.environ["PATH"]})
        self.types("set -m")

    def types(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def says(self, line):
        """All that is printed until it is done."""
        self.types(line)
        self.types("echo; echo it is done")
        said = ""
        for line in self.process.stdout:
            if line == "it is done\n":
                break
            said += line
        return said

    def ends(self):
        self.types("kill $(jobs -p); wait")
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def page():
    """What the sidecar answers, once it is there."""
    try:
        with urllib.request.urlopen("http://127.0.0.1:8080/", timeout=10) as r:
            return r.read()
    except OSError:
        return b""


def as_it_comes():
    with tempfile.TemporaryDirectory() as work:
        sh = Shell(work)
        sh.types("python3 examples/grpc/server.py 50051 --fail-every 20 & "
                 "bide proxy -c examples/grpc.yaml &")
        until(lambda: listens(50051) and listens(8080))
        said = sh.says("python3 examples/grpc/client.py 127.0.0.1:50051 1000")
        tap.case("without the sidecar: 950 OK, 50 UNAVAILABLE",
                 "950 OK, 50 UNAVAILABLE; the handler ran 1000 times" in said, said)
        said = sh.says("python3 examples/grpc/client.py 127.0.0.1:8080 1000")
        ran = re.search(r"1000 OK; the handler ran (\d+) times", said)
        # One that took longer than attempt_timeout is made again.
        tap.case("through it: 1000 OK; the handler ran 1052 times",
                 ran and 1052 <= int(ran[1]) <= 1060, said)
        # How long the next sidecar waits for this one is in e2e_taken.py.
        sh.says("kill %1 %2; wait")
        sh.types("python3 -m http.server 8000 & bide proxy -c examples/proxy.yaml &")
        until(lambda: b"Directory listing" in page())
        said = sh.says("curl -is --http2-prior-knowledge http://127.0.0.1:8080/")
        tap.case("curl: HTTP/2 200, the same port as 1.1", "HTTP/2 200" in said and
                 "Directory listing" in said, said)
        # Without TLS, --http2 asks for an upgrade to h2c, which stays HTTP/1.1.
        for flag, version in (("--http2-prior-knowledge", "2"), ("--http2", "1.1"),
                              ("--http1.1", "1.1")):
            said = sh.says(f"bide fetch -w '=%{{http_version}}' {flag} "
                           "http://127.0.0.1:8080/")
            tap.case(f"bide fetch {flag}", "Directory listing" in said and
                     said.rstrip().endswith(f"={version}"), said[-200:])
        sh.ends()


enter()
run(as_it_comes)
