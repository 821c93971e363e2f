#!/usr/bin/env python3
"""sim.py BIDE: `bide sim` from the outside: what it prints and writes, its exit
codes, mistakes, Ctrl-C, and that the same question gives the same bytes."""
import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

import tap

BIDE = os.path.abspath(sys.argv[1])
SMALL = "data/sim.yaml"
FIGURES = ["goodput", "success", "failures", "unfinished", "attempts",
           "amplification", "mean", "p50", "p99", "p999", "timed",
           "queue_wait", "utilisation", "duplicates", "peak", "wasted",
           "recover", "stuck", "overloaded", "all_back"]


def sim(*args, **more):
    return tap.run([BIDE, "sim", *args], **more)


def good(name, args, *parts, code=0):
    got, out, err = sim(*args)
    missing = [p for p in parts if p not in out]
    tap.case(name, got == code and not err and not missing,
             f"exit {got}, missing {missing}\n{out}{err}")
    return out


def mistake(name, args, *parts):
    """Exit code 2, nothing on stdout, each of these on stderr."""
    got, out, err = sim(*args)
    missing = [p for p in parts if p not in err]
    tap.case(name, got == 2 and not out and not missing,
             f"exit {got}, missing {missing}\n{out}{err}")


def as_json(*args):
    _, out, err = sim(*args, "--json")
    try:
        return json.loads(out)
    except ValueError as e:
        tap.case("valid JSON: " + " ".join(args), False, f"{e}\n{out}{err}")
        return {}


# ===== asking =====

def usage():
    code, out, err = sim()
    tap.case("without arguments: usage and the list, exit code 2",
             code == 2 and not out and "Usage: bide sim" in err and
             "metastable" in err, out + err)
    names = re.findall(r"^  (\S+)  ", good("--list", ["--list"]), re.M)
    tap.case("--list has a dozen scenarios", len(names) >= 12, names)
    with open(os.path.join(tap.HERE, "..", "..", "completions", "bide.bash"),
              encoding="utf-8") as f:
        offered = re.search(r"_bide_scenarios='([^']*)'", f.read()).group(1)
    tap.case("and bash offers the same", offered.split() == names, offered)
    for name in names:
        text = good(f"--print {name}", ["--print", name], "version: 1")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write(text)
            f.flush()
            got = tap.run([BIDE, "check", f.name])
            tap.case(f"--print {name}: passes bide check", got[0] == 0,
                     got[1] + got[2])
    mistake("--print of another", ["--print", "metastabel"],
            "did you mean `metastable`?")
    mistake("an unknown scenario", ["metastabel"],
            "no scenario `metastabel`", "did you mean `metastable`?")
    mistake("a file that is not there", ["nowhere.yaml"], "nowhere.yaml")
    mistake("two scenarios", [SMALL, SMALL], "--compare")
    mistake("an unknown flag", [SMALL, "--replication", "3"],
            "did you mean `--replications`?")
    mistake("no replications", [SMALL, "-n", "0"], "from 1 to")
    mistake("no threads", [SMALL, "--threads", "none"], "from 1 to 256")
    mistake("no duration", [SMALL, "--duration", "5"], "with its unit")
    mistake("--metric without --sweep", [SMALL, "--metric", "p99"], "--sweep")
    mistake("--loads of a run", [SMALL, "--loads", "50%"], "stability")
    mistake("--row of a run", [SMALL, "--row", "1"], "selftest")
    mistake("an unknown variant", [SMALL, "--variant", "onec"],
            "did you mean `once`?")
    mistake("a policy that is not there", [SMALL, "-p", "nowhere.yaml"],
            "nowhere.yaml")
    mistake("flags that do not go together", [SMALL, "--base", "5m"],
            "policy `once`", "backoff.cap")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write("version: 1\nclients:\n  web: { rte: 5/s }\nservices: 3\n")
        f.flush()
        mistake("a scenario full of mistakes", [f.name], ":3:", ":4:", "rte")


    for where, old, new in (("title", "A small service", '"A \\e[31m title"'),
                            ("variant", "  three tries:", '  "a\\nb":'),
                            ("service", "api", '"\\u009bapi"')):
        with open(os.path.join(tap.HERE, SMALL), encoding="utf-8") as f:
            text = f.read().replace(old, new)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write(text)
            f.flush()
            mistake(f"what a terminal would obey: {where}", [f.name], where,
                    "control character")


# ===== a run =====

def run():
    out = good("a run", [SMALL, "-n", "2"], "A small service",
               "30s simulated, 2 replications, seed 1", "once", "three tries",
               "The load after the fault.", "\u00b1")
    tap.case("the same bytes again", out == sim(SMALL, "-n", "2")[1])
    tap.case("no time of day in them", "second" not in out.lower() or
             "million" not in out, out)
    ascii_only = sim(SMALL, "-n", "2", LC_ALL="C")[1]
    tap.case("plain ASCII in the C locale", ascii_only.isascii(), ascii_only)
    tap.case("another seed gives others",
             out != sim(SMALL, "-n", "2", "--seed", "9")[1])
    for columns in (40, 60, 80):
        for args in ([SMALL, "-n", "2"], ["--list"],
                     [SMALL, "-n", "1", "--sweep", "attempts=1..3"],
                     [SMALL, "-n", "1", "--sweep", "attempts=1..3",
                      "--sweep", "load=50%..100%:3"],
                     ["stability", SMALL, "-n", "1", "--triggers", "2s"]):
            text = sim(*args, COLUMNS=str(columns))[1]
            widest = max(len(line) for line in text.splitlines())
            tap.case(f"{' '.join(args)}: fits {columns} columns",
                     widest <= columns, text)
    good("--quiet", [SMALL, "-n", "1", "-q"])
    tap.case("--quiet prints nothing", sim(SMALL, "-n", "1", "-q")[1] == "")
    out = good("--variant", [SMALL, "-n", "1", "--variant", "three tries"],
               "three tries")
    tap.case("--variant leaves the others out",
             not re.search(r"\bonce\b", out), out)
    good("--duration", [SMALL, "-n", "1", "--duration", "20s"],
         "20s simulated")
    code, out, err = sim(SMALL, "-n", "1", "--csv", "/nowhere/x.csv")
    tap.case("a file that cannot be written", code == 2 and
             "/nowhere/x.csv" in err, err)
    p = subprocess.run(["sh", "-c", f"'{BIDE}' sim {SMALL} -n 1 | head -1"],
                       cwd=tap.HERE, capture_output=True, timeout=60)
    tap.case("a pipe that is closed early", p.returncode == 0 and not p.stderr,
             p.stderr)


def figures():
    d = as_json(SMALL, "-n", "3", "--seed", "4")
    tap.case("--json: what was asked", d["seed"] == 4 and
             d["replications"] == 3 and d["duration_s"] == 30 and
             not d["cut_short"], d)
    tap.case("--json: variants", [v["name"] for v in d["variants"]] ==
             ["once", "three tries"])
    for v in d["variants"]:
        f = v["figures"]
        tap.case(f"--json: figures of {v['name']}",
                 all(name in f for name in FIGURES), list(f))
        tap.case(f"--json: intervals of {v['name']}",
                 all(x["mean"] is None or x["low"] <= x["mean"] <= x["high"]
                     for x in f.values()), f)
        web = v["first"]["callers"][0]
        tap.case(f"--json: calls of {v['name']} add up",
                 web["calls"] == web["successes"] + web["failures"] +
                 web["unfinished"] and web["failures"] ==
                 sum(n for reason, n in web["by_reason"].items()
                     if reason != "success"), web)
        tap.case(f"--json: series of {v['name']}",
                 len(v["attempts"]) == len(v["successes"]) > 100)
        tap.case(f"--json: bands of {v['name']}",
                 {b["series"] for b in v["bands"]} >=
                 {"attempts", "successes", "failures", "queue"} and
                 all(len(b["low"]) == len(b["median"]) == len(b["high"]) ==
                     len(v["attempts"]) and b["runs"] == 3 for b in v["bands"]),
                 [b["series"] for b in v["bands"]])
        tap.case(f"--json: the ends of the calls of {v['name']} add up",
                 abs(f["success"]["mean"] + f["failures"]["mean"] +
                     f["unfinished"]["mean"] - 1) < 1e-9, f)
        tap.case(f"--json: percentiles of {v['name']} say of how many calls",
                 f["p99"]["calls"] == f["timed"]["mean"] > 0, f["p99"])
        seen = v["recovery"]
        tap.case(f"--json: how recovery of {v['name']} was judged",
                 seen["recovered"] + seen["never"] + seen["overloaded"] == 3 and
                 seen["watched_s"] > 0 and
                 0 <= seen["never_low"] <= seen["never_high"] <= 1, seen)
        tap.case(f"--json: fleets and services of {v['name']}",
                 [x["name"] for x in v["fleets"]] == ["web"] and
                 [x["name"] for x in v["services"]] == ["api"] and
                 0 < v["services"][0]["utilisation"]["mean"] < 1,
                 v["services"])
    once = d["variants"][0]["figures"]
    tap.case("one attempt amplifies nothing",
             once["amplification"]["mean"] == 1, once["amplification"])
    one, two = (sim(SMALL, "-n", "4", "--json", "--threads", n)[1]
                for n in ("1", "2"))
    tap.case("--threads changes nothing", one == two and one)
    flags = as_json(SMALL, "-n", "1", "--attempts", "1")
    tap.case("--attempts goes over the policies of all variants",
             [v["figures"]["amplification"]["mean"]
              for v in flags["variants"]] == [1, 1], flags)
    named = as_json(SMALL, "-n", "1", "-p", "data/two.yaml:" + policy_names()[0])
    tap.case("--policy replaces the variants", len(named["variants"]) == 1 and
             "two.yaml" in named["variants"][0]["name"], named["variants"][0])
    preset = as_json(SMALL, "-n", "1", "--preset", "grpc")
    tap.case("--preset too", [v["name"] for v in preset["variants"]] ==
             ["grpc"])


def policy_names():
    with open(os.path.join(tap.HERE, "data", "two.yaml"),
              encoding="utf-8") as f:
        return re.findall(r"^  (\w+):", f.read(), re.M)


# ===== files =====

def files():
    with tempfile.TemporaryDirectory() as tmp:
        paths = {n: os.path.join(tmp, n)
                 for n in ("f.csv", "dir/", "a.html", "b.html", "p.svg")}
        good("--csv, --html, --svg", [
            SMALL, "-n", "2", "--csv", paths["f.csv"], "--html",
            paths["a.html"], "--svg", paths["p.svg"], "--threads", "1"])
        sim(SMALL, "-n", "2", "--csv", paths["dir/"], "--html", paths["b.html"],
            "--threads", "2", "-q")
        with open(paths["f.csv"], newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        tap.case("--csv: units", {r["unit"] for r in rows} ==
                 {"per_second", "share", "seconds", "times", "count"}, rows)
        tap.case("--csv: a row for each variant and figure",
                 len(rows) >= 2 * len(FIGURES) and
                 {r["variant"] for r in rows} == {"once", "three tries"}, rows)
        tap.case("--csv: a directory has the series as well",
                 sorted(os.listdir(paths["dir/"])) ==
                 ["bands.csv", "callers.csv", "figures.csv", "services.csv"])
        with open(paths["dir/"] + "bands.csv", newline="",
                  encoding="utf-8") as f:
            bands = list(csv.DictReader(f))
        tap.case("--csv: bands have their order, and say of how many runs",
                 bands and all(float(b["low"]) <= float(b["median"]) <=
                               float(b["high"]) and b["runs"] == "2"
                               for b in bands), bands[:3])
        with open(paths["dir/"] + "callers.csv", newline="",
                  encoding="utf-8") as f:
            steps = list(csv.DictReader(f))
        d = as_json(SMALL, "-n", "2")
        calls = d["variants"][0]["first"]["callers"][0]["calls"]
        tap.case("--csv: steps add up to the calls",
                 sum(int(s["calls"]) for s in steps
                     if s["variant"] == "once") >= calls, calls)
        with open(paths["a.html"], "rb") as a, open(paths["b.html"], "rb") as b:
            page = a.read()
            tap.case("--html: the same bytes whatever the threads",
                     page == b.read())
        tap.case("--html: a page", page.lower().startswith(b"<!doctype html") and
                 b"three tries" in page)
        with open(paths["p.svg"], encoding="utf-8") as f:
            tap.case("--svg: a picture", "<svg" in f.read(200))
    for name, args, *want in [
            ("a sweep of one setting", [SMALL, "--sweep", "attempts=1..3:3"],
             ">calls that succeed<", ">attempts<", ">once<"),
            ("a sweep of two", [SMALL, "--sweep", "attempts=1,2", "--sweep",
                                "backoff.base=100ms,1s"],
             ">calls that succeed, once<", ">100ms<"),
            ("a stability map", ["stability", SMALL, "--loads", "20%,150%",
                                 "--triggers", "1s"], ">150%<", ">1s<")]:
        runs = [sim(*args, "-n", "1", "--svg", "-", "--threads", n)
                for n in "12"]
        tap.case(f"--svg: {name}", runs[0][0] == 0 and
                 runs[0][1].startswith("<svg") and
                 all(w in runs[0][1] for w in want), runs[0])
        tap.case(f"--svg: {name}: the same bytes whatever the threads",
                 runs[0][1] == runs[1][1])
    out = sim(SMALL, "-n", "1", "--csv", "-")[1]
    tap.case("--csv -: nothing but CSV", out.startswith("variant,figure,") and
             len({len(r) for r in csv.reader(io.StringIO(out))}) == 1, out)


# ===== the report =====

def report():
    """The picture comes first, and is of the tier that is short."""
    page = sim("every-layer", "-n", "2", "--duration", "80s", "--html", "-")[1]
    heads = re.findall("<h2>(.*?)</h2>", page)
    tap.case("--html: first the tier that is short",
             heads[:3] == ["Load of database against its capacity",
                           "The scenario", "Figures"] and
             "Load against capacity" in heads, heads)
    tap.case("--html: the picture, then the prose",
             0 < page.find("<figure>") < page.find('class="lead"'))
    tap.case("--html: a storm beyond the scale has a sign",
             re.search('beyond c-offered" style="top:2px">↑ offered up to '
                       "[0-9]+/s", page))
    tap.case("--html: the model, with service times, workers and queues",
             "20 workers; a request takes 50 ms on average, exponential; a "
             "queue without end; serves 400/s" in page and
             "1000 clients in 5 processes: 60/s" in page)
    tap.case("--html: good and bad have colours",
             '<dd class="bad">' in page and '<dd class="fine">' in page)
    tap.case("--html: no empty frames", '<p class="no">none</p>' in page)
    page = sim("rush-hour", "-n", "1", "--html", "-")[1]
    model = re.search('<ul class="model">.*?</ul>', page, re.S)
    tap.case("--html: the load over time",
             model and re.search("[0-9]/s (from|by) ", model.group()),
             model and model.group())


# ===== questions =====

def asserts():
    holds = "once.amplification == 1 && 'three tries'.amplification > 1"
    good("an assertion that holds", [SMALL, "-n", "2", "--assert", holds],
         "holds  " + holds, "once.amplification 1x")
    tap.case("and --quiet", sim(SMALL, "-n", "2", "-q", "--assert",
                                holds)[:2] == (0, ""))
    out = good("one that does not, for one variant",
               [SMALL, "-n", "2", "-q", "--assert", "amplification < 1.01"],
               "FAILS  three tries: amplification < 1.01", code=1)
    tap.case("what holds is not told with --quiet", "once:" not in out, out)
    good("several: one fails", [SMALL, "-n", "1", "--assert", "success > 1%",
                                "--assert", "p99 < 1ms"],
         "holds  once: success > 1%", "FAILS  once: p99 < 1ms", code=1)
    good("a figure that says nothing is no success",
         [SMALL, "-n", "1", "--duration", "9s", "-q", "--assert",
          "recover < 1h"], "UNKNOWN", "recover -", code=1)
    d = json.loads(sim(SMALL, "-n", "1", "--json", "--assert",
                       "amplification < 1.01")[1])
    tap.case("--json has the verdicts", [a["holds"] for a in d["assertions"]] ==
             [True, False], d.get("assertions"))
    for text, *parts in [
            ("amplificaton < 1", "unknown figure", "^^^^^^^^^^^^",
             "did you mean `amplification`?"),
            ("p99 < 3", "expected a duration", "        ^"),
            ("p99 <", "found the end"),
            ("p99 < 1s and p50 < 1s", "found `and`, expected &&"),
            ("twice.p99 < 1s", "no variant `twice`", "'three tries'")]:
        mistake(f"a mistake: {text}", [SMALL, "--assert", text], text, *parts)


def compare():
    policy = "data/two.yaml:" + policy_names()[0]
    out = good("--compare of policies", [SMALL, "-n", "1", "--compare", policy,
                                         "preset:grpc", "preset:envoy"],
               policy, "grpc", "envoy")
    tap.case("in place of the variants", "three tries" not in out, out)
    good("--compare without a scenario", ["-n", "1", "--compare", "preset:sre",
                                          "preset:grpc", "--duration", "70s"],
         "sre", "grpc")
    good("--compare of scenarios", ["--compare", SMALL, "tail-latency", "-n",
                                    "1"], SMALL + ": once", "tail-latency")
    with tempfile.TemporaryDirectory() as tmp:
        good("--compare of scenarios with other services, as a report",
             ["--compare", SMALL, "shard-down", "-n", "1", "--html",
              tmp + "/c.html", "--svg", tmp + "/c.svg", "--csv", tmp],
             "shard-down: bide")
    mistake("--compare with one thing", [SMALL, "--compare"], "one thing")
    mistake("--compare with --policy",
            [SMALL, "--compare", policy, "-p", policy], "expected one of")
    mistake("--compare of a policy that is not there",
            [SMALL, "--compare", "data/two.yaml:none", "preset:grpc"],
            "no policy `none`")
    mistake("--compare of a preset that is not there",
            [SMALL, "--compare", "preset:grcp", "preset:grpc"],
            "did you mean `grpc`?")


def sweep():
    out = good("--sweep of one setting",
               [SMALL, "-n", "1", "--sweep", "attempts=1..3"], "attempts",
               "amplification", "three tries")
    tap.case("has a row for each value",
             re.findall(r"^([123]) ", out, re.M) == list("123123"), out)
    good("--sweep with --metric", [SMALL, "-n", "1", "--sweep",
                                   "backoff.base=10ms..1s:3", "--metric", "p99"],
         "10ms", "100ms", "1s ", "once  three tries")
    good("--sweep of two", [SMALL, "-n", "1", "--sweep", "attempts=1,3",
                            "--sweep", "services.api.workers=2,4"],
         "attempts (across), services.api.workers (down)", "once: success")
    d = as_json(SMALL, "-n", "1", "--sweep", "attempts=1,3", "--sweep",
                "load=50%,100%")
    tap.case("--sweep --json", [a["key"] for a in d["axes"]] ==
             ["attempts", "load"] and len(d["points"]) == 8 and
             d["points"][0]["figures"]["amplification"]["mean"] == 1, d)
    three = [p["figures"]["amplification"]["mean"] for p in d["points"]
             if p["attempts"] == "3"]
    tap.case("more attempts, more load", min(three) > 1, three)
    one, two = (sim(SMALL, "-n", "2", "--sweep", "attempts=1..3", "--json",
                    "--threads", n)[1] for n in ("1", "2"))
    tap.case("--sweep: --threads changes nothing", one == two and one)
    good("--sweep with --assert", [SMALL, "-n", "1", "-q", "--sweep",
                                   "attempts=1,3", "--assert",
                                   "amplification < 1.01"],
         "FAILS  attempts=3: three tries: amplification < 1.01", code=1)
    with tempfile.TemporaryDirectory() as tmp:
        good("--sweep --csv --html",
             [SMALL, "-n", "1", "--sweep", "attempts=1..3", "--csv", tmp,
              "--html", tmp + "/x.html"])
        with open(tmp + "/sweep.csv", newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        tap.case("--sweep --csv: a row for each figure",
                 {r["attempts"] for r in rows} == set("123"), rows[:3])
    mistake("an unknown setting", [SMALL, "--sweep", "backof.base=1s,2s"],
            "called `backof.base`", "did you mean `backoff.base`?")
    mistake("an unknown setting of a service",
            [SMALL, "--sweep", "services.api.worker=1,2"],
            "did you mean `services.api.workers`?")
    mistake("a value that does not fit", [SMALL, "--sweep", "attempts=0..3"],
            "attempts: found `0`, expected a count")
    mistake("two units", [SMALL, "--sweep", "backoff.base=1s..5"],
            "the same unit", "backoff.base=1s..5", "^")
    mistake("values that do not go together",
            [SMALL, "--sweep", "backoff.base=1m,2m"], "policy `once`")
    mistake("more runs than anybody waits for",
            [SMALL, "-n", "100000", "--sweep", "attempts=1..200:200"],
            "runs to make")
    mistake("an unknown figure", [SMALL, "--sweep", "attempts=1,2", "--metric",
                                  "p98"], "no figure `p98`")
    mistake("three of them", [SMALL] + 3 * ["--sweep", "attempts=1,2"],
            "two of them at most")


def stability():
    small = ["stability", SMALL, "-n", "1", "--loads", "20%,130%",
             "--triggers", "2s"]
    out = good("stability", small, "A load of 100% is 40 calls a second",
               "20%", "130%", "once", "three tries", "recovers", "overloaded")
    maps = re.findall(r"^2s +(\S+) +(\S+)$", out, re.M)
    tap.case("little load recovers, too much is overload",
             [m[0] for m in maps] == ["\u00b7"] * 2 and
             all(m[1] == "\u00d7" for m in maps), out)
    d = as_json(*small)
    cells = [c["fate"] for m in d["maps"] for c in m["cells"]]
    tap.case("stability --json", cells == ["recovers", "overloaded"] * 2, cells)
    cell = d["maps"][0]["cells"][0]
    tap.case("stability --json: how sure that is", cell["runs"] == 1 and
             cell["stuck_low"] == 0 and 0.5 < cell["stuck_high"] < 1 and
             cell["watched_s"] >= 60, cell)
    one, two = (sim(*small, "--json", "--threads", n)[1] for n in ("1", "2"))
    tap.case("stability: --threads changes nothing", one == two and one)
    tap.case("stability in the C locale is ASCII",
             sim(*small, LC_ALL="C")[1].isascii())
    with tempfile.TemporaryDirectory() as tmp:
        good("stability --csv --html", small + ["--csv", tmp, "--html",
                                                tmp + "/m.html"])
        with open(tmp + "/stability.csv", newline="", encoding="utf-8") as f:
            tap.case("stability --csv", [r["fate"] for r in csv.DictReader(f)]
                     == ["recovers", "overloaded"] * 2)
    mistake("a load without sense", ["stability", SMALL, "--loads", "much"],
            "found `much`", "such as 80%")
    mistake("a trigger without a unit",
            ["stability", SMALL, "--triggers", "5"], "such as 10s")
    mistake("an assertion about a map",
            ["stability", SMALL, "--assert", "p99 < 1s"], "--assert")


# ===== Ctrl-C =====

LONG = [SMALL, "-n", "50000", "--threads", "2"]


def interrupted(args, progress):
    """Starts a long run on a terminal, waits for the bar, presses Ctrl-C."""
    master, slave = pty.openpty()
    p = subprocess.Popen([BIDE, "sim", *args], cwd=tap.HERE,
                         env=tap.environment(TERM="xterm"),
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=slave)
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + 50
    while progress and b"events/s" not in seen:
        if time.monotonic() > deadline:
            break
        seen += os.read(master, 4096)
    if not progress:
        time.sleep(1)
    p.send_signal(signal.SIGINT)
    out = p.communicate(timeout=50)[0].decode()
    os.close(master)
    return p.returncode, out, seen.decode()


def ctrl_c():
    code, out, bar = interrupted(LONG, True)
    tap.case("a bar on a terminal", re.search(r"\[[#.]+\] +\d+%", bar)
             is not None, bar)
    tap.case("Ctrl-C: what is known so far, exit code 130", code == 130 and
             "Cut short" in out and "goodput" in out, f"{code}\n{out}")
    code, out, _ = interrupted(LONG + ["--json"], True)
    d = json.loads(out)
    # The bar may be there before the first replication is over.
    tap.case("Ctrl-C with --json", code == 130 and d["cut_short"] and
             0 <= d["variants"][0]["replications"] < 50000, (code, d))
    code, out, _ = interrupted(["stability", SMALL, "-n", "500"], True)
    tap.case("Ctrl-C of a map", code == 130 and "cut short" in out and
             "120%" in out, f"{code}\n{out}")
    code, out, _ = interrupted(LONG + ["--sweep", "attempts=1,2"], True)
    tap.case("Ctrl-C of a sweep", code == 130 and "cut short" in out,
             f"{code}\n{out}")


def main():
    usage()
    run()
    figures()
    files()
    report()
    asserts()
    compare()
    sweep()
    stability()
    ctrl_c()
    tap.finish()


main()
