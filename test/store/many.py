#!/usr/bin/env python3
"""many.py BIDE STORE_TOOL RECORDS: a sidecar on a SQLite store with many records: it
starts as fast as with none, knows them, and gets rid of those that have expired while
it serves. 10 million, with RECORDS=10000000, are 2.5 GB in /var/tmp."""
import http.client
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

import tap
from payments import Payments
from ports import free_port
from servers import PATIENCE, until

BIDE, TOOL = (os.path.abspath(p) for p in sys.argv[1:3])
RECORDS = int(os.environ.get("RECORDS", sys.argv[3]))
START_S = 1  # or as long as one takes five times that has an empty store


def fill(db):
    """By SQL, which is faster than by claims: copies of one record."""
    subprocess.run([TOOL, "fill", "sqlite:" + db, "1"], check=True,
                   stdout=subprocess.DEVNULL, env=tap.environment())
    c = sqlite3.connect(db, isolation_level=None)
    c.execute("PRAGMA synchronous = OFF")
    names = [row[1] for row in c.execute("PRAGMA table_info(record)")
             if row[1] not in ("id", "key")]
    rest = ", ".join(names)
    c.execute("BEGIN")
    c.execute(f"WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < "
              f"{RECORDS}) INSERT INTO record (key, {rest}) SELECT printf('%012d', i), "
              f"{rest} FROM n, record WHERE record.id = 1")
    c.execute(f"UPDATE room SET records = records * {RECORDS}, bytes = bytes * {RECORDS}")
    c.execute(f"UPDATE store SET records = records * {RECORDS}, "
              f"bytes = bytes * {RECORDS}")
    c.execute("COMMIT")
    c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    c.close()


def expire_all(db):
    """The clock of a store never goes back: so it is moved on."""
    c = sqlite3.connect(db, isolation_level=None)
    c.execute("UPDATE store SET clock = (SELECT max(expires) FROM record)")
    c.close()


class Sidecar:
    def __init__(self, folder, origin):
        self.port, self.admin = free_port(), free_port()
        self.file = os.path.join(folder, "many.yaml")
        self.log = os.path.join(folder, "many.log")
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(f"""
version: 1
policies: {{ default: {{ attempts: 1 }} }}
store: {{ url: "sqlite:{folder}/many.db", limit: 100GiB, timeout: 20s }}
proxy:
  listen: 127.0.0.1:{self.port}
  admin: 127.0.0.1:{self.admin}
  routes: [ {{ upstream: pay, idempotency: {{ accept: required }} }} ]
  upstreams: {{ pay: {{ endpoints: ["http://127.0.0.1:{origin.port}"] }} }}
""")

    def start(self):
        """How long it takes until it listens."""
        begin = time.monotonic()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([BIDE, "proxy", "-c", self.file], stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL,
                                            env=tap.environment())
        until("listening", lambda: b"listening" in open(self.log, "rb").read())
        return time.monotonic() - begin

    def ask(self, port, method, path, **fields):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        c.request(method, path, headers=fields)
        r = c.getresponse()
        body = r.read().decode()
        c.close()
        return r.status, body

    def metric(self, name):
        for line in self.ask(self.admin, "GET", "/metrics")[1].splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        return None

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


def fastest(sidecar):
    """Of three starts."""
    def once():
        took = sidecar.start()
        sidecar.stop()
        return took
    return min(once() for _ in range(3))


def main():
    origin = Payments()
    with tempfile.TemporaryDirectory(prefix="bide-many-", dir="/var/tmp") as folder:
        sidecar = Sidecar(folder, origin)
        empty = fastest(sidecar)
        fill(folder + "/many.db")
        took = fastest(sidecar)
        print(f"# {RECORDS} records: it listens after {took:.3f} s, without after "
              f"{empty:.3f} s")
        tap.case("it starts within a second", took < max(START_S, 5 * empty),
                 (took, empty))
        sidecar.start()
        tap.case("it knows how many there are", until("counts", lambda: sidecar.metric(
            "bide_store_records") == RECORDS))
        code, out, err = tap.run([BIDE, "store", "show", f"{RECORDS:012d}", "-c",
                                  sidecar.file])
        tap.case("... and each of them", code == 0 and "done" in out, (code, out, err))
        sidecar.stop()
        expire_all(folder + "/many.db")
        sidecar.start()
        a = sidecar.ask(sidecar.port, "POST", "/", **{"Idempotency-Key": "a"})
        tap.case("when all have expired, it serves", a[0] == 201, a)
        tap.case("... and sweeps meanwhile", until("a sweep", lambda: sidecar.metric(
            "bide_store_swept_total") >= min(RECORDS, 1000)))
        sidecar.stop()
    origin.stop()
    tap.finish()


main()
