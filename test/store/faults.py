#!/usr/bin/env python3
"""faults.py postgresql|redis TOLD MODULE...: PostgreSQL and Redis that hang, die, come back, come back
empty, are full, or are not as they must be. What a user of the store sees of it."""
import os
import re
import shutil
import sys
import time

import tap
from servers import Postgres, Program, Redis, until

TOOL = None


class Tool(Program):
    """The store, in a process of its own. Patient, so that a busy machine is not
    taken for a store that hangs."""

    def __init__(self, *args, timeout_ms=10000):
        super().__init__(TOOL, "-t", str(timeout_ms), *args)

    def do(self, line):
        """The result, and how many milliseconds that took."""
        self.tell(line)
        answer = self.hear(lambda text: not text.startswith("#"))
        if answer is None:
            return None, 0
        result, ms = re.match(r"(.*?) ([0-9.]+) -?\d+ \d+$", answer).groups()
        return result, float(ms)

    def result(self, line):
        return self.do(line)[0]


def refused(url, *more):
    """What it says when it does not start; "" if it does."""
    with Tool(*more, url) as t:
        t.process.stdin.close()
        for line in iter(t.lines.get, None):
            if line.startswith("refused: "):
                return line.removeprefix("refused: ")
    return ""


def says(name, text, *words):
    tap.case(name, all(word in text for word in words), text)


def is_result(name, got, want):
    tap.case(name, got == want, f"got {got}, want {want}")


# ===== any server =====

def away(kind, server):
    """A store that is opened while its server is away is down, and comes up."""
    with Tool(server.url) as t:
        is_result(f"{kind}_away_is_down", t.result("claim early"), "down")
        server.start()
        until("the store", lambda: t.result("claim early") == "first")
        tap.case(f"{kind}_away_comes_up", True)


def hangs(kind, server):
    with Tool(server.url, timeout_ms=250) as t:
        until("a claim", lambda: t.result("claim before") == "first")
        server.freeze()
        is_result(f"{kind}_hanging_is_down", t.result("claim meanwhile"), "down")
        got = [t.do(f"claim more{i}") for i in range(200)]
        tap.case(f"{kind}_hanging_then_all_is_down", {r for r, _ in got} == {"down"}, got)
        # Some may have to wait for a core; most would not if each waited for the server.
        waited = [ms for _, ms in got if ms >= 200]
        tap.case(f"{kind}_hanging_costs_one_timeout", len(waited) < 100, waited)
        is_result(f"{kind}_hanging_takes_an_answer", t.result("complete before 100"),
                  "down")
        time.sleep(1.5)  # the connection is given up
        server.thaw()
        # What was claimed in vain is free again long before its lease ends, and the
        # answer has followed.
        until("the claim to be given back",
              lambda: t.result("claim meanwhile") == "first")
        until("the answer", lambda: t.result("look before") == "done")
        tap.case(f"{kind}_hanging_ends_well", True)


def crashes(kind, server):
    with Tool(server.url) as t:
        t.do("claim kept")
        is_result(f"{kind}_completes", t.result("complete kept 5000"), "ok")
        t.do("claim open")
        server.crash()
        server.start()
        until("the store", lambda: t.result("look kept") != "down")
        is_result(f"{kind}_crash_keeps_answers", t.result("claim kept"), "done")
        is_result(f"{kind}_crash_keeps_claims", t.result("claim open"), "in progress")
        is_result(f"{kind}_crash_keeps_tokens", t.result("complete open 1"), "ok")


def hostile(kind, server):
    """Texts that break out of quotes, protocols and patterns, elsewhere."""
    keys = ["'%3b+DROP+TABLE+bide_store_records%3b--", "$1", "%25s%25n", "\\x00",
            "%ff%fe%80", "%0d%0aFLUSHALL%0d%0a", "bide:{store}:about", "*",
            "k" * 1024, "%01" * 300, "'", '"', "\\", "$$", "NULL", "{}}{"]
    with Tool(server.url) as t:
        for key in keys:
            got = [t.result(line) for line in (
                f"claim {key} '{key[:20]}'", f"claim {key}", f"complete {key} 9",
                f"claim {key}")]
            if got != ["first", "in progress", "ok", "done"]:
                tap.case(f"{kind}_hostile_key", False, f"{key}: {got}")
                return
        is_result(f"{kind}_a_key_that_is_too_long_is_refused",
                  t.result("claim " + "k" * 1025), "down")
        is_result(f"{kind}_and_harms_nobody", t.result("claim next"), "first")
    tap.case(f"{kind}_hostile_keys_are_keys", True)


# ===== PostgreSQL =====

def postgres_rights(server):
    """A guest who may do nothing is told what to grant."""
    for line in ("CREATE ROLE guest LOGIN PASSWORD 'right'",
                 "CREATE DATABASE shop",
                 "CREATE ROLE \"o'k \"\"x\" LOGIN"):
        server.sql(line)
    hba = os.path.join(server.dir, "data", "pg_hba.conf")
    with open(hba) as f:
        rules = f.read()
    with open(hba, "w") as f:
        f.write("local all guest scram-sha-256\n" + rules)
    server.sql("SELECT pg_reload_conf()")
    at = f"@/shop?host={server.dir}"
    until("the new rules", lambda: "password" in refused(f"postgresql://guest{at}"))
    says("postgresql_wrong_password_is_told", refused(f"postgresql://guest:wrong{at}"),
         'password authentication failed for user "guest"')
    says("postgresql_no_database_is_told",
         refused(f"postgresql://bide@/nowhere?host={server.dir}"),
         'database "nowhere" does not exist')
    says("postgresql_bad_url_is_told",
         refused("postgresql://bide@/shop?colour=blue"), "colour")
    says("postgresql_no_right_to_create_is_told",
         refused(f"postgresql://guest:right{at}"), "permission denied for schema public",
         'GRANT USAGE, CREATE ON SCHEMA public TO "guest"')
    server.sql('GRANT USAGE, CREATE ON SCHEMA public TO guest', "shop")
    with Tool(f"postgresql://guest:right{at}") as t:
        is_result("postgresql_what_it_says_helps", t.result("claim a"), "first")
    says("postgresql_no_right_to_read_is_told",
         refused(f"postgresql://o%27k%20%22x{at}"), "permission denied for table",
         "GRANT SELECT, INSERT, UPDATE, DELETE ON bide_store, ", 'TO "o\'k ""x"')
    server.sql('GRANT SELECT, INSERT, UPDATE, DELETE ON bide_store, '
               'bide_store_records, bide_store_rooms, bide_store_lanes TO '
               '"o\'k ""x"', "shop")
    with Tool(f"postgresql://o%27k%20%22x{at}") as t:
        is_result("postgresql_that_helps_too", t.result("claim a"), "in progress")
    server.sql("UPDATE bide_store SET version = 7", "shop")
    says("postgresql_another_version_is_refused",
         refused(f"postgresql://guest:right{at}"), "version 7, expected 1")


def postgres_many(server):
    """Sweeping looks at what has expired, not at all that there is."""
    server.sql("INSERT INTO bide_store_records SELECT sha256(i::text::bytea), 1, '/m', "
               "'', 'k', 1, i, i, 0, 4000000000000000000, '', '', 201, '', 'r', 0, 1 "
               "FROM generate_series(1, 20000) i")

    def read(column):
        return int(server.sql(
            f"SELECT {column} FROM pg_stat_user_indexes "
            "WHERE indexrelname = 'bide_store_records_expires'"))
    scans, tuples = read("idx_scan"), read("idx_tup_read")
    with Tool(server.url) as t:
        t.do("claim many")
        until("a sweep", lambda: t.do("claim many") and read("idx_scan") > scans + 1)
    tap.case("postgresql_sweeping_goes_by_the_index", read("idx_tup_read") - tuples < 5000,
             read("idx_tup_read") - tuples)
    server.sql("DELETE FROM bide_store_records WHERE scope = '/m'")


def postgres():
    # What the store commits survives a crash though the server would rather not
    # wait for its disk: the store says so in its sessions.
    with Postgres("synchronous_commit=off", "wal_writer_delay=10000",
                  durable=True) as server:
        server.wait()
        hostile("postgresql", server)
        crashes("postgresql", server)
        hangs("postgresql", server)
        idle = server.sql("SELECT count(*) FROM pg_stat_activity WHERE "
                          "state LIKE 'idle in transaction%'")
        is_result("postgresql_leaves_no_transaction_open", idle, "0")
        postgres_many(server)
        postgres_rights(server)
        server.kill()
        away("postgresql", server)
    with Postgres() as server:
        server.wait()
        says("postgresql_without_fsync_is_refused", refused(server.url), "fsync = off",
             "durability: relaxed")
        with Tool("-r", server.url) as t:
            is_result("postgresql_relaxed_takes_it", t.result("claim a"), "first")


# ===== Redis =====

def redis_settings():
    for setting in (["appendfsync", "everysec"], ["appendonly", "no"],
                    ["maxmemory-policy", "allkeys-lru"],
                    ["no-appendfsync-on-rewrite", "yes"]):
        with Redis("--" + setting[0], setting[1], durable=True) as server:
            name = "redis_" + setting[0].replace("-", "_")
            says(name + "_is_refused", refused(server.url), *setting,
                 "durability: relaxed")
            with Tool("-r", server.url) as t:
                is_result(name + "_relaxed_takes_it", t.result("claim a"), "first")


def redis_rights():
    with Redis("--requirepass", "right", durable=True) as server:
        wrong = server.url.replace("//", "//:wrong@")
        says("redis_wrong_password_is_told", refused(wrong), "WRONGPASS")
        tap.case("redis_no_password_is_shown", "wrong@" not in refused(wrong))
        says("redis_no_password_is_told", refused(server.url), "NOAUTH")
        right = server.url.replace("//", "//:right@")
        says("redis_no_such_database_is_told", refused(right + "?db=99"), "DB index")
        with Tool(right) as t:
            is_result("redis_right_password", t.result("claim a"), "first")


def redis_comes_back_empty(server):
    with Tool(server.url) as t, Tool("-r", server.url) as relaxed:
        is_result("redis_before_it_is_emptied", t.result("claim a"), "first")
        is_result("redis_relaxed_before", relaxed.result("claim b"), "first")
        server.crash()
        shutil.rmtree(os.path.join(server.dir, "appendonlydir"))
        server.start()
        until("it to be noticed",
              lambda: t.result("claim c") == "down" and
              "records are gone" in " ".join(iter_seen(t)))
        tap.case("redis_empty_is_down_and_says_why", True)
        is_result("redis_empty_stays_down", t.result("claim a"), "down")
        until("the relaxed one", lambda: relaxed.result("claim b") == "first")
        tap.case("redis_relaxed_goes_on_empty", True)
    with Tool(server.url) as t:
        is_result("redis_restarting_accepts_it", t.result("claim a"), "first")


def iter_seen(t):
    return [line for line in t.seen if line.startswith("# down")]


def redis_full():
    with Redis("--maxmemory", "3mb", durable=True) as server, Tool(server.url) as t:
        claimed = [t.result(f"claim early{i}") for i in range(10)]
        filled = 0
        while (result := t.result(f"claim fill{filled} room{filled % 50}")) == "first":
            t.do(f"complete fill{filled} 20000")
            filled += 1
            if filled > 2000:
                break
        is_result("redis_without_memory_is_full", result, "full")
        tap.case("redis_takes_some_before", claimed == ["first"] * 10 and filled > 5,
                 f"{claimed} {filled}")
        is_result("redis_without_memory_still_completes",
                  t.result("complete early0 100"), "ok")
        is_result("redis_without_memory_still_releases", t.result("release early1"),
                  "ok")
        is_result("redis_without_memory_still_replays", t.result("claim early0"),
                  "done")


def redis_others(server):
    """What others keep in the same Redis stays theirs, and ours is not in their
    way."""
    server.ask("SET session:1 theirs")
    with Tool(server.url) as t:
        for i in range(20):
            t.do(f"claim tenant{i}")
    is_result("redis_leaves_others_alone", server.ask("GET session:1"), "theirs")
    with Redis_keys(server) as keys:
        strange = [k for k in keys if not k.startswith("bide:{store}:")
                   and k != "session:1"]
    tap.case("redis_keys_have_one_hash_tag", not strange, strange)
    server.ask("SCRIPT FLUSH")
    with Tool(server.url) as t:
        is_result("redis_forgotten_scripts_are_loaded_again", t.result("claim x1"),
                  "first")
        server.ask("SCRIPT FLUSH")
        is_result("redis_and_while_it_runs", t.result("claim x2"), "first")


class Redis_keys:
    """The names of all keys."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        n = int(self.server.ask("DBSIZE").lstrip(":"))
        # RANDOMKEY gives one at a time, and every one in time.
        found = set()
        until("all keys", lambda: found.add(self.server.ask("RANDOMKEY"))
              or len(found) == n)
        return found

    def __exit__(self, *_):
        pass


def redis():
    with Redis(durable=True) as server:
        hostile("redis", server)
        crashes("redis", server)
        hangs("redis", server)
        redis_others(server)
        redis_comes_back_empty(server)
        server.kill()
        away("redis", server)
    redis_settings()
    redis_rights()
    redis_full()


def main(kind, tool, *modules):
    global TOOL
    TOOL = tool
    if modules:
        os.environ["BIDE_MODULES"] = os.path.dirname(os.path.abspath(modules[0]))
    {"postgresql": postgres, "redis": redis}[kind]()
    tap.finish()


main(*sys.argv[1:])
