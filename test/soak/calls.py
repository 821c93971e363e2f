#!/usr/bin/env python3
"""calls.py BIDE [CALLS [SEED]]: gRPC calls over HTTP/2, 10 % of them with faults of every
kind that a stream or a connection can have, each counted at both ends. Without a number,
20 000 calls; `make soak` makes a million.

The origin (calls_origin.c) tells the story of each call, a letter for each time that it
came; the client (calls_client.c) how it ended. The rules below say which stories may be,
and how they end: what was listed is sent again, what was provably not begun goes again,
and nothing else is ever sent twice. Meanwhile one of two endpoints goes away and comes
back, and the sidecar reloads: that must not show.

A call that does not follow the rules is shown with its whole story: at the origin, at the
client, and in the sidecar's access log."""
import bisect
import collections
import json
import os
import random
import subprocess
import sys
import threading
import time

from parts import run, tap
from sidecar import FAST, Sidecar, config

CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
CONNECTIONS, AT_ONCE, ATTEMPTS = 8, 32, 3
MORE = "  workers: 2\n"
HOLD_MS = 100  # grpc.hold: so long a head waits for its status
POLICY = (FAST + f", attempts: {ATTEMPTS}, attempt_timeout: 2m, budget: {{ kind: off }}, "
          "breaker: { kind: off }, retry_on: { grpc: [UNAVAILABLE] }")

# ===== the rules =====

ASIDE = "rRg"     # not begun: goes again, once free of attempts
AGAIN = "UMW05"   # a status that the policy lists, and nothing passed on
STATUS = {        # all else is the end, with this grpc-status
    "O": "0", "t": "0", "q": "0",              # answered
    "-": "14", "s": "14", "B": "10", "I": "13",  # a pushback that says stop; not listed
    "n": "2", "h": "14", "H": "12",            # no status: by the table of gRPC
    "c": "14", "d": "14",                      # the stream broke
    "x": "14", "y": "14", "k": "14",           # the connection did
}
LETTERS = set(ASIDE + AGAIN + "fNezC") | set(STATUS)

# In milliseconds: when it began, by the clock of both ends, and how long it took.
Ended = collections.namedtuple("Ended",
                               "status http reset attempts reason body began took")
GOOD = Ended("0", "200", "-", 1, "-", "own", 0, 0)


def after_message(letter, end):
    """A message was sent, and then: 14 (f), nothing (N), a reset (e), or only a part of
    it (z)."""
    status, body = {"f": ("14", "own"), "N": ("2", "own"), "e": ("14", "own"),
                    "z": ("14", "other")}[letter]
    return (end.status, end.body, end.reset) == (status, body, "-")


def died_unread(end, kills):
    """Whether it may have been in a buffer of a connection that the origin reset: one of
    those resets was while it was under way."""
    at = bisect.bisect_left(kills, end.began - 1)
    return at < len(kills) and kills[at] <= end.began + end.took + 1


def unseen_end(end, kills):
    """Why a call may end by an attempt that the origin did not see; None: it may not."""
    if end.status != "14":
        return None
    if end.reason == "not_idempotent" and died_unread(end, kills):
        return "reset unread"
    if end.reason == "attempts" and end.attempts >= ATTEMPTS:
        return "the last on a connection that was closed at once"
    return None


def passed_on_late(story, end):
    """Whether the head had been passed on when the status came: after grpc.hold."""
    return story[-1:] in ("M", "W") and end.took >= HOLD_MS and (
        end.status, end.reason, end.body) == ("14", "-", "none")


def fits(story, end, kills, excused):
    """Why a story and its end do not fit together; None: they do. `kills`: when the origin
    has reset a connection. `excused` counts what is accepted without having been seen."""
    # A request that a GOAWAY has put aside may be read long after it has come again, on
    # another connection: when it was is not known, and makes no difference.
    story = "g" * story.count("g") + story.replace("g", "")
    spent, free, over = 0, True, None
    for i, letter in enumerate(story):
        if over:
            return f"sent again after `{story[i - 1]}`"
        if letter not in LETTERS:
            return f"`{letter}`"
        last = i == len(story) - 1
        if letter in ASIDE and free:
            free = False
        elif letter in ASIDE + AGAIN or letter == "f" and not last:
            spent += 1
            over = spent == ATTEMPTS and "14"
        else:
            over = STATUS.get(letter, letter)
    if end.status == "cancelled":
        return None
    if end.attempts < len(story):
        return f"only {end.attempts} attempts"
    if not over:
        unseen = end.attempts > len(story)
        why = (passed_on_late(story, end) and "passed on after grpc.hold" or
               unseen and unseen_end(end, kills) or None)
        excused[why] += 1
        return None if why else "given up"
    if over in ("f", "N", "e", "z"):
        return None if after_message(over, end) else "another end"
    if over == "0" and (end.body, end.reset, end.http) != ("own", "-", "200"):
        return "not its answer"
    return None if end.status == over and end.reset == "-" else "another status"


# ===== both ends =====

class Origin:
    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["BIDE_CALLS_ORIGIN"], str(CALLS), str(SEED)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ports = [int(x) for x in self.process.stdout.readline().split()]

    def tell(self):
        """The stories that are not just `O`; when it reset connections; and its counts."""
        out, _ = self.process.communicate()
        *lines, last = out.splitlines()
        rows = [line.split(" ") for line in lines]
        return ({int(n): story for n, story in rows if n != "killed"},
                sorted(int(ms) for n, ms in rows if n == "killed"),
                {k: int(v) for k, v in (x.split("=") for x in last.split())})


def ask(port, said):
    r = subprocess.run([os.environ["BIDE_CALLS_CLIENT"], str(port), str(CALLS),
                        str(CONNECTIONS), str(AT_ONCE)], stdout=subprocess.PIPE,
                       text=True, check=False)
    said.append(r.stdout)


def parse(said):
    """How calls ended that did not simply succeed; and the last line."""
    *lines, last = said.splitlines()
    ends = {}
    for line in lines:
        n, status, http, reset, attempts, reason, body, began, took = line.split()
        ends[int(n)] = Ended(status, http, reset, int(attempts), reason, body,
                             int(began), int(took))
    return ends, last


def logged(p, numbers):
    """The lines of the access log about these calls."""
    found = collections.defaultdict(list)
    wanted = {f"/soak.Calls/{n}": n for n in numbers}
    with open(p.log, encoding="utf-8") as f:
        for line in f:
            at = line.find('"path":"')
            n = wanted.get(line[at + 8:line.find('"', at + 8)])
            if n is not None:
                found[n].append(json.loads(line))
    return found


# ===== the run =====

def show(p, wrong, stories, ends):
    lines = logged(p, [n for n, _ in wrong[:20]])
    for n, why in wrong[:20]:
        print(f"# call {n}: {why}; story {stories.get(n, 'O')!r}; "
              f"{ends.get(n, GOOD)}; log {lines[n]}")


def judge(p, stories, kills, counts, said):
    ends, last = parse(said)
    lost = [n for n, e in ends.items() if e.status in ("lost", "open")]
    wrong, excused = [], collections.Counter()
    for n in sorted(stories.keys() | ends.keys()):
        story, end = stories.get(n, "O"), ends.get(n, GOOD)
        if n not in lost and (why := fits(story, end, kills, excused)):
            wrong.append((n, why))
    kinds = collections.Counter("".join(stories.values()))
    ended = collections.Counter(e.status for e in ends.values())
    ended["0"] += CALLS - len(ends)
    print(f"# client: {last}; by status {dict(ended)}")
    print(f"# origin: {counts}; {sum(len(s) > 0 for s in stories.values())} calls with "
          f"faults, by kind {dict(kinds)}; of their last attempt excused: {dict(excused)}")
    show(p, [(n, "lost") for n in lost] + wrong, stories, ends)
    tap.case("no call is lost", last.startswith(f"asked={CALLS} open=0 ") and not lost,
             f"seed {SEED}: {len(lost)} {lost[:10]}")
    tap.case("each ends as its story says, and ran as often as the policy allows",
             not wrong and counts["unnamed"] == 0, f"seed {SEED}: {len(wrong)} {wrong[:10]}")
    few = {k for k in LETTERS - set("C") if kinds[k] == 0}
    tap.case("faults of every kind were met", not few or CALLS < 100000, few)
    tap.case("no more died unread than a connection may carry", excused["reset unread"] <=
             100 * counts["killed"], (excused, counts))


def calls():
    origin = Origin()
    text = config(origin.ports, POLICY, MORE)
    p = Sidecar(text, log=True)
    said, reloads = [], 0
    began = time.monotonic()
    client = threading.Thread(target=ask, args=(p.port, said))
    client.start()
    while client.is_alive():
        p.reload()
        reloads += 1
        client.join(0.2 if CALLS <= 20000 else 1)
    took = time.monotonic() - began
    code = ended(p)
    stories, kills, counts = origin.tell()
    print(f"# {CALLS} calls, seed {SEED}, {reloads} reloads, {took:.0f} s")
    judge(p, stories, kills, counts, said[0])
    tap.case("the sidecar ends as told, without a word", code == 0 and not [
        x for x in p.said if "Sanitizer" in x or "runtime error" in x],
        "".join(p.said[-40:]))


def ended(p):
    """Ends it: its exit code. Its log may be long, and is read elsewhere."""
    p.process.terminate()
    code = p.process.wait(timeout=60)
    p.reader.join()
    return code


run(calls)
