#!/usr/bin/env python3
"""once.py BIDE sqlite|postgresql|redis KILLS MODULE...: the sidecar is killed by -9 at
random, and the server of its store as well, under 16 clients that repeat each
request until it is answered.

refuse: no key reaches the origin twice; whoever was told 2xx was told so of one
effect, and is told the same again. retry, with an origin that knows keys: every
request ends in 2xx, of one effect.

While the store is away, an origin's answer is passed on all the same, and its record
follows; killed before that, it is unknown. So what a sidecar told in a life in which the
store was away may be unknown later, but is not done again: refused, or, by an origin that
knows it, answered by the same. It is kept if that life then answered any request that it
had to ask the store about: what is owed is written with, or before, whatever is asked
later. So that excuses at most one answer of each client for a life that ended without its
store, and the counts are printed.

Bounded: where all takes long it kills fewer times (ONCE_SECONDS for each mode). A client
that is not answered gives up, and says what it heard instead. Whatever hangs all the same
is shown, with what the sidecar and the store say of it, at the end of ONCE_LIMIT seconds."""
import collections
import contextlib
import glob
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import tap
from payments import Payments
from ports import free_port, short_folder
from servers import PATIENCE, Postgres, Redis, alive, until

CLIENTS = 16
LEASE = "1s"  # and a disk that others keep busy may take seconds for a commit
SECONDS = float(os.environ.get("ONCE_SECONDS", "60"))  # of kills, in each mode
END = time.monotonic() + float(os.environ.get("ONCE_LIMIT", "270"))  # of the test
LAST = 60  # seconds for what is not answered when the kills are over
FROM_THE_STORE = ("idempotency_in_progress", "idempotency_unknown")


class Origin(Payments):
    """Takes a moment for each. If it knows keys, it does each once, and says the same
    again; if not, it does what it is asked to."""

    def __init__(self, knows):
        self.knows, self.charges, self.arrived = knows, {}, 0
        super().__init__()

    def plan(self, head, key):
        time.sleep(random.uniform(0, 0.01))
        with self.lock:
            self.arrived += 1
            if not self.knows or key not in self.charges:
                self.effects[key] += 1
                self.charges[key] = len(self.charges) + 1
            return {}, self.charges[key]


def stopped(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] in "TZX"
    except OSError:
        return True


class Life:
    """From a start of the sidecar to its end."""

    def __init__(self, log):
        self.born, self.log = time.monotonic(), log

    def ends_down(self):
        """By what it says, as when its disk takes seconds."""
        with open(self.log, errors="replace") as f:
            said = f.read()
        return said.rfind("is down") > said.rfind("is back")


class Sidecar:
    """On one port, over all its lives. One begins when the last is over. The port is held
    in between, or another test could be given it."""

    def __init__(self, bide, store, origin, mode, directory):
        self.port = free_port()
        self.held = socket.socket()
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.held.bind(("127.0.0.1", self.port))
        self.file = os.path.join(directory, "once.yaml")
        self.log = os.path.join(directory, "once.log")
        self.bide, self.process, self.lives = bide, None, []
        self.origin = origin
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(f"""
version: 1
store: {{ url: "{store}", timeout: 20s }}
policies:
  default: {{ attempts: 2, unreachable: {{ wait: none }}, breaker: {{ kind: off }} }}
proxy:
  listen: 127.0.0.1:{self.port}
  reuse_port: true
  workers: 2
  routes:
    - match: {{ path: /pay }}
      upstream: pay
      idempotency: {{ accept: required, lease: {LEASE}, on_unknown: {mode} }}
  upstreams:
    pay: {{ endpoints: ["http://127.0.0.1:{origin.port}"] }}
""")

    def shows(self, key):
        """What it and its store say of a key; for whoever wonders."""
        lines = []
        for pid in self.family():
            for task in sorted(glob.glob(f"/proc/{pid}/task/*")):
                with contextlib.suppress(OSError):
                    about = [open(f"{task}/{what}", encoding="ascii",
                                  errors="replace").read().strip()
                             for what in ("comm", "wchan", "syscall")]
                    with open(f"{task}/stat", encoding="ascii",
                              errors="replace") as f:
                        state = f.read().rpartition(")")[2].split()[0]
                    lines.append(f"{task[6:]}: {state} " + ", ".join(about))
        with contextlib.suppress(OSError), \
                open(self.lives[-1].log, errors="replace") as f:
            lines += [line.rstrip() for line in f.readlines()[-20:]]
        with contextlib.suppress(subprocess.SubprocessError, OSError):
            p = subprocess.run([self.bide, "store", "show", key, "-c", self.file],
                               env=tap.environment(), stdin=subprocess.DEVNULL,
                               capture_output=True, timeout=10)
            lines.append((p.stdout + p.stderr).decode(errors="replace"))
        return "\n".join(lines)

    def start(self):
        self.lives.append(Life(f"{self.log}.{len(self.lives)}"))
        with open(self.lives[-1].log, "ab") as log:
            self.process = subprocess.Popen([self.bide, "proxy", "-c", self.file],
                                            stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=tap.environment())

    def family(self):
        found = [self.process.pid]
        for pid in found:
            with contextlib.suppress(OSError), \
                    open(f"/proc/{pid}/task/{pid}/children") as f:
                found += [int(child) for child in f.read().split()]
        return found

    def kill(self):
        """All of it, at once. The supervisor is stopped first: a child that it begins
        meanwhile would keep the port."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGSTOP)
        until("the stop", lambda: stopped(self.process.pid))
        family = self.family()
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        until("the end", lambda: not any(alive(pid) for pid in family))

    def answers(self):
        """Or is started again, if something kept its file. That its port is open says
        only that somebody begins."""
        if self.process.poll() is not None:
            self.start()
        with contextlib.suppress(OSError, http.client.HTTPException), \
                contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port,
                                                              timeout=5)) as c:
            c.request("GET", "/")
            return c.getresponse().status > 0
        return False


class Client(threading.Thread):
    """It knows what each life of the sidecar told it, and when it last sent a request
    that this life then asked the store about."""

    def __init__(self, sidecar, number):
        super().__init__(daemon=True)
        self.sidecar, self.number = sidecar, number
        self.done, self.told, self.unknown, self.strange = {}, {}, [], []
        self.asked = {}  # by life
        self.ending = False
        self.last_call = float("inf")  # from then on nothing is waited for
        self.stuck = None
        self.served = None  # the life that told it 2xx last
        self.connection = self.last = self.life = None

    def connect(self):
        self.life = self.sidecar.lives[-1]
        self.connection = http.client.HTTPConnection("127.0.0.1", self.sidecar.port,
                                                     timeout=30)
        self.connection.connect()
        if self.life is not self.sidecar.lives[-1]:
            raise ConnectionError("to one life or the other")

    def ask(self, key):
        """Status, reason, replayed, body; None: no answer."""
        try:
            if not self.connection:
                self.connect()
            self.connection.request("POST", "/pay", b"amount=10",
                                    {"Idempotency-Key": f'"{key}"'})
            r = self.connection.getresponse()
            body = r.read()
            return (r.status, r.getheader("X-Bide-Reason"),
                    r.getheader("Idempotent-Replayed") == "true", body)
        except (OSError, http.client.HTTPException):
            with contextlib.suppress(Exception):
                self.connection.close()
            self.connection = None
            return None

    def settle(self, key):
        """Repeats it until it is answered."""
        heard = collections.Counter()
        self.last = (key, heard)
        while True:
            sent = time.monotonic()
            answer = self.ask(key)
            heard[answer and answer[:2]] += 1
            if answer and (answer[0] < 300 or answer[1] in FROM_THE_STORE):
                self.asked[self.life] = sent
            if answer is None or answer[0] in (502, 503, 504) or \
                    answer[1] == "idempotency_in_progress":
                if sent > self.last_call:
                    self.stuck = (key, heard)
                    return
                time.sleep(0.02)
            elif 200 <= answer[0] < 300:
                self.done[key] = answer
                self.told[key] = (self.life, time.monotonic())
                self.served = self.life
                return
            elif answer[1] == "idempotency_unknown":
                self.unknown.append(key)
                return
            else:
                self.strange.append((key, answer))
                return

    def run(self):
        n = 0
        while not self.ending and not self.stuck:
            n += 1
            self.settle(f"{self.number}-{n}")


@contextlib.contextmanager
def store_of(kind, directory):
    if kind == "sqlite":
        yield f"sqlite:{directory}/once.db", None
        return
    with (Postgres if kind == "postgresql" else Redis)(durable=True) as server:
        if kind == "postgresql":
            server.wait()
        yield server.url, server


class Away:
    """When the server of the store was away."""

    def __init__(self, sidecar, clients):
        self.sidecar, self.clients, self.times = sidecar, clients, []

    def crash(self, server, between):
        self.times.append([time.monotonic(), None])
        server.crash()
        between()
        server.start()
        if hasattr(server, "wait"):
            server.wait()
        self.times[-1][1] = time.monotonic()

    def asked(self, life):
        """When a request was sent that this life has asked the store about; later
        than all others of that kind."""
        return max((c.asked.get(life, 0) for c in self.clients), default=0)

    def settled(self):
        """The sidecar has the store again, and what it owed is written."""
        return self.asked(self.sidecar.lives[-1]) > self.times[-1][1]

    def excuses(self, life, told):
        """That there may be no record of what was told then."""
        asked = self.asked(life)
        away = any(begin <= told and end >= max(life.born, asked)
                   for begin, end in self.times)
        return told >= asked and (away or life.ends_down())

    def about(self, life, told):
        """For whoever wonders: all times since the life began."""
        asked = self.asked(life)
        times = [[round(t - life.born, 3) for t in both] for both in self.times]
        with open(life.log, errors="replace") as f:
            return (f"told {told - life.born:.3f}, asked {asked - life.born:.3f}, away "
                    f"{times}, {f.read()}")


def kill_often(sidecar, server, kills, rng, away, clients):
    """How many times it came to. Each fourth life serves somebody, however long that
    takes: on a slow disk the others may be too short for it."""
    end = time.monotonic() + SECONDS

    def serves():
        return any(c.served is sidecar.lives[-1] for c in clients)

    def again():
        sidecar.kill()
        sidecar.start()
    for i in range(kills):
        if time.monotonic() > end:
            kills = i
            break
        time.sleep(rng.uniform(0.02, 0.25))
        if server and i % 12 == 6:
            both = i % 24 == 6
            away.crash(server, again if both else lambda: None)
            if not both:  # whoever lives on must write it all
                until("the store", away.settled)
            continue
        again()
        if i % 4 == 3 or rng.random() < 0.8:
            until("the sidecar", sidecar.answers)
        if i % 4 == 3:
            until("an effect", serves)
    until("the sidecar", sidecar.answers)
    return kills


def end_all(name, sidecar, clients):
    """Each after the answer that it waits for."""
    end = time.monotonic() + LAST
    for c in clients:
        c.last_call, c.ending = end, True
    for c in clients:
        c.join(max(0, end + 40 - time.monotonic()))  # the last try takes 30
    stuck = [c.stuck or c.last for c in clients if c.stuck or c.is_alive()]
    tap.case(f"{name}_all_clients_end", not stuck,
             f"{stuck}\n{stuck and sidecar.shows(stuck[0][0])}")


def judge(name, mode, origin, clients):
    done = {k: a for c in clients for k, a in c.done.items()}
    unknown = [k for c in clients for k in c.unknown]
    strange = [s for c in clients for s in c.strange]
    tap.case(f"{name}_no_other_answers", not strange, strange[:5])
    twice = [k for k, n in origin.effects.items() if n > 1]
    tap.case(f"{name}_no_key_twice_at_the_origin", not twice, twice[:10])
    wrong = [(k, a) for k, a in done.items()
             if json.loads(a[3]) != {"charge": origin.charges.get(k)}]
    tap.case(f"{name}_each_2xx_is_of_its_effect", not wrong, wrong[:5])
    if mode == "retry":
        tap.case(f"{name}_all_end_in_2xx", not unknown, unknown[:10])
    return done, unknown


class Again(Client):
    """Asks for what was told, once more. What is excused may be in progress, for as long
    as its lease; nothing else may."""

    def __init__(self, sidecar, number, keys, excused):
        super().__init__(sidecar, number)
        self.keys, self.excused, self.again = keys, excused, {}
        self.last_call = time.monotonic() + PATIENCE

    def is_over(self, key, answer):
        return answer is not None and answer[0] not in (502, 503) and not (
            key in self.excused and answer[1] == "idempotency_in_progress")

    def run(self):
        for key in self.keys:
            while not self.is_over(key, again := self.ask(key)):
                if time.monotonic() > self.last_call:
                    self.stuck = (key, again)
                    return
                time.sleep(0.02)
            self.again[key] = again


def ask_again(case, sidecar, keys, excused):
    """What is said of each."""
    clients = [Again(sidecar, f"again-{i}", keys[i::CLIENTS], excused)
               for i in range(CLIENTS)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    stuck = [c.stuck for c in clients if c.stuck]
    tap.case(case, not stuck, f"{stuck}\n{stuck and sidecar.shows(stuck[0][0])}")
    return {k: a for c in clients for k, a in c.again.items()}


def replay(name, mode, origin, sidecar, done, excused, about):
    """What was told is told again, and the origin hears nothing of it. If the origin
    knows its keys, it may be asked again about what is excused, and says the same."""
    before, wrong, lost = origin.arrived, [], 0
    refuse = mode == "refuse"
    again = ask_again(f"{name}_each_repeat_is_answered", sidecar,
                      [key for key in done if refuse or key not in excused], excused)
    for key, said in again.items():
        told = done[key]
        if said[1] == "idempotency_unknown" and key in excused:
            lost += 1
        elif said[0] != told[0] or said[3] != told[3] or not said[2]:
            wrong.append((key, told, said, about(key)))
    tap.case(f"{name}_each_2xx_is_replayed", not wrong, wrong[:5])
    tap.case(f"{name}_replaying_asks_nobody", origin.arrived == before)
    if refuse:
        return lost
    again = ask_again(f"{name}_each_excused_one_is_answered", sidecar,
                      [key for key in done if key in excused], excused)
    wrong = [(key, done[key], said, about(key)) for key, said in again.items()
             if said[0] != done[key][0] or said[3] != done[key][3] or
             origin.effects[key] != 1]
    tap.case(f"{name}_each_excused_2xx_is_told_again", not wrong, wrong[:5])
    return sum(not said[2] for said in again.values())


@contextlib.contextmanager
def watched(sidecar, clients):
    """Ends the test when it has taken too long, and says who hangs and where."""
    def hangs():
        wait = [c.last for c in clients if c.is_alive() and c.last]
        stack = sys._current_frames()[threading.main_thread().ident]
        said = [f"{len(wait)} clients wait: {wait}", *traceback.format_stack(stack),
                sidecar.shows(wait[0][0] if wait else "0-1")]
        for line in "\n".join(said).splitlines():
            print("# " + line)
        print("Bail out! ONCE_LIMIT is over", flush=True)
        for pid in sidecar.family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(os.path.dirname(sidecar.file), ignore_errors=True)
        os._exit(1)
    timer = threading.Timer(END - time.monotonic(), hangs)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def strike(name, mode, sidecar, server, kills, rng):
    """Kills, then looks at what everybody was told."""
    origin = sidecar.origin
    until("the sidecar", sidecar.answers)
    clients = [Client(sidecar, i) for i in range(CLIENTS)]
    away = Away(sidecar, clients)
    with watched(sidecar, clients):
        for c in clients:
            c.start()
        asked, kills = kills, kill_often(sidecar, server, kills, rng, away,
                                        clients)
        end_all(name, sidecar, clients)
        done, unknown = judge(name, mode, origin, clients)
        arrived = origin.arrived
        why = {k: told for c in clients for k, told in c.told.items()}
        excused = {k for c in clients for k, told in c.told.items()
                   if not c.done[k][2] and away.excuses(*told)}
        lost = replay(name, mode, origin, sidecar, done, excused,
                      lambda key: away.about(*why[key]))
    about = (f"{kills} of {asked} kills, {len(away.times)} of them of the store's "
             f"server; {len(done)} keys ended in 2xx, {len(unknown)} unknown; {arrived} "
             f"requests at the origin; {len(excused)} were told while the store was away "
             f"by a sidecar that was killed before it had it again, {lost} of them are "
             f"{'unknown now' if mode == 'refuse' else 'done anew, with the same end'}")
    print(f"# {name}: {about}")
    tap.case(f"{name}_something_happened", len(done) >= kills // 4, about)


def torture(bide, kind, mode, kills, seed):
    rng = random.Random(seed)
    directory = tempfile.mkdtemp(prefix="bide-once-", dir=short_folder())
    origin = Origin(mode == "retry")
    try:
        with store_of(kind, directory) as (url, server):
            sidecar = Sidecar(bide, url, origin, mode, directory)
            sidecar.start()
            try:
                strike(f"{kind}_{mode}", mode, sidecar, server, kills, rng)
            finally:
                sidecar.kill()
                if tap.failed:
                    with open(sidecar.lives[-1].log, errors="replace") as f:
                        print("# " + "# ".join(f.readlines()[-20:]))
    finally:
        origin.stop()
        shutil.rmtree(directory, ignore_errors=True)


def main(bide, kind, kills, *modules):
    if modules:
        os.environ["BIDE_MODULES"] = os.path.dirname(os.path.abspath(modules[0]))
    kills = int(os.environ.get("ONCE_KILLS", kills))
    seed = int(os.environ.get("SEED", "1"))
    for mode in "refuse", "retry":
        torture(os.path.abspath(bide), kind, mode, kills // 2, seed)
    tap.finish()


main(*sys.argv[1:])
