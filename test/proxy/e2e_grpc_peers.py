#!/usr/bin/env python3
"""e2e_grpc_peers.py BIDE: gRPC through the sidecar between programs that others wrote: the
client and the server for Node.js (@grpc/grpc-js), those for Python, and nginx
(`grpc_pass`) and nghttpx as proxies before and behind it."""
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import npm
from parts import PATIENCE, run, tap, until
from ports import free_port
from sidecar import FAST, Sidecar, config

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = os.path.join(ROOT, "examples", "grpc")
NODE = os.path.join(ROOT, "test", "grpc")
POLICY = FAST + ", retry_on: { grpc: [UNAVAILABLE] }, budget: { kind: off }"
CALLS = 200

NGINX = """
worker_processes 1; daemon off; error_log stderr crit; pid {path}/pid;
events {{ worker_connections 256; }}
http {{
  access_log off; keepalive_requests 100000;
  client_body_temp_path {path}/b; proxy_temp_path {path}/p; fastcgi_temp_path {path}/f;
  uwsgi_temp_path {path}/u; scgi_temp_path {path}/s;
  server {{ listen 127.0.0.1:{port} http2;
    location / {{ grpc_pass grpc://127.0.0.1:{to}; }} }}
}}
"""


def listens(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


@contextlib.contextmanager
def started(command, port=None, **more):
    """A program, until it listens; without a port, the one that it prints."""
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, **more)
    try:
        said = None if port else p.stdout.readline()
        port = port or int(said)
        if not until(lambda: listens(port)):
            raise SystemExit(f"not ok - {command} does not listen")
        yield port
    finally:
        p.terminate()  # a master that is killed leaves its workers behind
        try:
            p.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
        p.stdout.close()


# ===== who serves, who asks, and who is in between =====

def python_server():
    port = free_port()
    return started(["/usr/bin/python3", f"{PYTHON}/server.py", str(port),
                    "--fail-every", "20"], port)


def node_server():
    return started(["node", "peer.cjs", "server", "20"], cwd=NODE)


def python_client(port):
    return subprocess.run(["/usr/bin/python3", f"{PYTHON}/client.py",
                           f"127.0.0.1:{port}", str(CALLS)], capture_output=True,
                          text=True, timeout=6 * PATIENCE).stdout.strip()


def node_client(port):
    return subprocess.run(["node", "peer.cjs", "client", f"127.0.0.1:{port}",
                           str(CALLS)], capture_output=True, text=True, cwd=NODE,
                          timeout=6 * PATIENCE).stdout.strip()


@contextlib.contextmanager
def nginx(to):
    with tempfile.TemporaryDirectory() as path:
        port = free_port()
        conf = os.path.join(path, "conf")
        with open(conf, "w", encoding="ascii") as f:
            f.write(NGINX.format(path=path, port=port, to=to))
        with started(["nginx", "-p", path, "-c", conf], port):
            yield port


@contextlib.contextmanager
def nghttpx(to):
    port = free_port()
    with started(["nghttpx", "--conf=/dev/null", f"-f127.0.0.1,{port};no-tls",
                  f"-b127.0.0.1,{to};;proto=h2", "-n1", "--log-level=FATAL"], port):
        yield port


@contextlib.contextmanager
def nobody(to):
    yield to


@contextlib.contextmanager
def sidecar(to):
    p = Sidecar(config([to], POLICY))
    try:
        yield p.port
    finally:
        p.stop()


def through(server, client, before=nobody, behind=nobody):
    with server() as port, behind(port) as b, sidecar(b) as s, before(s) as last:
        return client(last)


def ran(said):
    words = said.replace(";", " ").split()
    return int(words[words.index("ran") + 1]) if "ran" in words else 0


def passes(what, server, client, **more):
    said = through(server, client, **more)
    good = said.startswith(f"{CALLS} OK;") and 208 <= ran(said) <= 213
    if client is node_client and server is node_server:
        good = good and said.endswith("talked 10 OK")
    tap.case(what, good, said)


def libraries():
    passes("python to python", python_server, python_client)
    with node_server() as port:
        said = node_client(port)
        tap.case("a twentieth of the calls fails without the sidecar",
                 said.startswith("190 OK, 10 UNAVAILABLE; ran 200;"), said)
    passes("grpc-js to grpc-js, with a stream both ways", node_server, node_client)
    passes("grpc-js to python", python_server, node_client)
    passes("python to grpc-js", node_server, python_client)


def proxies():
    for name, proxy in ("nginx", nginx), ("nghttpx", nghttpx):
        if not shutil.which(name):
            tap.case(f"# skip: {name} is not installed", True)
            continue
        passes(f"{name} before it", python_server, python_client, before=proxy)
        passes(f"{name} behind it", python_server, python_client, behind=proxy)


probe = subprocess.run(["/usr/bin/python3", "-c", "import grpc"], capture_output=True)
if probe.returncode:
    print("1..0 # SKIP no python3-grpcio")
    sys.exit(0)
npm.install(NODE, "@grpc/grpc-js")
run(libraries, proxies)
