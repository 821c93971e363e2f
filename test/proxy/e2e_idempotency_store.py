#!/usr/bin/env python3
"""Keys and their store: what outlives a process, and what a store that is locked,
full, spoilt or changed does to requests. e2e_idempotency_store.py BIDE"""
import contextlib
import json
import os
import signal
import sqlite3
import time
import urllib.request

import sidecar
from parts import Answer, admin, ask, connect, counted, metric, proxied, run, tap, until
from payments import UNHURRIED, Payments, pay

ADMIN = "  admin: 127.0.0.1:0\n"
CALM = ("attempts: 1, budget: { kind: off }, breaker: { kind: off }, "
        "unreachable: { wait: none }")
# Where it is to be down: soon, but not for want of a core.
HURRIED = "store: { timeout: 2s }\n"


def door(more="", also="", top=UNHURRIED, **how):
    origin = Payments()
    return origin, proxied(origin, policy=CALM, more=ADMIN + also, top=top,
                           route=", idempotency: { accept: required%s }" % more,
                           **how)


def reason(a):
    return a.fields.get("x-bide-reason")


def replayed(a):
    return a.fields.get("idempotent-replayed") == "true"


def database(p):
    return p.file.removesuffix(".yaml") + ".db"


@contextlib.contextmanager
def locked(p):
    """Another process, or as good as one, holds the file."""
    db = sqlite3.connect(database(p), timeout=20, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        db.execute("ROLLBACK")
        db.close()


# ===== where =====

def place():
    origin, sidecar_ = door()
    with sidecar_ as p:
        said = "".join(p.said)
        tap.case("it says where records are",
                 f"idempotency records in {database(p)} (sqlite, kept 24h)" in said,
                 said)
        ask(p, pay("secret-key", b"secret-body"))
        mode = os.stat(database(p)).st_mode & 0o777
        tap.case("in a file that is nobody else's", mode == 0o600, oct(mode))
        with urllib.request.urlopen(admin(p) + "api/state") as r:
            state = json.load(r)
        names = {v["name"] for v in state["values"]}
        tap.case("the dashboard knows the store",
                 {"bide_store_records", "bide_store_up",
                  "bide_store_oldest_seconds"} <= names, names)
        tap.case("... and metrics", until(
            lambda: metric(p, "bide_store_records") == 1) and
            metric(p, "bide_store_up") == 1)
        tap.case("no key and no body is said anywhere",
                 "secret" not in json.dumps(state) + "".join(p.said))
    text = sidecar.config([1], route=", idempotency: { accept: required }")
    where = os.path.join(sidecar.work.name, "bad.yaml")
    for store, expected in (("sqlite:/proc/none/x.db", "/proc/none"),
                            (f"sqlite:{sidecar.work.name}", sidecar.work.name)):
        with open(where, "w", encoding="utf-8") as f:
            f.write(f"store: {store}\n" + text)
        code, _, err = tap.run([sidecar.BIDE, "proxy", "-c", where])
        tap.case(f"a place that cannot be ({store}): exit 2, and why",
                 code == 2 and expected in err, (code, err))


# ===== processes =====

def restart():
    origin, sidecar_ = door(", lease: 2s")
    with sidecar_ as p:
        first = ask(p, pay("k"))
        c = connect(p)
        c.send(pay("lost", do="wait"))
        until(lambda: origin.waiting == 1)
        before = p.pid
        os.kill(before, signal.SIGKILL)
        c.close()
        until(lambda: p.serving() and p.pid != before)

        def again(key):
            try:
                a = ask(p, pay(key))
                return a if a.status else None
            except OSError:
                return None
        until(lambda: again("k"))
        a = ask(p, pay("k"))
        tap.case("after kill -9 an answer is still known", replayed(a) and
                 a.body == first.body, a)
        a = ask(p, pay("lost"))
        tap.case("what was in flight is in progress, or unknown",
                 a.status == 409, a)
        tap.case("... and unknown after its lease", until(
            lambda: reason(ask(p, pay("lost"))) == "idempotency_unknown"))
        tap.case("... without a second effect", origin.effects["lost"] == 1)
        origin.let()


# ===== a store that fails =====

def down():
    origin, sidecar_ = door(", lease: 20s", top=HURRIED)
    with sidecar_ as p:
        ask(p, pay("before"))
        with locked(p):
            a = ask(p, pay("k"))
            tap.case("locked: 503", a.status == 503 and
                     reason(a) == "idempotency_store" and
                     "retry-after" in a.fields and
                     "x-bide-retry" not in a.fields, a)
            answers, waited = [], 0
            for i in range(20):
                begin = time.monotonic()
                answers.append(ask(p, pay(f"k{i}")).status)
                waited += time.monotonic() - begin >= 2
            tap.case("... and then at once", waited < 10 and set(answers) == {503},
                     (waited, answers))
            tap.case("... nothing reached the origin", origin.total == 1)
            tap.case("... metrics say so", metric(p, "bide_store_up") == 0)
            a = ask(p, pay(method=b"PUT"))
            tap.case("... other requests do not care", a.status == 201, a)
        tap.case("it is back by itself",
                 until(lambda: ask(p, pay("k")).status == 201))
        tap.case("... with what it knew", replayed(ask(p, pay("before"))))
        tap.case("... once", origin.effects["k"] == 1, origin.effects)
        said = "".join(p.said)
        tap.case("the operator is told, both times", "is down: " in said and
                 until(lambda: "is back" in "".join(p.said)), said)


def lost_after():
    origin, sidecar_ = door(", lease: 20s", top=HURRIED)
    with sidecar_ as p:
        c = connect(p)
        c.send(pay("k", do="wait"))
        until(lambda: origin.waiting == 1)
        with locked(p):
            origin.let()
            a = Answer(c)
            tap.case("lost after the origin answered: the client gets the answer",
                     a.status == 201, a)
        tap.case("... and the record follows",
                 until(lambda: replayed(ask(p, pay("k")))))
        tap.case("... once", origin.effects["k"] == 1)
        tap.case("... counted", counted(p, "idempotency_unwritten") == 1)


def passing():
    origin, sidecar_ = door(", on_store_failure: pass", top=HURRIED)
    with sidecar_ as p:
        with locked(p):
            a = ask(p, pay("k"))
            tap.case("on_store_failure: pass", a.status == 201, a)
            tap.case("... counted", counted(p, "idempotency_passed") == 1)
        until(lambda: metric(p, "bide_store_up") == 1)
        a = ask(p, pay("k"))
        tap.case("... and nothing was kept", a.status == 201 and not replayed(a), a)


def full():
    origin = Payments()
    text = "store: { limit: 1MiB, timeout: 20s }\n" + sidecar.config(
        [origin.port], policy=CALM, more=ADMIN,
        route=", idempotency: { accept: required, caller: X-Account }")
    p = sidecar.Sidecar(text)
    greedy, modest = b"X-Account: greedy\r\n", b"X-Account: modest\r\n"
    kept = 0
    while kept < 400:
        a = ask(p, pay(f"g{kept}", do="size=20000", more=greedy))
        if a.status != 201:
            break
        kept += 1
    tap.case("a caller that takes too much is refused", a.status == 503 and
             reason(a) == "idempotency_store" and kept > 10, (kept, a))
    tap.case("... what it has is kept",
             replayed(ask(p, pay("g0", more=greedy))))
    a = ask(p, pay("m", more=modest))
    tap.case("... and others get in", a.status == 201, a)
    tap.case("... counted", counted(p, "idempotency_full") >= 1)
    tap.case("... and the operator is told", until(
        lambda: "the store of idempotency records has no room" in "".join(p.said)), p.said)
    p.stop()
    origin.stop()


def network():
    """Without `caller`, shares are by address; one client has a /64 of IPv6."""
    origin = Payments()
    text = "store: { limit: 1MiB, timeout: 20s }\n" + sidecar.config(
        [origin.port], policy=CALM,
        more="  trusted: [127.0.0.1]\n  proxy_protocol: accept\n",
        route=", idempotency: { accept: required }")
    p = sidecar.Sidecar(text)

    def ask_from(address, key):
        c = connect(p)
        c.send(b"PROXY TCP6 " + address.encode() + b" ::1 1 2\r\n" +
               pay(key, do="size=20000"))
        a = Answer(c)
        c.close()
        return a
    kept = 0
    while kept < 100 and ask_from(f"2001:db8::{kept + 1:x}", f"g{kept}").status == 201:
        kept += 1
    tap.case("many addresses of one network have one share", 10 < kept < 30, kept)
    a = ask_from("2001:db8:0:1::1", "m")
    tap.case("... and another network gets in", a.status == 201, a)
    p.stop()
    origin.stop()


def spoilt():
    """Somebody who can write the file writes an answer of his own into it."""
    origin, sidecar_ = door()
    with sidecar_ as p:
        first = ask(p, pay("k"))
        db = sqlite3.connect(database(p), timeout=20)
        tables = [t for (t,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'")]
        spoiled = 0
        for t in tables:
            for row in db.execute(f"PRAGMA table_info({t})").fetchall():
                column = row[1]
                for rowid, value in db.execute(
                        f"SELECT rowid, {column} FROM {t}").fetchall():
                    if isinstance(value, bytes) and b"Location" in value:
                        evil = value.replace(b"X-Many: one\r\n",
                                             b"X-Man\r\n\r\none")
                        db.execute(f"UPDATE {t} SET {column} = ? WHERE rowid = ?",
                                   (evil, rowid))
                        spoiled += 1
        db.commit()
        db.close()
        a = ask(p, pay("k"))
        tap.case("an answer that was tampered with is not sent", spoiled == 1 and
                 a.status == 503 and reason(a) == "idempotency_store" and
                 origin.effects["k"] == 1, (first, a, tables))


def another():
    origin, sidecar_ = door()
    with sidecar_ as p:
        ask(p, pay("k"))
        other = os.path.join(sidecar.work.name, "other.db")
        there = f'store: {{ url: "sqlite:{other}", timeout: 20s }}\n'
        c = connect(p)
        c.send(pay("w", do="wait"))
        until(lambda: origin.waiting == 1)
        said = p.reload(p.text.replace(UNHURRIED, there))
        tap.case("a reload changes the store", "reloaded" in said and
                 f"idempotency records in {other}" in said, said)
        a = ask(p, pay("k"))
        tap.case("... which knows nothing yet", a.status == 201 and
                 not replayed(a), a)
        origin.let()
        tap.case("... what was in flight ends where it began",
                 Answer(c).status == 201)
        said = p.reload(p.text.replace(there, UNHURRIED))
        a = ask(p, pay("w"))
        tap.case("... and back: it was kept there", replayed(a), a)
        said = p.reload(p.text.replace(UNHURRIED, "store: sqlite:/proc/none/x.db\n"))
        tap.case("one that cannot be is refused, and the old one stays",
                 "was refused" in said and replayed(ask(p, pay("w"))), said)


run(place, restart, down, lost_after, passing, full, network, spoilt, another)
