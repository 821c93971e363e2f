#!/usr/bin/env python3
"""alloc.py POOR POOR_FETCH [N]: every command runs out of memory, at its first
allocation, its second, and so on (poor.c). It never crashes or leaks (a sanitizer
sees to that). If it says that all is well, it has printed what it prints with memory;
if not, its exit code is one of its own for failures, and there is a message.

Of the many allocations of some, the first 60 and a share of the rest fail, 120 in all;
or N of them."""
import concurrent.futures
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

import tap
from fault import Fault

POOR, FETCH = (os.path.join(tap.START, a) for a in sys.argv[1:3])
MOST = int(sys.argv[3]) if len(sys.argv) > 3 else 120
FIRST = MOST // 2
ROOT = os.path.dirname(os.path.dirname(tap.HERE))
work = tempfile.TemporaryDirectory()

# Arguments, the exit codes that mean that something failed, standard input.
OWN = {1, 2}
ROWS = [
    ("--help", OWN), ("help check", OWN), ("nothing", OWN), ("check --help", OWN),
    ("check data/policies.yaml data/two.yaml", OWN),
    ("check --json data/policies.yaml", OWN),
    ("check --defaults", OWN), ("check --reference", OWN), ("check --schema", OWN),
    ("check -", OWN, "version: 1\npolicies:\n  a: { atempts: 4, deadline: 5 }\n"),
    ("check data/sim.yaml", OWN),
    ("explain --status 503 --seed 1", OWN),
    ("explain --status 503 --seed 1 -p data/policies.yaml --json", OWN),
    ("explain --status 429 -H Retry-After:5 -H X-Bide-Retry:no", OWN),
    ("schedule", OWN), ("schedule --json --seed 3 -p data/policies.yaml", OWN),
    ("replay ../replay/breaker_states.jsonl", OWN),
    ("replay --json ../replay/budget_dry.jsonl", OWN),
    ("replay -p ../replay/policies.yaml:base --log common ../replay/common.log", OWN),
    ("sim data/sim.yaml -n 2 --threads 1", OWN),
    ("sim data/sim.yaml -n 2 --threads 1 --json", OWN),
    ("sim data/sim.yaml -n 1 --threads 1 -q --html WORK/x.html --csv WORK/x.csv "
     "--svg WORK/x.svg", OWN),
    ("sim data/sim.yaml -n 1 --threads 1 --sweep attempts=1..2 --json", OWN),
    ("sim stability data/sim.yaml -n 1 --threads 1 --loads 0.5..0.9:2 "
     "--triggers 1s..2s:2", OWN),
    ("sim --list", OWN), ("sim --reference", OWN), ("sim --schema", OWN),
    ("export --to grpc -p data/policies.yaml", OWN),
    ("export --to istio --host cart ../translate/data/policies.yaml:rich", OWN),
    ("export --to envoy --host cart ../translate/data/policies.yaml:rich", OWN),
    ("import --from grpc ../translate/data/service.json", OWN),
    ("import --from istio ../translate/data/mesh.yaml", OWN),
    ("import --from istio ../translate/data/wrong.yaml", OWN),
    ("run -- true", {2, 125}),
    ("run --base 1ms --cap 1ms --attempts 3 --log-file - -- sh -c 'exit 3'",
     {2, 3, 125}),
    ("run --base 1ms --cap 1ms -o last --stdin replay -p data/policies.yaml -- cat",
     {2, 125}, "some input\n"),
    ("run --base 1ms --attempts 2 -k WORKKEY -- sh -c 'exit 3'", {2, 3, 125}),
    ("top PORT --once", OWN), ("top PORT --json", OWN),
]
FETCHES = [
    ("URL(200;body=fine)",), ("--explain --base 1ms URL(503,reset,200;body=fine)",),
    ("--log-file WORK/json -f URL(404)",),
    ("-d a=1 -H X-A:b --idempotency-key auto URL(503,200) --base 1ms",),
    ("-o WORK/part URL(200;n=50000)",),
    ("-F a=1;type=b/c -b x=y -c WORK/jar -i -w %{http_code} -E WORK/no:pw URL(200)",),
    ("-G --data-urlencode a=b& -H X:y -u a:b -r 1-2 -D WORK/h URL(200)",),
    ("-p data/policies.yaml -Z 2 URL(200;body=a) URL(200;body=b)",),
]


def numbers():
    """Which allocation is to fail, in turn."""
    yield from range(1, FIRST + 1)
    n, step = FIRST, 1
    while True:
        for _ in range(15):
            n += step
            yield n
        step *= 2


class Command:
    """One command line, with memory and without."""

    def __init__(self, number, program, line, codes, text=None):
        self.line, self.codes, self.text = line, codes, text
        self.failed = os.path.join(work.name, f"failed{number}")
        self.words = [program, *shell_words(line)]
        self.wrong = []

    def run(self, n=None):
        env = tap.environment(COLUMNS="80", BIDE_FAILED=self.failed,
                              XDG_RUNTIME_DIR=work.name, no_proxy="*")
        if n:
            env["BIDE_FAIL_ALLOC"] = str(n)
        words = [w.replace("WORKKEY", f"k{n or 0}") for w in self.words]
        p = subprocess.run(words, env=env, cwd=tap.HERE, timeout=60, check=False,
                           input=(self.text or "").encode(), capture_output=True)
        return p.returncode, p.stdout, p.stderr.decode(errors="replace")

    def judge(self, n, got):
        code, out, err = got
        if code == self.good[0] and out == self.good[1]:
            return
        if code < 0 or "Sanitizer" in err or "runtime error" in err:
            self.wrong.append((n, f"crashed: {code}\n{err[:1500]}"))
        elif code == 0 or (code == self.good[0] and code not in self.codes):
            self.wrong.append((n, f"code {code}, but not all was printed: "
                               f"{out[-100:]} {err[-200:]}"))
        elif code not in self.codes:
            self.wrong.append((n, f"exit code {code}: {err[-300:]}"))
        elif not err.strip():
            self.wrong.append((n, f"code {code}, and not a word"))

    def play(self):
        self.good = self.run()
        done = 0
        for n in numbers():
            got = self.run(n)
            self.judge(n, got)
            if not os.path.exists(self.failed) and got[0] >= 0:
                break
            if os.path.exists(self.failed):
                os.unlink(self.failed)
            done += 1
            if done == MOST or len(self.wrong) > 5:
                break
        return done


def shell_words(line):
    """As a shell would split it; URL(script) asks the fault server for that."""
    import shlex
    found = []
    for word in shlex.split(line):
        if word.startswith("URL("):
            word = fault.url(word[4:-1])
        found.append(word.replace("PORT", str(state.server_port)).replace(
            "WORK/", work.name + "/"))
    return found


class State(http.server.BaseHTTPRequestHandler):
    """An admin endpoint for `bide top`."""

    def do_GET(self):
        body = json.dumps({"name": "x", "uptime_ms": 5, "deps": [
            {"name": "a", "breaker": "closed", "budget": 3,
             "second": {"seconds": 1, "first": 5}}],
            "decisions": [{"text": "it is so", "at_ms": 1}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def main():
    commands = [Command(i, POOR, *row) for i, row in enumerate(ROWS)]
    commands += [Command(len(ROWS) + i, FETCH, row[0], set(range(1, 100)))
                 for i, row in enumerate(FETCHES)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for c, done in zip(commands, pool.map(Command.play, commands)):
            name = "bide " + c.line if c.words[0] == POOR else "bide fetch " + c.line
            tap.case(f"{name}: {done > 0 and 'without memory' or 'needs none'}",
                     not c.wrong, "\n".join(f"allocation {n}: {what}"
                                            for n, what in c.wrong))
            print(f"#   {done} allocations, code {c.good[0]}")


fault = Fault()
state = http.server.ThreadingHTTPServer(("127.0.0.1", 0), State)
threading.Thread(target=state.serve_forever, daemon=True).start()
main()
fault.stop()
tap.finish()
