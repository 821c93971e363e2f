#!/usr/bin/env python3
"""e2e_http2_dead.py BIDE: an endpoint that speaks HTTP/2 and whose machine is gone: its
network is cut, in a namespace of its own, and nothing says so. A call that is under way
ends by what the kernel finds out, and not when the call's own time is up."""
import os
import shutil
import subprocess
import sys
import time

from parts import Answer, connect, get, proxied, run, tap, until

HERE, PEER = "10.223.17.1", "10.223.17.2"
MINUTES = 3  # the kernel's own timeouts are longer by far


def inside():
    """In namespaces of our own: the network is ours to build, and to cut."""
    return os.environ.get("BIDE_TEST_NAMESPACE") == "1"


def enter():
    if not shutil.which("unshare") or not shutil.which("ip") or subprocess.run(
            ["unshare", "-rn", "ip", "link", "add", "type", "veth"],
            capture_output=True, check=False).returncode != 0:
        print("ok 1 - # skip: namespaces cannot be made here\n1..1")
        return
    os.environ["BIDE_TEST_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])


def ip(*words, of=None):
    where = ["nsenter", "-t", str(of), "-n"] if of else []
    subprocess.run([*where, "ip", *words], check=True)


def wired():
    """A process with a network that leads only here."""
    ip("link", "set", "lo", "up")
    other = subprocess.Popen(["unshare", "-n", "sleep", "600"])
    here = os.readlink("/proc/self/ns/net")
    until(lambda: os.readlink(f"/proc/{other.pid}/ns/net") != here)
    ip("link", "add", "here", "type", "veth", "peer", "name", "there", "netns",
       str(other.pid))
    ip("addr", "add", f"{HERE}/30", "dev", "here")
    ip("link", "set", "here", "up")
    ip("addr", "add", f"{PEER}/30", "dev", "there", of=other.pid)
    ip("link", "set", "there", "up", of=other.pid)
    return other


SERVER = """
import socket, sys
import h2raw
s = socket.create_server(("%s", 0))
print(s.getsockname()[1], flush=True)
c = h2raw.Accepted(s.accept()[0], b"")
while not c.asked():
    pass
print("asked", flush=True)
sys.stdin.read()
""" % PEER


def dead():
    other = wired()
    server = subprocess.Popen(
        ["nsenter", "-t", str(other.pid), "-n", sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline())
        text = f"http://{PEER}:{port}"
        with proxied(1, policy="attempts: 1, attempt_timeout: 20m",
                     upstream=", protocol: http2") as p:
            p.reload(p.text.replace("http://127.0.0.1:1", text))
            client = connect(p)
            client.socket.settimeout(60 * MINUTES)
            client.send(get())
            asked = server.stdout.readline()
            began = time.monotonic()
            ip("link", "set", "there", "down", of=other.pid)
            a = Answer(client)
            took = time.monotonic() - began
            print(f"# {took:.1f} s")
            tap.case("a call to an endpoint that is gone without a word ends, long before "
                     "its time", asked == "asked\n" and server.poll() is None and
                     a.status == 502 and took < 60 * MINUTES, (asked, a, took))
    finally:
        for x in (server, other):
            x.kill()
            x.wait()


if inside():
    run(dead)
else:
    enter()
