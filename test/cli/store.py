#!/usr/bin/env python3
"""store.py BIDE STORE_TOOL: `bide store` from the outside: tables, JSON, exit codes,
and what an operator meets: files that are not there, damaged, locked, read-only, full,
readable by others, or of somebody else."""
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

import tap

BIDE, TOOL = (os.path.abspath(p) for p in sys.argv[1:3])


def bide(*args, **env):
    p = subprocess.run([BIDE, "store", *args], capture_output=True, text=True,
                       timeout=120, env=tap.environment(**env))
    return p.returncode, p.stdout, p.stderr


def tool(*args, **more):
    return subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True,
                          timeout=120, **more)


def case(name, got, code, *words):
    """The exit code, and what is said somewhere."""
    said = got[1] + got[2]
    tap.case(name, got[0] == code and all(w in said for w in words), got)


def shows(folder):
    db = os.path.join(folder, "shop.db")
    url = "sqlite:" + db
    tool("fill", url, 3)
    policy = os.path.join(folder, "shop.yaml")
    with open(policy, "w", encoding="utf-8") as f:
        f.write("version: 1\npolicies: { default: { attempts: 4 } }\n")
    case("ls_finds_the_file_beside_the_policy", bide("ls", "-c", policy), 0,
         "key-0", "key-2", "done", "201", "3 records")
    case("ls_takes_a_url", bide("ls", "--store", url), 0, "3 records")
    case("ls_shows_the_newest", bide("ls", "-n", "1", "--store", url), 0,
         "1 of 3 records")
    rows = json.loads(bide("ls", "--json", "-s", url)[1])
    tap.case("ls_json_has_them", rows["records_kept"] == 3 and
             {r["key"] for r in rows["records"]} == {"key-0", "key-1", "key-2"} and
             rows["records"][0]["state"] == "done", rows)
    for width in (20, 24, 30, 40, 60, 80, 200):
        lines = bide("ls", "-s", url, COLUMNS=str(width))[1].splitlines()[:-1]
        tap.case(f"ls_fits_{width}_columns", len(lines) == 4 and
                 all(len(line) <= width for line in lines), lines)
    case("ls_of_another_scope_is_empty", bide("ls", "--scope", "/x", "-s", url), 0,
         "0 records")
    case("show_has_the_answer", bide("show", "key-1", "-s", url), 0, "done, status 201",
         "2 B")
    tap.case("show_prints_the_answer",
             bide("show", "key-1", "--answer", "-s", url)[1] == "{}")
    case("show_knows_no_other", bide("show", "nope", "-s", url), 1, "no record of nope")
    case("purge_needs_an_age", bide("purge", "-s", url), 2, "--older-than")
    case("purge_leaves_the_young", bide("purge", "--older-than", "7d", "-s", url), 0,
         "0 records removed")
    hold = subprocess.Popen([TOOL, "hold", url, "held"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    hold.stdout.readline()
    case("show_in_progress", bide("show", "held", "-s", url), 0, "in progress",
         "lease ends")
    case("purge_leaves_what_is_in_progress",
         bide("purge", "--older-than", "0", "-s", url), 0, "3 records removed")
    case("it_is_still_there", bide("ls", "-s", url), 0, "held", "1 record,")
    hold.stdin.close()
    hold.wait()
    return url


def hostile(folder):
    """Keys that a terminal would obey."""
    db = os.path.join(folder, "keys.db")
    tool("fill", "sqlite:" + db, 1)
    with sqlite3.connect(db) as c:
        c.execute("UPDATE record SET key = ?, owner = ?",
                  ("a\x1b]0;owned\x07\n\\" + "\u202e", "x\x9by"))
    c.close()
    code, out, err = bide("ls", "-s", "sqlite:" + db)
    tap.case("keys_are_escaped", code == 0 and "\x1b" not in out and "\\x1b]0;owned" in
             out and out.isascii(), (out, err))
    code, out, err = bide("show", "a\x1b[31mb", "-s", "sqlite:" + db)
    tap.case("what_is_asked_for_too", code == 1 and "\x1b" not in err, err)


def usage():
    case("no_store_is_named", bide("ls"), 2, "-c FILE or --store URL")
    case("both_are_named", bide("ls", "-c", "x", "-s", "memory"), 2, "say which store")
    case("no_command", bide("-s", "memory"), 2, "expected ls, show or purge")
    case("unknown_command", bide("lst", "-s", "memory"), 2, "did you mean `ls`")
    case("memory_is_elsewhere", bide("ls", "-s", "memory"), 2, "nobody else")
    case("unknown_kind", bide("ls", "-s", "mysql://x"), 2, "sqlite:PATH")
    case("bad_age", bide("purge", "--older-than", "soon", "-s", "memory"), 2,
         "a duration")
    case("show_without_a_key", bide("show", "-s", "memory"), 2, "expected a key")
    case("no_policy_file", bide("ls", "-c", "/nowhere.yaml"), 2, "/nowhere.yaml")


def files(folder):
    def path(name):
        return os.path.join(folder, name)

    def ls(name):
        return bide("ls", "-s", "sqlite:" + path(name))

    tool("fill", "sqlite:" + path("good.db"), 50)
    case("not_there", ls("none.db"), 2, "is not there")
    tap.case("and_is_not_made", not os.path.exists(path("none.db")))
    case("no_directory", bide("ls", "-s", "sqlite:/no/such/x.db"), 2, "/no/such")
    case("no_path", bide("ls", "-s", "sqlite:"), 2, "sqlite:")
    case("a_directory", ls("."), 2, "expected the name of a file")

    os.symlink(path("good.db"), path("link.db"))
    case("a_symbolic_link", ls("link.db"), 2, "symbolic link")
    os.mkdir(path("real"))
    os.symlink(path("real"), path("alias"))
    shutil.copy(path("good.db"), path("real/good.db"))
    case("a_linked_directory_is_fine", ls("alias/good.db"), 0, "50 records")
    os.link(path("real/good.db"), path("second.db"))
    case("a_hard_link", ls("second.db"), 2, "hard link")

    shutil.copy(path("good.db"), path("open.db"))
    os.chmod(path("open.db"), 0o644)
    case("readable_by_others", ls("open.db"), 2, "0644", "chmod 600")
    os.mkfifo(path("fifo.db"))
    case("no_file", ls("fifo.db"), 2, "is not a file")

    with open(path("text.db"), "w", encoding="utf-8") as f:
        f.write("no database\n" * 1000)
    os.chmod(path("text.db"), 0o600)
    case("no_database", ls("text.db"), 2, "is no database")
    with sqlite3.connect(path("other.db")) as c:
        c.execute("CREATE TABLE t (x)")
    c.close()
    os.chmod(path("other.db"), 0o600)
    case("of_another_program", ls("other.db"), 2, "of another program")
    tap.case("which_is_left_alone", sqlite3.connect(path("other.db")).execute(
        "PRAGMA journal_mode").fetchone() == ("delete",))

    shutil.copy(path("good.db"), path("bad.db"))
    with open(path("bad.db"), "r+b") as f:
        f.seek(4096)
        f.write(b"\xff" * (os.path.getsize(path("bad.db")) - 4096))
    os.chmod(path("bad.db"), 0o600)
    before = open(path("bad.db"), "rb").read()
    case("damaged", ls("bad.db"), 2, "damaged", "nothing was changed")
    tap.case("damaged_is_left_alone", open(path("bad.db"), "rb").read() == before)


def busy(folder):
    db = os.path.join(folder, "busy.db")
    tool("fill", "sqlite:" + db, 5)
    c = sqlite3.connect(db, isolation_level=None)
    c.execute("BEGIN IMMEDIATE")
    case("ls_of_a_locked_one", bide("ls", "-s", "sqlite:" + db), 0, "5 records")
    case("purge_of_a_locked_one",
         bide("purge", "--older-than", "0", "-s", "sqlite:" + db), 2,
         "locked by another process")
    hold = subprocess.Popen([TOOL, "hold", "sqlite:" + db, "k"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    time.sleep(0.3)
    c.execute("ROLLBACK")
    c.close()
    tap.case("who_waits_gets_it_afterwards", hold.stdout.readline() == "first\n")
    hold.stdin.close()
    hold.wait()


def full(folder):
    """A file that may not grow: what was kept stays, what comes is refused."""
    db = os.path.join(folder, "full.db")
    tool("fill", "sqlite:" + db, 100)

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))

    p = subprocess.Popen([TOOL, "claim", "sqlite:" + db, "2000"], preexec_fn=small,
                         stdout=subprocess.PIPE, text=True)
    won = []
    while len(won) < 2000:
        line = p.stdout.readline().strip()
        if not line:
            break
        won.append(line)
        if os.path.exists(db + "-wal") and os.path.getsize(db + "-wal") >= 60 << 10:
            break
    time.sleep(0.5)
    p.kill()
    won += p.stdout.read().split()
    p.wait()
    look = tool("look", "sqlite:" + db, input="\n".join(won) + "\n").stdout
    tap.case("a_full_disk_loses_nothing", 0 < len(won) < 2000 and
             all(line.endswith("in progress") for line in look.splitlines()) and
             len(look.splitlines()) == len(won), (len(won), look[-200:]))
    case("and_it_is_whole", bide("ls", "-n", "0", "-s", "sqlite:" + db), 0,
         f"{100 + len(won)} records")


def frozen():
    """A server that takes connections and says nothing is asked once."""
    with tempfile.TemporaryDirectory(prefix="bide-") as folder:
        path = os.path.join(folder, "s")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            server.listen(8)
            got = bide("ls", "-s", "redis+unix://" + path)
            case("of_a_server_that_is_silent", got, 2, "redis: unix:" + path, "no answer in time")
            asked = 0
            server.setblocking(False)
            try:
                while True:
                    server.accept()[0].close()
                    asked += 1
            except BlockingIOError:
                pass
            tap.case("which_is_asked_once", asked == 1, asked)


def main():
    usage()
    frozen()
    for part in (shows, hostile, files, busy, full):
        with tempfile.TemporaryDirectory(prefix="bide-") as folder:
            part(folder)
    tap.finish()


main()
