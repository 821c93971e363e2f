#!/usr/bin/env python3
"""smuggle.py BIDE: every payload, to origins that read differently, over a pool of
two connections that honest clients share. No origin may see a request that an
honest reader does not find, and nobody gets an answer that is not theirs."""
import collections
import concurrent.futures

import origins
import payloads
from attack import (OPEN, PATIENCE, Answer, Origin, ask, attacked, connect, get,
                    ok, run, tap, until)

EVIL = "/ev"
TIMES = "  timeouts: { header: 300ms, body: 300ms, idle: 1s }\n"
POOL = ", pool: { connections: 2, connecting: 2, idle: 2 }"


class Attack:
    """One payload, and what came of it."""

    def __init__(self, trick, number, name, most, text):
        self.name = f"{trick.__name__}: {name}"
        self.path = f"/p{number}."
        self.most = most
        text = text.replace("{P}", self.path).replace("{E}", EVIL)
        self.data = text.encode("utf-8" if max(text) > "\xff" else "latin-1")
        self.wrong = []

    def go(self, p):
        c = connect(p)
        c.send(self.data)
        got = c.all()
        c.close()
        answers = got.count(b"HTTP/1.1 2")
        if answers > self.most:
            self.wrong.append(f"{answers} good answers: {got!r}")
        if not got:
            self.wrong.append("no answer")
        victim = f"/victim{self.path}"
        answer = until_answered(p, victim)
        if answer.body != victim.encode():
            self.wrong.append(f"an honest client got {answer}")


def until_answered(p, path):
    """A connection may be closed as idle before its request is there."""
    answers = []

    def asked():
        answers.append(ask(p, get(path)))
        return answers[-1].status
    until(asked)
    return answers[-1]


def attacks():
    number = 0
    for trick in payloads.TRICKS:
        for row in trick():
            number += 1
            yield Attack(trick, number, *row)


def judge(kind, crowd, seen):
    """What the origin has seen, against what it may have."""
    counts = collections.Counter(seen)
    known = set()
    for a in crowd:
        known |= {a.path, f"/victim{a.path}"}
        if counts[a.path] > a.most:
            a.wrong.append(f"the origin saw it {counts[a.path]} times")
    for trick in payloads.TRICKS:
        mine = [a for a in crowd if a.name.startswith(trick.__name__ + ":")]
        tap.case(f"{kind}: {trick.__name__}, {len(mine)} of them",
                 not any(a.wrong for a in mine),
                 "\n".join(f"{a.name} {a.data[:200]!r} {a.wrong}"
                           for a in mine if a.wrong))
    strange = [t for t in counts if absolute(t) not in known]
    tap.case(f"{kind}: sees nothing that nobody asked for", not strange, strange)
    tap.case(f"{kind}: sees each honest request once",
             all(counts[f"/victim{a.path}"] == 1 for a in crowd), counts)


def absolute(target):
    """The path of a target in absolute form."""
    return "/" + target.split("/", 3)[3] if "://" in target else target


def against(kind):
    def attack():
        origin = origins.KINDS[kind]()
        crowd = list(attacks())
        with attacked(origin, policy=OPEN + ", attempts: 1", more=TIMES,
                      upstream=POOL) as p:
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                for done in [pool.submit(a.go, p) for a in crowd]:
                    done.result(PATIENCE * 10)
            judge(kind, crowd, origin.seen())
    attack.__name__ = kind
    return attack


def mixed():
    """Answers behind answers: an origin that says more than it was asked for must
    not have it taken for the next client's."""
    extra = ok(b"evil", b"X-Evil: yes\r\n")

    def talk(o, peer):
        while head := o.request(peer):
            target = head.split(b" ")[1]
            if not peer.send(ok(target) + (extra if b"/more" in target else b"")):
                return
    o = Origin(talk)
    with attacked(o, policy=OPEN + ", attempts: 1", upstream=POOL) as p:
        got = []
        for i in range(50):
            c = connect(p)
            c.send(get(f"/more{i}") + get(f"/next{i}"))
            got += [(f"/more{i}", Answer(c).body), (f"/next{i}", Answer(c).body)]
            c.close()
            got.append((f"/other{i}", ask(p, get(f"/other{i}")).body))
        wrong = [g for g in got if g[0].encode() != g[1]]
        tap.case("an answer too many reaches nobody", not wrong, wrong)


run(*map(against, origins.KINDS), mixed)
