"""What the examples are run against: real servers, started and stopped here.

Every server is a child of the test, in a directory of its own, and is ended by its
process id when the `with` block is left, and by the kernel should the test die.
"""
import ctypes
import glob
import os
import pwd
import queue
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import tap
from ports import free_port

PATIENCE = 60  # seconds until something that must happen is given up


def until(what, true):
    """Waits until true() is: for `what`, if it does not come."""
    end = time.monotonic() + PATIENCE
    while not (result := true()):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.01)
    return result


def die_with_parent(sig):
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(1, sig, 0, 0, 0)


class Server:
    """A child process, in a directory of its own, whose path is short enough for a
    socket. User None: the test's own."""
    stop_signal = signal.SIGTERM
    user = None

    def __init__(self):
        self.process = None
        self.dir = tempfile.mkdtemp(prefix="bide-examples-", dir="/tmp")
        if self.user:
            shutil.chown(self.dir, self.user)

    def spawn(self, *command, **more):
        if self.user:
            more.update(user=self.user, group=pwd.getpwnam(self.user).pw_gid,
                        extra_groups=[])
        self.log = open(os.path.join(self.dir, "log"), "ab")
        self.process = subprocess.Popen(
            command, cwd=self.dir, stderr=self.log,
            preexec_fn=die_with_parent(self.stop_signal),
            env=tap.environment(),
            **{"stdin": subprocess.DEVNULL, "stdout": self.log, **more})

    def kill(self, sig=None):
        if self.process:
            self.process.send_signal(sig or self.stop_signal)
            self.process.wait(PATIENCE)
            self.process = None
            self.log.close()

    def said(self):
        with open(os.path.join(self.dir, "log"), errors="replace") as f:
            return f.read()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.kill()
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)


class Postgres(Server):
    """On a unix socket only, self.path. It refuses to be run by root."""
    stop_signal = signal.SIGQUIT  # immediate shutdown: all connections break
    user = "postgres" if os.getuid() == 0 else None

    def __init__(self):
        super().__init__()
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.bin = found[-1] if found else ""
        self.path = os.path.join(self.dir, ".s.PGSQL.5432")

    def start(self):
        if not os.path.exists(os.path.join(self.dir, "data")):
            self.spawn(os.path.join(self.bin, "initdb"), "-D", "data", "-A", "trust",
                       "-U", "bide", "-N", "-E", "UTF8", "--locale=C")
            if self.process.wait(PATIENCE) != 0:
                raise RuntimeError("initdb: " + self.said())
        self.spawn(os.path.join(self.bin, "postgres"), "-D", "data", "-F",
                   "-k", self.dir, "-c", "listen_addresses=", "-c",
                   "max_connections=100", "-c", "shared_buffers=8MB")


class Redis(Server):
    """On self.port, of which it keeps hold over restarts. Keeps nothing else."""

    def start(self):
        self.port = getattr(self, "port", None) or free_port()
        self.spawn("redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
                   "--save", "", "--appendonly", "no")
        until("redis", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError("redis: " + self.said())
        try:
            return self.ask("PING") == "+PONG"
        except OSError:
            return False

    def ask(self, command):
        """Sends an inline command. The first line of the answer, or its bulk."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as s:
            s.sendall(command.encode() + b"\r\n")
            with s.makefile("rb") as f:
                line = f.readline().decode().strip()
                return (f.read(int(line[1:])).decode() if line[:1] == "$" else line)

    def blocked(self):
        """How many clients wait in a command that blocks."""
        info = dict(line.split(":", 1) for line in self.ask("INFO clients").split()
                    if ":" in line)
        return int(info["blocked_clients"])


class Program:
    """An example that is told things and says things, a line each."""

    def __init__(self, *command):
        self.lines = queue.Queue()
        self.seen = []
        self.process = subprocess.Popen(
            [os.path.join(tap.START, command[0]), *command[1:]],
            env=tap.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, preexec_fn=die_with_parent(signal.SIGKILL))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self, true):
        """The next line for which true(line) holds; None at the end."""
        while True:
            try:
                line = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise TimeoutError("it says no more after: "
                                   + "; ".join(self.seen[-5:])) from None
            if line is None or true(line):
                return line
            self.seen.append(line)

    def end(self):
        """Ends its input; gives its exit code."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
