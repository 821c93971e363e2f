#!/usr/bin/env python3
"""config.py BIDE EXAMPLE: the section `worker` of a policy file. What flags can say it
can say, flags go before it, mistakes are shown where they are; and one file serves all
programs."""
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import servers
import tap
from ports import free_port

BIDE, EXAMPLE = (os.path.abspath(path) for path in sys.argv[1:3])
LIMIT = 120  # seconds, for anything


class Place:
    """A folder for the state of one case, with a policy file in it."""

    def __init__(self, text=None):
        self.dir = tempfile.mkdtemp(prefix="bide-worker-")
        self.env = tap.environment(XDG_STATE_HOME=self.dir)
        self.file = os.path.join(self.dir, "bide.yaml")
        if text is not None:
            with open(self.file, "w", encoding="utf-8") as f:
                f.write(text.replace("DIR", self.dir))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, *args):
        p = subprocess.run([BIDE, *args], stdin=subprocess.DEVNULL, cwd=self.dir,
                           env=self.env, capture_output=True, text=True, timeout=LIMIT)
        return p.returncode, p.stdout, p.stderr

    def start(self, *args):
        return subprocess.Popen([BIDE, *args], stdin=subprocess.DEVNULL, cwd=self.dir,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.env, text=True)

    def read(self, name):
        path = os.path.join(self.dir, name)
        return open(path, encoding="utf-8").read() if os.path.exists(path) else ""


def until(what):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def end(p):
    p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=LIMIT)
    return p.returncode, out, err


def example():
    """It works as it is, and is what the page shows."""
    with Place() as place:
        tap.case("example_is_clean", place.run("check", EXAMPLE)[0] == 0,
                 place.run("check", EXAMPLE))
        code, out, err = place.run("enqueue", "-c", EXAMPLE, "hello")
        tap.case("example_takes_a_message",
                 (code, out) == (0, "queued 1 in hello (1 waiting)\n"), out + err)
        code, out, err = place.run("worker", "-c", EXAMPLE, "--until-empty")
        tap.case("example_handles_it", code == 0 and "hello, attempt 1 of 15" in err and
                 "done in" in err, err)
        code, out, err = place.run("worker", "-c", EXAMPLE, "check")
        tap.case("example_suits_its_queue", code == 0 and "no objections" in out, out + err)
    page = os.path.join(os.path.dirname(EXAMPLE), "..", "docs", "worker.md")
    with open(page, encoding="utf-8") as f, open(EXAMPLE, encoding="utf-8") as e:
        tap.case("example_is_on_the_page", e.read() in f.read())


ALONE = """version: 1
worker:
  broker: "sqlite:DIR/own.db"
  queue: mail
  command: [sh, -c, 'cat >> DIR/"$1".txt', sh, "handled"]
  until_empty: true
  log: off
"""

# The file, flags, and what must then be in the two streams (or must not).
SAYS = [
    ("command_and_broker", "", [], {"handled.txt": "hello"}, 0, "", ""),
    ("flag_names_a_command", "", ["--", "sh", "-c", "cat > flag.txt"],
     {"flag.txt": "hello", "handled.txt": ""}, 0, "", ""),
    ("log_is_off", "", [], {}, 0, "", "mail"),
    ("verbose_goes_before_it", "", ["-v"], {}, 0, "attempt 1 of 15: done", ""),
    ("log_json", "  log_format: json\n", ["-v"], {}, 0, '"queue": "mail"', "done in"),
    ("retry_on_makes_the_rest_permanent",
     "  retry_on: [75, 100-110]\n", ["-v", "--", "false"], {}, 1, "permanent", ""),
    ("stop_on", "  stop_on: 3\n", ["-v", "--", "sh", "-c", "exit 3"], {}, 1,
     "permanent", ""),
    ("flag_goes_before_stop_on", "  stop_on: 3\n",
     ["-v", "--stop-on", "4", "--attempts", "1", "--", "sh", "-c", "exit 3"], {}, 1,
     "attempts", "permanent"),
    ("at_once", "  at_once: 7\n", ["-v"], {}, 0, "7 at once", ""),
    ("flag_goes_before_at_once", "  at_once: 7\n", ["-v", "-n", "3"], {}, 0,
     "3 at once", ""),
    ("policy_by_name", "  policy: two\npolicies:\n  two: { preset: queue, attempts: 2 }\n",
     ["-v"], {}, 0, "attempt 1 of 2", ""),
    ("flag_goes_before_the_policy",
     "  policy: two\npolicies:\n  two: { preset: queue, attempts: 2 }\n",
     ["-v", "--attempts", "9"], {}, 0, "attempt 1 of 9", ""),
    ("preset_goes_before_the_policy",
     "  policy: two\npolicies:\n  two: { preset: queue, attempts: 2 }\n",
     ["-v", "--preset", "queue"], {}, 0, "attempt 1 of 15", ""),
    ("lease", "  lease: 5s\n", ["-v"], {}, 0, "done", ""),
    ("policies_of_others_are_not_its_own",
     "policies:\n  default: { attempts: 2, deadline: 5s, attempt_timeout: 1s }\n",
     ["-v"], {}, 0, "attempt 1 of 15", ""),
]


def file_and_flags():
    for name, more, args, files, expected, says, silent in SAYS:
        with Place(ALONE + more) as place:
            put = place.run("enqueue", "-c", place.file, "hello")
            code, out, err = place.run("worker", "-c", place.file, *args)
            read = {file: place.read(file) for file in files}
            ok = put[0] == 0 and code == expected and read == files and says in err and \
                (not silent or silent not in out + err)
            tap.case(name, ok, f"{put} {code} {read}\n{out}{err}")
    with Place(ALONE) as place:
        code, out, _ = place.run("enqueue", "-c", place.file, "--queue", "other", "x")
        tap.case("flag_goes_before_the_queue",
                 code == 0 and out == "queued 1 in other (1 waiting)\n" and
                 "waiting  1" in place.run("worker", "ls", "-c", place.file, "-q",
                                           "other")[1], out)
        code, out, _ = place.run("worker", "ls", "-c", place.file, "--broker",
                                 f"sqlite:{place.dir}/nothing.db")
        tap.case("flag_goes_before_the_broker", code == 2)


WRONG = [
    ("worker: { que: mail }", "unknown key `que`", "2:11"),
    ("worker: { broker: mysql }", "expected the URL of a broker", "2:19"),
    ("worker: { queue: 'a b' }", "expected letters, digits", "2:18"),
    ("worker: { command: ./a b }", "expected a list, the program", "2:20"),
    ("worker: { command: [] }", "`command`: expected a program", "2:20"),
    ("worker: { command: [[a]] }", "`command`: expected a program", "2:21"),
    ("worker: { to: 'ftp://x' }", "expected a URL", "2:15"),
    ("worker: { to: 'http://x', command: a }", "both say who handles", "2:27"),
    ("worker: { at_once: 2000 }", "out of range", "2:20"),
    ("worker: { retry_on: [0] }", "expected an exit code", "2:22"),
    ("worker: { policy: none }", "there is no policy `none`", "2:19"),
    ("worker: { admin: localhost }", "expected an address and a port", "2:18"),
    ("worker: { lease: 1s }", "a duration from 3s to 1h", "2:18"),
    ("worker: { log: loud }", "expected changes, attempts or off", "2:16"),
    ("worker: yes", "expected a map", "2:9"),
    ("policies: { h: { attempts: 1, hedge: { max: 1 } } }\nworker: { policy: h }",
     "a worker does not hedge", "3:19"),
    ("wroker: {}", "did you mean `worker`?", "2:1"),
]
RISKY = [
    ("policies: { d: { attempts: 3 } }\nworker: { policy: d }", "L028", "3:19"),
    ("policies: { d: { preset: queue, deadline: 1h } }\nworker: { policy: d }", "L029",
     "3:19"),
    ("worker: { to: 'http://x', stop_on: 3 }", "L015", "2:36"),
    ("worker: { to: 'http://x', admin: '*:9902' }", "L020", "2:34"),
    ("policies: { d: { preset: queue, attempt_timeout: 10m } }", "L014", "2:50"),
]
CLEAN = [
    "worker:", "worker: {}", "worker: { to: 'HTTP://x/y', at_once: auto }",
    "worker: { command: [sleep, 5, '', true], stop_on: 'TERM,timeout,7-9' }",
    "policies: { d: { preset: queue, attempt_timeout: 10m } }\nworker: { policy: d }",
]


def mistakes():
    for rows, code in ((WRONG, 2), (RISKY, 1)):
        for text, says, where in rows:
            with Place("version: 1\n" + text + "\n") as place:
                got, _, err = place.run("check", place.file)
                tap.case(f"check: {says}: {text.splitlines()[-1]}",
                         got == code and says in err and f"bide.yaml:{where}: " in err, err)
                if code == 2:
                    got, _, err = place.run("worker", "-c", place.file, "--", "true")
                    tap.case(f"worker: {says}", got == 2 and says in err, err)
    for text in CLEAN:
        with Place("version: 1\n" + text + "\n") as place:
            got, _, err = place.run("check", place.file)
            tap.case(f"clean: {text.splitlines()[-1]}", got == 0 and err == "", err)
    with Place("version: 1\npolicies: { h: { attempts: 1, hedge: { max: 1 } } }\n") as place:
        got, _, err = place.run("worker", "-p", place.file, "--", "true")
        tap.case("hedging_is_refused_by_flag_as_well",
                 got == 2 and "a worker does not hedge" in err, err)
        got, _, err = place.run("enqueue", "-c", place.file, "x")
        tap.case("a_file_without_a_worker_says_so",
                 got == 2 and "has no section `worker`" in err, err)
    with Place(ALONE.replace("  command", "  # command")) as place:
        got, _, err = place.run("worker", "-c", place.file)
        tap.case("no_handler_is_said", got == 2 and "expected a handler" in err, err)


def schemes():
    """What the brokers are called, the check takes."""
    with Place() as place:
        _, _, err = place.run("worker", "ls", "--broker", "nonsense:x")
        names = re.findall(r"([a-z0-9+]+):\.\.\.", err)
        tap.case("brokers_are_named", {"sqlite", "redis", "postgresql"} <= set(names), err)
        for name in names:
            with Place(f"version: 1\nworker: {{ broker: '{name}://x/y' }}\n") as one:
                tap.case(f"check_takes_{name}", one.run("check", one.file)[0] == 0)


ALL = """version: 1
policies:
  default: { attempts: 3, deadline: 10s, attempt_timeout: 2s }
  jobs: { preset: queue, attempt_timeout: 1m }
store: "sqlite:DIR/keys.db"
fleet: { store: "redis://127.0.0.1:REDIS", name: test }
proxy:
  listen: 127.0.0.1:LISTEN
  routes: [{ upstream: jobs, idempotency: { accept: optional } }]
  upstreams: { jobs: { endpoints: ["http://127.0.0.1:ORIGIN"] } }
worker:
  broker: "sqlite:DIR/own.db"
  queue: jobs
  policy: jobs
  to: http://127.0.0.1:LISTEN/jobs
  admin: 127.0.0.1:ADMIN
"""


class Origin(http.server.BaseHTTPRequestHandler):
    seen = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Origin.seen.append((self.path, body.decode(), self.headers.get("Idempotency-Key")))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


HASTY = """\
version: 1
policies:
  jobs: { attempts: 4, deadline: 10s }
worker: { policy: jobs }
"""


def hasty_policy():
    """`bide check`, `bide worker check` and a start say the same about a policy."""
    with Place(HASTY) as place:
        place.run("enqueue", "-c", place.file, "x")
        texts = [place.run("check", place.file),
                 place.run("worker", "-c", place.file, "check"),
                 place.run("worker", "-c", place.file, "--until-empty", "--", "true")]
        for name, (code, out, err), wanted in zip(
                ("check", "worker_check", "worker_start"), texts, (1, 1, 0)):
            tap.case(f"hasty_policy_{name}", code == wanted and
                     "a message is dead after 4 attempts, in less than" in out + err and
                     "a message is dead as soon as it would wait" in out + err,
                     (code, out, err))


def metrics(port):
    import urllib.request
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as r:
            return r.read().decode()
    except OSError as e:
        return str(e)


def one_file_for_all():
    """The worker hands messages to the sidecar, whose file it shares; both in a fleet."""
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    with servers.Redis() as redis:
        ports = {"REDIS": redis.port, "LISTEN": free_port(), "ADMIN": free_port(),
                 "ORIGIN": origin.server_address[1]}
        text = ALL
        for name, port in ports.items():
            text = text.replace(name, str(port))
        with Place(text) as place:
            tap.case("all_sections_are_clean", place.run("check", place.file)[0] == 0,
                     place.run("check", place.file))
            proxy = place.start("proxy", "-c", place.file)
            worker = place.start("worker", "-c", place.file)
            joined = worker.stderr.readline()
            while joined and "fleet:" not in joined:
                joined = worker.stderr.readline()
            tap.case("worker_joins_the_fleet", "bide worker: fleet: joined" in joined, joined)
            code, out, err = place.run("enqueue", "-c", place.file, "--id", "7", "hello")
            tap.case("enqueue_finds_the_queue", code == 0 and "in jobs" in out, out + err)
            tap.case("message_goes_through_the_sidecar",
                     until(lambda: Origin.seen) and Origin.seen[0][:2] == ("/jobs", "hello")
                     and Origin.seen[0][2] == '"jobs:7"', Origin.seen)
            tap.case("admin_endpoint_is_there",
                     until(lambda: "bide_worker_done_total{" in metrics(ports["ADMIN"]) or
                           "bide_worker_done_total 1" in metrics(ports["ADMIN"])),
                     metrics(ports["ADMIN"]))
            code, out, err = place.run("store", "ls", "-c", place.file)
            tap.case("store_finds_its_records", code == 0 and "jobs:7" in out, out + err)
            code, out, err = place.run("store", "show", "jobs:7", "--answer", "-c", place.file)
            tap.case("store_shows_an_answer_as_http",
                     code == 0 and out.startswith("HTTP/1.1 200 OK\n") and
                     "\nServer: " in out and out.endswith("\n\n"), (out, err))
            tap.case("explain_finds_a_policy",
                     place.run("explain", "-p", place.file + ":jobs", "--status", "503")[0]
                     == 0)
            code, _, err = end(worker)
            tap.case("worker_ends", code == 0, err)
            end(proxy)
    origin.shutdown()


def main():
    example()
    file_and_flags()
    mistakes()
    schemes()
    hasty_policy()
    one_file_for_all()
    tap.finish()


main()
