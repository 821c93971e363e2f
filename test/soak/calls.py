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
# A head waits for its status as long as it takes: what happens when that takes longer
# than grpc.hold is not what this is about (e2e_grpc.py).
MORE = "  workers: 2\n  grpc: { hold: 10s }\n"
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

Ended = collections.namedtuple("Ended", "status http reset attempts reason body")
GOOD = Ended("0", "200", "-", 1, "-", "own")


def after_message(letter, end):
    """A message was sent, and then: 14 (f), nothing (N), a reset (e), or only a part of
    it (z)."""
    status, body = {"f": ("14", "own"), "N": ("2", "own"), "e": ("14", "own"),
                    "z": ("14", "other")}[letter]
    return (end.status, end.body, end.reset) == (status, body, "-")


def unseen_end(spent, unseen, end, resets):
    """Whether a call may end by an attempt that the origin did not see: in a buffer when a
    connection was reset, or the last one allowed, on a connection that was closed at once."""
    return end.status == "14" and (
        end.reason == "not_idempotent" and resets > 0 or
        end.reason == "attempts" and spent + unseen >= ATTEMPTS)


def fits(story, end, resets):
    """Why a story and its end do not fit together; None: they do. `resets`: connections that
    the origin has reset."""
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
    unseen = end.attempts - len(story)
    if end.status == "cancelled":
        return None
    if unseen < 0:
        return f"only {end.attempts} attempts"
    if not over:
        return None if unseen_end(spent, unseen, end, resets) else "given up"
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
        """The stories that are not just `O`, and its counts."""
        out, _ = self.process.communicate()
        *lines, last = out.splitlines()
        rows = (line.split(" ") for line in lines)
        return ({int(n): story for n, story in rows},
                {k: int(v) for k, v in (x.split("=") for x in last.split())})


def ask(port, said):
    r = subprocess.run([os.environ["BIDE_CALLS_CLIENT"], str(port), str(CALLS),
                        str(CONNECTIONS), str(AT_ONCE)], stdout=subprocess.PIPE,
                       text=True, check=False)
    said.append(r.stdout)


def parse(said):
    """How calls ended that did not simply succeed; when; and the last line."""
    *lines, last = said.splitlines()
    ends, times = {}, {}
    for line in lines:
        n, status, http, reset, attempts, reason, body, began, took = line.split()
        ends[int(n)] = Ended(status, http, reset, int(attempts), reason, body)
        times[int(n)] = (int(began), int(took))
    return ends, times, last


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

def show(p, wrong, stories, ends, times):
    lines = logged(p, [n for n, _ in wrong[:20]])
    for n, why in wrong[:20]:
        print(f"# call {n}: {why}; story {stories.get(n, 'O')!r}; "
              f"{ends.get(n, GOOD)} {times.get(n)}; log {lines[n]}")


def judge(p, stories, counts, said):
    ends, times, last = parse(said)
    lost = [n for n, e in ends.items() if e.status in ("lost", "open")]
    wrong, unread = [], 0
    for n in sorted(stories.keys() | ends.keys()):
        story, end = stories.get(n, "O"), ends.get(n, GOOD)
        # All that is known of the last attempt is that it was not answered.
        unread += end.reason == "not_idempotent" and not set(story) - set(ASIDE + AGAIN)
        if n not in lost and (why := fits(story, end, counts["reset"])):
            wrong.append((n, why))
    kinds = collections.Counter("".join(stories.values()))
    ended = collections.Counter(e.status for e in ends.values())
    ended["0"] += CALLS - len(ends)
    print(f"# client: {last}; by status {dict(ended)}")
    print(f"# origin: {counts}; {sum(len(s) > 0 for s in stories.values())} calls with "
          f"faults, by kind {dict(kinds)}; {unread} in a buffer when a connection was reset")
    show(p, [(n, "lost") for n in lost] + wrong, stories, ends, times)
    tap.case("no call is lost", last.startswith(f"asked={CALLS} open=0 ") and not lost,
             f"seed {SEED}: {len(lost)} {lost[:10]}")
    tap.case("each ends as its story says, and ran as often as the policy allows",
             not wrong and counts["unnamed"] == 0, f"seed {SEED}: {len(wrong)} {wrong[:10]}")
    few = {k for k in LETTERS - set("C") if kinds[k] == 0}
    tap.case("faults of every kind were met", not few or CALLS < 100000, few)
    tap.case("no more died unread than a connection may carry", unread <=
             100 * counts["reset"], (unread, counts))


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
    stories, counts = origin.tell()
    print(f"# {CALLS} calls, seed {SEED}, {reloads} reloads, {took:.0f} s")
    judge(p, stories, counts, said[0])
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
