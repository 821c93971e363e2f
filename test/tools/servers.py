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
import sys
import tempfile
import threading
import time

import tap
from ports import free_port, short_folder

PATIENCE = 150  # seconds until something that must happen is given up


def until(what, true):
    """Waits until true() is: for `what`, if it does not come."""
    end = time.monotonic() + PATIENCE
    while not (result := true()):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.01)
    return result


def alive(pid):
    """Or one of its threads is: the first may be gone while another is in a sync, and
    then all its files and locks are still there."""
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as f:
                if f.read().rpartition(")")[2].split()[0] not in "ZX":
                    return True
        except OSError:
            pass
    return False


def stands_still(pid):
    """Every thread of it; also one that has ended."""
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as f:
                if f.read().rpartition(")")[2].split()[0] not in "TtZX":
                    return False
        except OSError:
            pass
    return True


def die_with_parent(sig):
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(1, sig, 0, 0, 0)


class Server:
    """A child process, in a directory of its own, whose path is short enough for a
    socket. User None: the test's own."""
    stop_signal = signal.SIGTERM
    user = None
    base = short_folder()  # where its files are

    def __init__(self):
        self.process = None
        self.dir = tempfile.mkdtemp(prefix="bide-examples-", dir=self.base)
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
            **{"env": tap.environment(), "stdin": subprocess.DEVNULL, "stdout": self.log,
               **more})

    def kill(self, sig=None):
        if self.process:
            self.process.send_signal(sig or self.stop_signal)
            self.process.wait(PATIENCE)
            self.process = None
            self.log.close()

    def family(self):
        """The process and its children, parents first."""
        found = [self.process.pid]
        for pid in found:
            try:
                with open(f"/proc/{pid}/task/{pid}/children") as f:
                    found += [int(child) for child in f.read().split()]
            except OSError:
                pass
        return found

    def signal_all(self, sig):
        for pid in self.family():
            try:
                os.kill(pid, sig)
            except ProcessLookupError:
                pass

    def freeze(self):
        """It hangs: sockets stay open, nobody answers. A thread that is in the kernel, or
        waits for a core, stops a moment later."""
        self.signal_all(signal.SIGSTOP)
        until("the stop", lambda: all(stands_still(pid) for pid in self.family()))

    def thaw(self):
        self.signal_all(signal.SIGCONT)

    def crash(self):
        """kill -9, of all its processes at once."""
        family = self.family()
        self.signal_all(signal.SIGKILL)
        self.kill(signal.SIGKILL)
        until("the end of the children",
              lambda: not any(alive(pid) for pid in family))

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
    """On a unix socket only, self.path; self.url is what libpq takes. It refuses to
    be run by root. `durable`: with fsync, for what measures it. Further arguments
    are settings: "max_connections=3"."""
    stop_signal = signal.SIGQUIT  # immediate shutdown: all connections break
    user = "postgres" if os.getuid() == 0 else None

    def __init__(self, *settings, durable=False):
        super().__init__()
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.bin = found[-1] if found else ""
        self.path = os.path.join(self.dir, ".s.PGSQL.5432")
        self.url = f"postgresql://bide@/postgres?host={self.dir}"
        self.settings = ["max_connections=100", "shared_buffers=8MB", *settings]
        self.durable = durable

    def start(self):
        if not os.path.exists(os.path.join(self.dir, "data")):
            self.spawn(os.path.join(self.bin, "initdb"), "-D", "data", "-A", "trust",
                       "-U", "bide", "-N", "-E", "UTF8", "--locale=C")
            if self.process.wait(PATIENCE) != 0:
                raise RuntimeError("initdb: " + self.said())
        options = [word for s in self.settings for word in ("-c", s)]
        self.spawn(os.path.join(self.bin, "postgres"), "-D", "data",
                   *([] if self.durable else ["-F"]), "-k", self.dir,
                   "-c", "listen_addresses=", *options)

    def wait(self):
        """Until it answers: start() returns before that."""
        until("postgres", lambda: self.sql("SELECT 1") == "1")

    def sql(self, statement, database="postgres"):
        """What psql prints for it, unaligned; None if it fails."""
        p = subprocess.run(
            [os.path.join(self.bin, "psql"), "-XqtA", "-v", "ON_ERROR_STOP=1",
             "-h", self.dir, "-U", "bide", "-d", database, "-c", statement],
            env=tap.environment(), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=PATIENCE)
        return p.stdout.decode().strip() if p.returncode == 0 else None


class Redis(Server):
    """On self.port, of which it keeps hold over restarts (self.tcp), and on a Unix
    socket (self.url). Keeps nothing else, unless it is `durable`: then what it has
    acknowledged, or `options` say so: "--maxmemory", "8mb"."""
    stop_signal = signal.SIGKILL

    def __init__(self, *options, durable=False):
        super().__init__()
        keep = ["--appendonly", "yes", "--appendfsync", "always"] if durable \
            else ["--appendonly", "no"]
        self.options = ["--save", "", *keep, *options]
        self.port = free_port()
        self.tcp = f"redis://127.0.0.1:{self.port}"
        self.path = os.path.join(self.dir, "redis.sock")
        self.url = "redis+unix://" + self.path

    def start(self):
        self.spawn("redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
                   "--unixsocket", self.path, *self.options)
        until("redis", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError("redis: " + self.said())
        try:
            return self.ask("PING").startswith(("+PONG", "-NOAUTH"))
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


class Kafka:
    """A broker of Kafka (kafka_broker.py), or librdkafka's mock cluster, in a process of its
    own (`mock`: test/queue/kafka_server.c). Both lose their data with their process: a crash
    is a broker that goes away and comes back. Workers that die are noticed after `session`
    seconds, fewer than a real broker allows. The mock holds back an empty answer as long as it
    may, whatever arrives meanwhile: so its clients ask often."""

    def __init__(self, mock=None, session=3):
        here = os.path.dirname(os.path.abspath(__file__))
        self.program = [mock] if mock else [sys.executable,
                                            os.path.join(here, "kafka_broker.py")]
        self.settings = "fetch.wait.max.ms=10" if mock else \
            f"session.timeout.ms={session}000&heartbeat.interval.ms=300"

    def __enter__(self):
        self.process = subprocess.Popen(
            self.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=die_with_parent(signal.SIGKILL))
        self.servers = self.process.stdout.readline().strip()
        self.url = f"kafka://{self.servers}?{self.settings}"
        return self

    def __exit__(self, *_):
        self.thaw()
        self.process.terminate()
        self.process.communicate()

    def tell(self, line):
        """What it answers behind "ok"."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if answer[:1] != ["ok"]:
            raise RuntimeError(f"refused: {line}: {' '.join(answer)}")
        return answer[1:]

    def queue(self, name, partitions=1):
        self.tell(f"queue {name} {partitions}")

    def crash(self):
        self.tell("crash")

    def start(self):
        self.tell("start")

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)


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
