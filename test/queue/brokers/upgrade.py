#!/usr/bin/env python3
"""upgrade.py BIDE [MODULE...]: queues that an earlier bide has made. While its workers are
at work, a newer one says so and changes nothing; afterwards all messages are there."""
import fcntl
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile

import servers
import tap

BIDE = os.path.join(tap.START, sys.argv[1])
ENV = tap.environment()
for module in sys.argv[2:]:
    ENV["BIDE_MODULES"] = os.path.dirname(os.path.join(tap.START, module))
HERE = os.path.dirname(os.path.abspath(__file__))


def schema(name):
    with open(os.path.join(HERE, f"version1.{name}.sql")) as f:
        return f.read()


def work(url):
    """What `bide worker` hands out until nothing is left, sorted; or why it does not."""
    p = subprocess.run([BIDE, "worker", "--broker", url, "--until-empty", "--quiet", "--",
                        "sh", "-c", "echo $(cat)"], env=ENV, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=120)
    return sorted(p.stdout.split()) if p.returncode == 0 else p.stderr


def both(name, url, end_of_worker):
    text = work(url)
    tap.case(f"{name}_is_left_alone_while_its_workers_work",
             "earlier version" in text, text)
    end_of_worker()
    text = work(url)
    tap.case(f"{name}_is_brought_up_to_date_with_all_its_messages",
             text == ["one", "three", "two"], text)
    text = work(url)
    tap.case(f"{name}_stays_so", text == [], text)


def postgresql():
    with servers.Postgres(durable=True) as p:
        p.wait()
        path = os.path.join(p.dir, "version1.sql")
        with open(path, "w") as f:
            f.write(schema("postgresql"))
        os.chmod(path, 0o644)
        subprocess.run([os.path.join(p.bin, "psql"), "-Xq1", "-v", "ON_ERROR_STOP=1", "-h",
                        p.dir, "-U", "bide", "-d", "postgres", "-f", path], check=True,
                       capture_output=True)
        for body in "one", "two", "three":
            p.sql(f"INSERT INTO bide_queue.message (body) VALUES ('{body}')")
        p.sql("INSERT INTO bide_queue.worker (queue, lease_until) VALUES ('default', "
              "now() + interval '1 hour')")
        taken = p.sql("SELECT count(*) FROM bide_queue.take('default', 1, 3600000000, 1, "
                      "1, false, 600000000)")
        tap.case("postgresql_of_version_1_hands_out_a_message", taken == "1", taken)
        both("postgresql", p.url,
             lambda: p.sql("UPDATE bide_queue.worker SET lease_until = now()"))
        version = p.sql("SELECT version FROM bide_queue.about")
        tap.case("postgresql_knows_its_version", version == "2", version)


def sqlite():
    """Its worker is this process, which has the lock of number 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "queue.db")
        db = sqlite3.connect(path)
        db.executescript("PRAGMA journal_mode = WAL;" + schema("sqlite"))
        db.execute("INSERT INTO queue (name) VALUES ('default')")
        db.execute("INSERT INTO worker (queue, pid) VALUES (1, 1)")
        for i, body in enumerate((b"one", b"two", b"three")):
            db.execute("INSERT INTO message (queue, id, state, priority, due_ms, "
                       "queued_ms, worker, body) VALUES (1, ?, ?, 0, 0, 0, ?, ?)",
                       (f"id{i}", i == 0, 1 if i == 0 else None, body))
        db.commit()
        db.close()
        lock = os.open(path + "-workers", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK,
                    struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 1, 1, 0))
        both("sqlite", "sqlite:" + path, lambda: os.close(lock))


def redis():
    """There, nothing has to change: what a worker had read was listed twice."""
    with servers.Redis() as r:
        r.ask("CONFIG SET appendonly yes")
        r.ask("CONFIG SET appendfsync always")
        for body in "one", "two", "three":
            r.ask(f"XADD default * body {body}")
        r.ask("XGROUP CREATE default bide 0")
        r.ask("XREADGROUP GROUP bide w1 COUNT 1 STREAMS default >")
        entry = r.ask("EVAL \"return redis.call('XRANGE', 'default', '-', '+')[1][1]\" 0")
        r.ask(f"HSET default:worker:w1 s0/{entry} 1")
        r.ask("ZADD default:workers 1 w1")
        text = work(r.tcp)
        tap.case("redis_rescues_what_an_earlier_worker_had_once",
                 text == ["one", "three", "two"], text)


sqlite()
redis()
if any("postgresql" in module for module in sys.argv[2:]):
    postgresql()
tap.finish()
