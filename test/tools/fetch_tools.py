"""What the tests of `bide fetch` share: the fault server, a server that really
serves ranges, and the program with short waits. Nothing that is asserted
depends on how long anything takes."""
import hashlib
import http.server
import json
import os
import random
import subprocess
import sys
import tempfile
import threading

import tap
from fault import Fault  # noqa: F401 (for the tests)

BIDE = os.path.abspath(sys.argv[1])
FAST = ["--base", "1ms", "--cap", "2ms"]
PATTERN = b"abcdefghijklmnopqrstuvwxyz"

os.environ["no_proxy"] = "*"
work = tempfile.TemporaryDirectory()


def body(n, first=0):
    """What the fault server sends for n=..., from a place on."""
    return (PATTERN * (n // 26 + 2))[first:n]


class Ranges(http.server.ThreadingHTTPServer):
    """Serves random bytes with an ETag, by range, and breaks off as often and
    where it is told: `cuts` is a list of lengths, one for each request."""
    daemon_threads = True

    def __init__(self, size, cuts, seed=1, etag='"one"', modified=None):
        self.data = random.Random(seed).randbytes(size)
        self.etag, self.modified = etag, modified
        self.cuts, self.asked = list(cuts), []
        self.any_range = True  # without If-Range too, as servers do
        self.change = None  # called before each request, with the server
        super().__init__(("127.0.0.1", 0), RangesHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass  # whoever asked has heard enough

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/dir/file.bin"


class RangesHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        if server.change:
            server.change(server)
        wanted = self.headers.get("Range")
        condition = self.headers.get("If-Range")
        server.asked.append((wanted, condition))
        first = 0
        known = (server.etag, server.modified) + (None,) * server.any_range
        if wanted and condition in known:
            first = int(wanted.split("=")[1].rstrip("-"))
        part = server.data[first:]
        self.send_response(206 if first else 200)
        if server.etag:
            self.send_header("ETag", server.etag)
        if server.modified:
            self.send_header("Last-Modified", server.modified)
        if first:
            self.send_header("Content-Range", f"bytes {first}-"
                             f"{len(server.data) - 1}/{len(server.data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if server.cuts:
            part = part[:server.cuts.pop(0)]
            self.close_connection = True
        try:
            self.wfile.write(part)
        except OSError:  # whoever asked has heard enough
            self.close_connection = True


def fetch(*args, stdin=None, cwd=None, env=None, **more):
    """Runs `bide fetch` with short waits; strings are split at blanks. Gives
    exit code, stdout (bytes) and stderr (text)."""
    words = [w for a in args
             for w in (a.split(" ") if isinstance(a, str) else a)]
    source = {"input": stdin} if stdin is not None else \
        {"stdin": subprocess.DEVNULL}
    p = subprocess.run([BIDE, "fetch", *FAST, *words], cwd=cwd or work.name,
                       env=tap.environment(**(env or {})),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=100, **source, **more)
    return p.returncode, p.stdout, p.stderr.decode()


def summary(*args, **more):
    """Exit code, and what --log-file says of the only URL."""
    path = os.path.join(work.name, "summary.json")
    code, _, _ = fetch(*args, "--log-file", [path], **more)
    with open(path, encoding="utf-8") as f:
        return code, json.load(f)["transfers"][0]


def path(name):
    return os.path.join(work.name, name)


def read(name):
    """A file's bytes; None if it is not there."""
    try:
        with open(path(name), "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def write(name, data):
    with open(path(name), "wb") as f:
        f.write(data)
    return path(name)


def files():
    return sorted(os.listdir(work.name))


def digest(data):
    return None if data is None else hashlib.sha256(data).hexdigest()


def same(name, found, expected):
    tap.case(name, found == expected,
             f"expected {str(expected)[:2000]}\nfound    {str(found)[:2000]}")
