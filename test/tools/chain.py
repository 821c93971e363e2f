"""Default sidecars in a chain, and an origin that goes away: real processes, a steady
load, and how long calls still fail after the origin is back.

    chain = Chain(bide, tiers=2)
    found = asyncio.run(chain.play(how="stop", usual_s=5, away_s=45, after_s=30))

`how` is "stop" (SIGSTOP: it accepts and answers nothing) or "kill" (refused)."""
import asyncio
import collections
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from ports import free_port

RATE = 20
CONFIG = """
version: 1
policies: {{ default: {{}} }}
proxy:
  listen: 127.0.0.1:{port}
  routes: [{{ match: {{ path: / }}, upstream: below }}]
  upstreams: {{ below: {{ endpoints: ["http://127.0.0.1:{below}"] }} }}
"""
ORIGIN = """
import asyncio, sys
async def serve(r, w):
    try:
        while await r.readuntil(b"\\r\\n\\r\\n"):
            w.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()
async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]),
                                   backlog=4096)
    await s.serve_forever()
asyncio.run(main())
"""


class Origin:
    """Answers 200, as a process of its own, on a port that stays the same."""

    def __init__(self):
        self.port = free_port()
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-c", ORIGIN,
                                         str(self.port)])

    def leave(self, how):
        if how == "stop":
            self.process.send_signal(signal.SIGSTOP)
        else:
            self.end()

    def come_back(self, how):
        if how == "stop":
            self.process.send_signal(signal.SIGCONT)
        else:
            self.start()

    def end(self):
        self.process.kill()
        self.process.wait()


async def listening(port):
    """Returns when something accepts connections there."""
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.05)
    raise SystemExit(f"not ok - nothing listens on port {port}")


async def ask(port):
    """A request on a connection of its own: "200", or what it came to instead."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        head = await reader.read()
        writer.close()
    except OSError as error:
        return type(error).__name__
    status = head[9:12].decode()
    reason = re.search(rb"(?i)\r\nx-bide-reason: (\S+)", head)
    return status if status == "200" or not reason else f"{status} {reason[1].decode()}"


class Chain:
    def __init__(self, bide, tiers):
        self.bide, self.tiers = bide, tiers
        self.directory = tempfile.TemporaryDirectory()
        self.calls = []             # began, ended, what it came to
        self.origin = Origin()
        self.sidecars = []
        self.port = self.origin.port

    async def build(self):
        await listening(self.origin.port)
        for i in range(self.tiers):
            below, self.port = self.port, free_port()
            path = os.path.join(self.directory.name, f"{i}.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(CONFIG.format(port=self.port, below=below))
            self.sidecars.append(subprocess.Popen(
                [self.bide, "proxy", "-c", path], stderr=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL))
            await listening(self.port)

    async def one(self):
        began = time.monotonic()
        came_to = await ask(self.port)
        self.calls.append((began, time.monotonic(), came_to))

    async def load(self, until):
        running = []
        while not until.is_set():
            running.append(asyncio.create_task(self.one()))
            await asyncio.sleep(1 / RATE)
        await asyncio.gather(*running)

    async def play(self, how, usual_s, away_s, after_s):
        try:
            return await self.played(how, usual_s, away_s, after_s)
        finally:
            for process in self.sidecars:
                process.terminate()
            for process in self.sidecars:
                process.wait()
            self.origin.end()

    async def played(self, how, usual_s, away_s, after_s):
        await self.build()
        until = asyncio.Event()
        load = asyncio.create_task(self.load(until))
        await asyncio.sleep(usual_s)
        self.origin.leave(how)
        gone = time.monotonic()
        await asyncio.sleep(away_s)
        self.origin.come_back(how)
        await listening(self.origin.port)
        back = time.monotonic()
        await asyncio.sleep(after_s)
        until.set()
        await load
        return self.summary(gone, back)

    def summary(self, gone, back):
        """Calls in all and failed; of those that began after the return: how many
        failed, and how long after it the last of them began; when the first call
        went well."""
        bad = [call for call in self.calls if call[2] != "200"]
        late = [began - back for began, _, _ in bad if began > back]
        well = [ended - back for _, ended, came_to in self.calls
                if ended > back and came_to == "200"]
        return {"calls": len(self.calls), "failed": len(bad),
                "failed_before": sum(ended < gone for _, ended, _ in bad),
                "failed_after": len(late), "refused_s": max(late, default=0.0),
                "first_s": min(well, default=float("inf")),
                "came_to": dict(collections.Counter(c for _, _, c in bad))}
