#!/usr/bin/env python3
"""disk.py BIDE: an access log on a disk that is full has no torn line, neither then
nor when there is room again."""
import contextlib
import json
import os
import subprocess

from parts import (ADMIN, OPEN, Answer, Origin, Sidecar, ask, config, connect, ended,
                   get, ok, run, says, series, tap, until, work)

SIZE = 65536


@contextlib.contextmanager
def small_disk():
    """A file system of 64 KiB; None where nobody may mount one."""
    path = os.path.join(work.name, "disk")
    os.makedirs(path, exist_ok=True)
    r = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", path],
                       capture_output=True, check=False)
    if r.returncode:
        yield None
        return
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def torn(path):
    """Lines that are none."""
    with open(path, "rb") as f:
        data = f.read()
    wrong = []
    for line in data.split(b"\n")[:-1]:
        try:
            json.loads(line)
        except ValueError:
            wrong.append(line)
    return wrong + ([data.split(b"\n")[-1]] if not data.endswith(b"\n") else [])


def ask_many(p, n):
    """Of paths of all lengths, so that lines end anywhere."""
    c = connect(p)
    good = 0
    for i in range(n):
        c.send(get("/" + "x" * (i * 7 % 97)))
        good += Answer(c).status == 200
    c.close()
    return good


def full():
    with small_disk() as disk:
        if not disk:
            print("# no file system can be mounted here: left out")
            tap.case("a disk that is full (left out)", True)
            return
        log = os.path.join(disk, "log")
        filler = os.path.join(disk, "filler")
        with open(filler, "wb") as f:
            f.write(b"x" * (SIZE // 2))
        o = Origin(says(ok()))
        p = Sidecar(config([o.port], policy=OPEN, more=ADMIN +
                           f"  access_log: {log}\n"))
        tap.case("1000 requests are answered", ask_many(p, 1000) == 1000)
        tap.case("lines are dropped and counted", until(lambda: series(
            p, "bide_log_dropped_total", 'log="access"') > 0))
        tap.case("no line is torn", not torn(log), torn(log)[:3])
        os.remove(filler)
        tap.case("when there is room again, lines are written", until(
            lambda: ask(p, get("/afterwards")).status == 200 and
            b"/afterwards" in open(log, "rb").read()))
        tap.case("and still none is torn", not torn(log), torn(log)[:3])
        tap.case("it ends", ended(p) == 0)
        tap.case("nor by the end", not torn(log), torn(log)[:3])
        o.stop()


run(full)
