#!/usr/bin/env python3
"""bench_http2.py BIDE [REQUESTS [ROUNDS]]: the sidecar beside nghttpx, HAProxy and nginx,
over HTTP/2.

h2load -c8 -m32 -> proxy -> nginx (HTTP/1.1) or nghttpd (HTTP/2), each proxy in turn in
each round; medians count. The proxy has one core for itself; h2load and the origin share
the other. What is compared is the CPU time that the proxy takes for a request. nginx does
not speak HTTP/2 to endpoints, except for gRPC, and is left out there. A unary gRPC call is
a POST of one message, answered by one and `grpc-status: 0` in the trailers.

Idle connections: many that have had one answer each and wait; what the resident memory of
the process grows by, divided by their number."""
import contextlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

import bench_proxy
import sides
from bench_proxy import cpu_s, memory
from sides import OTHER_CORE, PROXY_CORE, free_port, start

REQUESTS = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
IDLE = 2000
BODY = "x" * 100
MESSAGE = b"\0" + (100).to_bytes(4, "big") + BODY.encode()
METHOD = "shop.Cart/Add.grpc"  # its ending is how nghttpd knows what it is

# What each needs on top of its configuration for HTTP/1.1 (sides.py).
NGHTTPX = ["nghttpx", "--conf=/dev/null", "-f127.0.0.1,{port};no-tls",
           "-b127.0.0.1,{origin};;{proto}", "-n1", "--log-level=ERROR",
           "--frontend-keep-alive-timeout=600",
           "--backend-connections-per-host=64"]


GRPC = ["-H", "content-type: application/grpc", "-H", "te: trailers"]


def configured(name, h2, grpc):
    text = sides.configuration(name, False, False)
    if name == "bide" and h2:
        text = text.replace("{origin}\"]", "{origin}\"], protocol: http2")
    if name == "haproxy":
        text = text.replace("backlog 4096", "backlog 4096 proto h2")
        if h2:
            text = text.replace("pool-max-conn 256", "pool-max-conn 256 proto h2")
    if name == "nginx":
        text = text.replace("backlog=4096;", "http2 backlog=4096; "
                            "http2_max_requests 1000000000;")
    if name == "nginx" and grpc:
        text = re.sub(r"proxy_pass http://origin;.*?tries 4;",
                      "grpc_pass grpc://origin; grpc_next_upstream error timeout; "
                      "grpc_next_upstream_tries 4;", text, flags=re.S)
    return text


def command(name, bide, port, origin, kind, path):
    h2, grpc = kind != "HTTP/1.1", kind == "gRPC"
    if name == "nghttpx":
        return [x.format(port=port, origin=origin, proto="proto=h2" if h2 else
                         "proto=http/1.1") for x in NGHTTPX]
    conf = os.path.join(path, "conf")
    with open(conf, "w") as f:
        f.write(configured(name, h2, grpc).format(port=port, origin=origin, path=path))
    return [x.format(bide=bide, conf=conf, path=path) for x in sides.PROGRAMS[name]]


def h2load(port, n, kind, work):
    call = [*GRPC, "-d", os.path.join(work, METHOD)] if kind == "gRPC" else []
    path = METHOD if kind == "gRPC" else ""
    out = subprocess.run(
        ["h2load", f"-n{n}", "-c8", "-m32", *call, f"http://127.0.0.1:{port}/{path}"],
        capture_output=True, text=True, check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {OTHER_CORE})).stdout
    if f"{n} 2xx" not in out:
        sys.exit("h2load met errors:\n" + out)
    return float(re.search(r", ([\d.]+) req/s", out)[1])


def idle_bytes(pid, port):
    """Each has had an answer: the preface, SETTINGS and a GET, by hand."""
    get = b"\x00\x00\x0e\x01\x05\x00\x00\x00\x01\x82\x86\x84\x41\x09" + b"localhost"
    hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
    before = memory(pid, "Rss")
    held = []
    for _ in range(IDLE):
        s = socket.create_connection(("127.0.0.1", port))
        s.settimeout(10)
        s.sendall(hello + b"\0\0\0\4\1\0\0\0\0" +
                  (len(get) - 9).to_bytes(3, "big") + get[3:])
        seen = b""
        while b"x" * 20 not in seen:
            seen += s.recv(4096)
        held.append(s)
    grown = (memory(pid, "Rss") - before) / IDLE
    for s in held:
        s.close()
    return grown


def origins(work):
    """An nginx, an nghttpd, and one that ends as a gRPC server does."""
    one, two = free_port(), free_port()
    with open(os.path.join(work, "origin.conf"), "w") as f:
        f.write(sides.ORIGIN.format(origin=one, body=BODY))
    with open(os.path.join(work, "index.html"), "w") as f:
        f.write(BODY)
    os.mkdir(os.path.join(work, os.path.dirname(METHOD)))
    with open(os.path.join(work, METHOD), "wb") as f:
        f.write(MESSAGE)
    with open(os.path.join(work, "types"), "w") as f:
        f.write("application/grpc grpc\n")
    three = free_port()
    yield one, start(["nginx", "-p", work, "-c", os.path.join(work, "origin.conf")],
                     work, one, OTHER_CORE)
    yield two, start(["nghttpd", "--no-tls", "-d", work, str(two)], work, two,
                     OTHER_CORE)
    yield three, start(["nghttpd", "--no-tls", "-d", work, "--trailer",
                        "grpc-status: 0", "--mime-types-file",
                        os.path.join(work, "types"), str(three)], work, three,
                       OTHER_CORE)


def compare(bide, kind, origin, work, running):
    names = ["bide", "nghttpx", "haproxy"] + (["nginx"] if kind != "HTTP/2" else [])
    found = {}
    for name in names:
        path = os.path.join(work, f"{name} {kind}".replace("/", ""))
        os.mkdir(path)
        port = free_port()
        process = start(command(name, bide, port, origin, kind, path), path, port,
                        PROXY_CORE)
        running.append(process)
        found[name] = (port, process, [])
    # Before memory is used.
    idle = {name: idle_bytes(process.pid, port) if kind != "gRPC" else 0
            for name, (port, process, _) in found.items()}
    for port, _, _ in found.values():
        h2load(port, REQUESTS // 10, kind, work)  # warm
    for _ in range(ROUNDS):
        for port, process, rounds in found.values():
            before = cpu_s(process.pid)
            rate = h2load(port, REQUESTS, kind, work)
            rounds.append(((cpu_s(process.pid) - before) / REQUESTS, rate))
    what = "gRPC, unary" if kind == "gRPC" else f"HTTP/2 to {kind}"
    print(f"{what}, h2load -c8 -m32, {ROUNDS} rounds of {REQUESTS}:\n"
          "                  req/s  us CPU" + ("   idle B" if kind != "gRPC" else ""))
    for name, (_, _, rounds) in found.items():
        cpu, rate = (statistics.median(r[i] for r in rounds) for i in range(2))
        print(f"  {name:14}{rate:10.0f}{cpu * 1e6:8.2f}" +
              (f"{idle[name]:9.0f}" if kind != "gRPC" else ""))


def end(running):
    """By SIGTERM: a master of nginx or nghttpx that is killed leaves its workers behind."""
    for p in running:
        p.terminate()
    for p in running:
        try:
            p.wait(10)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()


def main():
    bide = os.path.abspath(sys.argv[1])
    missing = [x for x in ("h2load", "nghttpd", "nghttpx") if not shutil.which(x)]
    if missing:
        sys.exit(f"bench_http2.py: {missing} not installed")
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        running = []
        stack.callback(end, running)
        ports = []
        for port, process in origins(work):
            ports.append(port)
            running.append(process)
        for kind, origin in zip(("HTTP/1.1", "HTTP/2", "gRPC"), ports):
            compare(bide, kind, origin, work, running)


if __name__ == "__main__":
    bench_proxy.raise_limit()
    main()
