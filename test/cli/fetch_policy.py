#!/usr/bin/env python3
"""fetch_policy.py BIDE: what is retried and what is not, counted at the server;
many URLs at once; and how --explain tells it."""
import json
import os
import re

import fetch_tools as t
import tap

FORCED = """version: 1
policies:
  default:
    breaker: { mode: forced_open }
"""

FREE = """version: 1
policies:
  default:
    budget: { kind: off }
    breaker: { mode: forced_closed }
"""

# arguments, script, exit code, reason, requests that came
JUDGED = [
    ("", "200", 0, "success", 1),
    ("", "503,503,200", 0, "success", 3),
    ("", "500,502,504,200", 0, "success", 4),
    ("", "reset,close,200;n=10;cut=body,200", 0, "success", 4),
    ("", "429;h=Retry-After:0,200", 0, "success", 2),
    ("", "429;h=retry-after-ms:2,200", 0, "success", 2),
    ("", "503", 22, "attempts", 4),
    ("--attempts 2", "503", 22, "attempts", 2),
    ("", "close", 52, "attempts", 4),
    ("", "200;n=10;cut=body", 18, "attempts", 4),
    ("", "404", 22, "permanent", 1),
    ("", "503;h=X-Bide-Retry:no", 22, "server_refused", 1),
    ("", "503;h=Retry-After:3600", 22, "hint_too_long", 1),
    ("--deadline 1m --base 1h --floor 1h --cap 1h", "503", 75, "deadline", 1),
    ("--attempt-timeout 1s --attempts 2", "stall", 28, "attempts", 2),
    ("--stall-timeout 1s --attempts 1", "200;n=9;stall=body", 28, "attempts",
     1),
    ("-p open.yaml", "200", 75, "breaker_open", 0),
    # what may have been done is not done twice
    ("-d x", "503,200", 22, "not_idempotent", 1),
    ("-d x", "close,200", 52, "not_idempotent", 1),
    ("-X PATCH -d x", "503,200", 22, "not_idempotent", 1),
    ("-d x --idempotency-key auto", "503,close,200", 0, "success", 3),
    ("-d x --idempotency-key mine", "503,200", 0, "success", 2),
    ("-d x -H Idempotency-Key:mine", "503,200", 0, "success", 2),
    ("-X PUT -d x", "503,200", 0, "success", 2),
    ("-X DELETE", "503,200", 0, "success", 2),
    ("-I", "503,200", 0, "success", 2),
    ("-T upload", "503,reset,200", 0, "success", 3),
    ("-T upload -X POST", "503,200", 22, "not_idempotent", 1),
    # hedging
    ("--hedge 20ms", "stall,200", 0, "success", 2),
    ("--hedge 20ms -o file", "200;n=300000;stall=body,200", 0, "success", 2),
    ("--hedge 1h", "200", 0, "success", 1),
    ("--hedge p95", "200", 0, "success", 1),
]


def judged(fault):
    t.write("open.yaml", FORCED.encode())
    t.write("upload", b"0123456789" * 5000)
    for args, script, code, reason, n in JUDGED:
        url = fault.url(script)
        most = [] if "-p" in args or "--hedge" in args else ["--attempts 4"]
        found, made = t.summary(*most, *([args] if args else []), url)
        seen = fault.seen(url)
        t.same(f"{args} {script}", (found, made["exit"], made["reason"],
                                    len(seen)), (code, code, reason, n))
        if "--hedge" not in args:
            t.same(f"{args} {script}: attempts", made["attempts"], n)
        if "-T" in args:
            t.same(f"{args} {script}: sent whole each time",
                   [s["body"] for s in seen], [50000] * n)
        if "key" in args:
            keys = {s["key"] for s in seen}
            tap.case(f"{args} {script}: one key",
                     len(keys) == 1 and "" not in keys, keys)


def not_sent(fault):
    """A POST that cannot have arrived is retried without a key."""
    url = fault.url("200", "closed")
    retries = "-d x --attempts 4 --base 1ms --set unreachable.wait=none"
    code, made = t.summary(retries, url)
    t.same("POST to a closed port", (code, made["reason"], made["attempts"]),
           (7, "attempts", 4))
    code, _, err = t.fetch(retries, url)
    tap.case("it is said how it failed", "onnect" in err and
             "4 attempts" in err, err)
    code, made = t.summary("-d x --set unreachable.wait=500ms", url)
    t.same("while nobody is there it waits", (code, made["reason"]),
           (75, "unreachable"))


def nested(fault):
    code, made = t.summary(fault.url("503,200"), env={"BAGGAGE": "bide.attempt=1"})
    t.same("a bide run above retries", (code, made["reason"],
                                        made["attempts"]),
           (22, "upstream_retries", 1))
    url = fault.url("200")
    t.fetch(url, env={"BIDE_DEADLINE_MS": "90000"})
    left = int(fault.seen(url)[0]["timeout_ms"])
    tap.case("its deadline is handed down", 0 < left <= 90000, left)
    url = fault.url("503,200")
    t.same("what no bide run says is ignored", t.summary(
        "--base 1ms", url, env={"BAGGAGE": "bide.attempt=1x",
                                "BIDE_DEADLINE_MS": "1x"})[0], 0)
    t.same("and not handed down", fault.seen(url)[1]["timeout_ms"], "")


def parallel(fault):
    """Twenty that fail by chance all end, each with a reason, in order."""
    urls = [fault.url(f"rand;p=30;seed=7;n={1000 + i}") for i in range(20)]
    path = os.path.join(t.work.name, "all.json")
    t.write("free.yaml", FREE.encode())
    code, out, err = t.fetch(urls, "--attempts 9 -p free.yaml --log-file", [path])
    with open(path, encoding="utf-8") as f:
        made = json.load(f)
    t.same("20 URLs: all end well", (code, err, made["failed"]), (0, "", 0))
    t.same("20 URLs: each has its reason",
           [x["reason"] for x in made["transfers"]], ["success"] * 20)
    t.same("20 URLs: none is asked too often",
           [len(fault.seen(u)) for u in urls],
           [x["attempts"] for x in made["transfers"]])
    tap.case("20 URLs: some failed first",
             sum(x["attempts"] for x in made["transfers"]) > 20)
    t.same("20 URLs: in the order of the URLs", out,
           b"".join(t.body(1000 + i) for i in range(20)))
    urls = [fault.url(f"rand;p=30;seed=9;n={1000 + i}") for i in range(20)]
    code, out, err = t.fetch("--log-file", [path], "-Z 3", urls)
    with open(path, encoding="utf-8") as f:
        made = json.load(f)
    tap.case("20 URLs with the default policy: all end",
             len(made["transfers"]) == 20 and
             all(x["reason"] in ("success", "attempts", "budget")
                 for x in made["transfers"]), made)
    names = [x for i in range(12) for x in ("-o", f"many{i}")]
    urls = [fault.url(f"503,200;n={5000 + i}") for i in range(12)]
    code, out, err = t.fetch("-Z 4 -p free.yaml", names, urls)
    t.same("12 files", (code, out, err), (0, b"", ""))
    t.same("12 files: to the byte",
           [t.read(f"many{i}") for i in range(12)],
           [t.body(5000 + i) for i in range(12)])
    code, out, err = t.fetch(fault.url("200;body=a"), fault.url("404;body=b"),
                             fault.url("close"), fault.url("200;body=d"))
    t.same("of several failures the first counts", (code, out), (22, b"abd"))


EXPLAINED = [
    ("--seed 1", "503,429;h=retry-after-ms:5,200", """\
→ attempt 1 of 4 (first)
← 503: transient
  wait 750us (backoff: waiting as the policy computes)
→ attempt 2 of 4 (backoff)
← 429: throttled, the server says 5ms
  wait 5.22ms (hint: waiting as the server asked)
→ attempt 3 of 4 (hint)
← 200: success
  done (success: it worked)
"""),
    ("--seed 1 -sd x", "503", """\
→ attempt 1 of 4 (first)
← 503: transient
  stop (not_idempotent: it may have been processed, and doing it twice would do
  harm)
"""),
    ("-s -p open.yaml", "200", """\
  stop (breaker_open: the breaker is open)
"""),
    ("--seed 2 -o file", "200;n=208002;h=ETag:%22v%22;cut=body,206;"
     "n=104002;h=Content-Range:bytes+104000-208001/208002", """\
→ attempt 1 of 4 (first)
← 200, connection broke: transient
  wait 254us (backoff: waiting as the policy computes)
→ attempt 2 of 4 (backoff), from byte 104000
← 206: success
  done (success: it worked)
"""),
    ("--seed 2 -o file", "200;n=208002;h=ETag:%22v%22;cut=body,206;n=99999;"
     "h=Content-Range:bytes+7-100005/208002,200;n=3", """\
→ attempt 1 of 4 (first)
← 200, connection broke: transient
  wait 254us (backoff: waiting as the policy computes)
→ attempt 2 of 4 (backoff), from byte 104000
← 206, given up: ignored
  start over: the rest does not fit
→ attempt 3 of 4 (first)
← 200: success
  done (success: it worked)
"""),
]


def explained(fault):
    for args, script, expected in EXPLAINED:
        preset = [] if "-p " in args else "--preset service"
        _, _, err = t.fetch("--explain", preset, args, fault.url(script))
        t.same(f"--explain {args} {script}", err, expected)
    _, _, err = t.fetch("--explain --seed 1 -s", fault.url("503"),
                        env={"COLUMNS": "40", "LC_ALL": "C"})
    tap.case("--explain fits 40 columns", err.isascii() and
             max(map(len, err.splitlines())) <= 40, err)
    _, _, err = t.fetch("--explain", fault.url("503,200"), fault.url("200"))
    marks = set(re.findall(r"^\[\d\]", err, re.M))
    t.same("--explain tells which of several", marks, {"[1]", "[2]"})


def main():
    fault = t.Fault()
    judged(fault)
    not_sent(fault)
    nested(fault)
    parallel(fault)
    explained(fault)
    fault.stop()
    tap.finish()


main()
