#!/usr/bin/env python3
"""hostile.py PORT ADMIN CLIENTS: so many clients who mean harm, each in all the ways
that test/proxy/attack knows, one after the other, until standard input ends and each
has been tried. Then a line of JSON says how often."""
import asyncio
import collections
import json
import os
import random
import socket
import sys

import payloads

HERE = os.path.dirname(os.path.abspath(__file__))
HOLD = 0.3      # seconds that somebody dawdles
PARENT = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"
PAYLOADS = [text.replace("{P}", "/s/200?id=h").replace("{E}", "/s/200?id=evil")
            for trick in payloads.TRICKS for _, most, text in trick()
            if most == 0]
tried = collections.Counter()
n = 0


def request(script, more="", method="GET", path="/s/"):
    global n
    n += 1
    return (f"{method} {path}{script}?id=h{n} HTTP/1.1\r\nHost: x\r\n{more}\r\n"
            ).encode("latin-1")


class Client:
    """A connection by hand, gone in the end without a word."""

    def __init__(self, port, small=False):
        self.port, self.small = port, small

    async def __aenter__(self):
        s = socket.socket()
        if self.small:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.setblocking(False)
        await asyncio.get_running_loop().sock_connect(s, ("127.0.0.1", self.port))
        self.socket = s
        return self

    async def __aexit__(self, *error):
        if random.random() < 0.5:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    async def send(self, data):
        await asyncio.wait_for(
            asyncio.get_running_loop().sock_sendall(self.socket, data), HOLD * 10)

    async def hear(self, seconds=HOLD * 10):
        return await asyncio.wait_for(
            asyncio.get_running_loop().sock_recv(self.socket, 65536), seconds)


async def says(port, data, small=False, hold=0.0):
    """Sends this, waits a while or for an answer, leaves."""
    async with Client(port, small) as c:
        await c.send(data)
        if hold:
            await asyncio.sleep(hold)
        else:
            await c.hear()


async def clipped(port, admin):
    await says(port, request("200;wait=50", "X-Bide-Timeout-Ms: 5\r\n"))


async def stalled_upload(port, admin):
    await says(port, request("200", "Content-Length: 1000000\r\n", "PUT") +
               b"x" * 70000, hold=HOLD)


async def dripping(port, admin):
    async with Client(port) as c:
        await c.send(request("200", "Content-Length: 1000\r\n", "PUT"))
        for _ in range(10):
            await c.send(b"x")
            await asyncio.sleep(HOLD / 10)


async def slow_reader(port, admin):
    await says(port, request("200;n=1000000"), small=True, hold=HOLD)


async def traced_and_cut(port, admin):
    for script in ("200;n=5000;cut=body", "200;n=5000;rst=body"):
        await says(port, request(script, PARENT))


async def half_closed(port, admin):
    async with Client(port) as c:
        await c.send(request("200;wait=10"))
        c.socket.shutdown(socket.SHUT_WR)
        await c.hear()


async def smuggling(port, admin):
    await says(port, random.choice(PAYLOADS).encode("utf-8"), hold=HOLD / 10)


async def forging(port, admin):
    await says(port, request("200", "X_Forwarded_For: 10.9.8.7\r\n"
                             "Proxy: http://evil\r\nX_Bide_Attempt: 9\r\n"))
    await says(port, request("200", "Max-Forwards: 0\r\n", "TRACE"))


async def in_circles(port, admin):
    await says(port, request("", path="/loop"))


async def silent_names(port, admin):
    await says(port, request("", "X-Bide-Timeout-Ms: 50\r\n", path="/silent"))


async def hedged(port, admin):
    await says(port, request("stall", "X-Policy: hedged\r\n"))


async def admin_flood(port, admin):
    data = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20
    await says(admin, data, small=True, hold=HOLD)


async def nonsense(port, admin):
    await says(port, random.randbytes(random.randint(1, 2000)), hold=HOLD / 10)


async def leaving(port, admin):
    async with Client(port) as c:
        await c.send(request("200;wait=5"))


async def half_a_head(port, admin):
    await says(port, b"GET / HTTP/1.1\r\nHo", hold=HOLD)


WAYS = (clipped, stalled_upload, dripping, slow_reader, traced_and_cut,
        half_closed, smuggling, forging, in_circles, silent_names, hedged,
        admin_flood, nonsense, leaving, half_a_head)


async def mean(port, admin, number):
    """One after the other, each client beginning at another."""
    while True:
        way = WAYS[number % len(WAYS)]
        number += 1
        try:
            await way(port, admin)
        except (OSError, asyncio.TimeoutError):
            pass
        tried[way.__name__] += 1


async def main(port, admin, clients):
    tasks = [asyncio.create_task(mean(port, admin, i)) for i in range(clients)]
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
    while len(tried) < len(WAYS):
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    print(json.dumps(tried))


asyncio.run(main(*map(int, sys.argv[1:4])))
