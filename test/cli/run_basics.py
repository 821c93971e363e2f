#!/usr/bin/env python3
"""run_basics.py BIDE: what is retried, how it ends, and what a command finds in
its environment."""
import json
import os
import subprocess
import tempfile

import run_tools as t
import tap


def attempts(*args, **more):
    """Exit code, and how many attempts were made, as the event log has it."""
    with tempfile.NamedTemporaryFile() as log:
        code, _, _ = t.run("--attempts 4 --log-file", log.name, *args, **more)
        events = [json.loads(line) for line in log.read().splitlines()]
    tries = [e for e in events if e["event"] == "try"]
    return code, len(tries), events[-1]["reason"] if events else None


# arguments, script, exit code, attempts, reason
JUDGED = [
    ("", "exit 0", 0, 1, "success"),
    ("", "exit 1", 1, 4, "attempts"),
    ("--attempts 1", "exit 9", 9, 1, "attempts"),
    ("--attempts 7", "exit 255", 255, 7, "attempts"),
    ("", "exit 126", 126, 1, "permanent"),
    ("", "exit 127", 127, 1, "permanent"),
    ("--retry-on 127", "exit 127", 127, 4, "attempts"),
    ("", "[ $BIDE_ATTEMPT = 3 ]", 0, 3, "success"),
    ("--retry-on 1,75", "exit 75", 75, 4, "attempts"),
    ("--retry-on 1,75", "exit 74", 74, 1, "permanent"),
    ("--retry-on 70-80", "exit 80", 80, 4, "attempts"),
    ("--retry-on 70-80", "exit 81", 81, 1, "permanent"),
    ("--retry-on 70-80,81", "exit 81", 81, 4, "attempts"),
    ("--stop-on 2,64", "exit 64", 64, 1, "permanent"),
    ("--stop-on 2,64", "exit 65", 65, 4, "attempts"),
    ("--stop-on 75 --retry-on 70-80", "exit 75", 75, 1, "permanent"),
    # signals
    ("", "kill -TERM $$", 143, 4, "attempts"),
    ("", "kill -KILL $$", 137, 4, "attempts"),
    ("", "kill -PIPE $$", 141, 1, "permanent"),
    ("--retry-on 141", "kill -PIPE $$", 141, 4, "attempts"),
    ("--stop-on TERM", "kill -TERM $$", 143, 1, "permanent"),
    ("--stop-on SIGTERM,KILL", "kill -KILL $$", 137, 1, "permanent"),
    ("--stop-on 128-255", "kill -TERM $$", 143, 1, "permanent"),
    ("--retry-on 1", "kill -TERM $$", 143, 4, "attempts"),
    # timeouts
    ("--attempts 2 --attempt-timeout 10ms", "sleep 60", 124, 2, "attempts"),
    ("--stop-on timeout --attempt-timeout 10ms", "sleep 60", 124, 1,
     "permanent"),
    ("--stop-on 124 --attempt-timeout 10ms", "sleep 60", 124, 1, "permanent"),
    ("--retry-on 1 --attempts 2 --attempt-timeout 10ms", "sleep 60", 124, 2,
     "attempts"),
    ("--attempts 9 --deadline 1m --base 1h --floor 1h --cap 1h", "exit 3", 3, 1,
     "deadline"),
    # the deadline ends a running attempt too
    ("--attempts 9 --deadline 20ms", "sleep 60", 124, 1, "deadline"),
    # a command that is told to end, and then succeeds
    ("--attempt-timeout 2s",
     "trap 'exit 0' TERM; while :; do sleep .01; done", 0, 1, "success"),
    # ... and one that does not listen
    ("--attempts 2 --attempt-timeout 10ms --kill-after 1ms",
     "trap '' TERM; while :; do sleep 1; done", 124, 2, "attempts"),
    # output
    ("--retry-if tempor", "echo a temporary failure; exit 5", 5, 4,
     "attempts"),
    ("--retry-if tempor", "echo a temporary failure >&2; exit 5", 5, 4,
     "attempts"),
    ("--retry-if tempor", "echo for good; exit 5", 5, 1, "permanent"),
    ("--retry-if tempor --retry-on 5", "echo for good; exit 5", 5, 4,
     "attempts"),
    ("--retry-if tempor", "echo a temporary failure; exit 0", 1, 4,
     "attempts"),
    ("--retry-if tempor", "echo fine; exit 0", 0, 1, "success"),
    ("--retry-if ^try$", "printf 'a\\ntry\\nb\\n'; exit 5", 5, 4, "attempts"),
    ("--retry-if ^try$", "printf 'a\\nretry\\n'; exit 5", 5, 1, "permanent"),
    ("--retry-if b.?c", "printf 'a\\0b\\0c'; exit 5", 5, 4, "attempts"),
    ("--retry-if [[:digit:]]{3}", "echo 503; exit 5", 5, 4, "attempts"),
    ("--stop-if exists", "echo it exists; exit 5", 5, 1, "permanent"),
    ("--stop-if exists", "echo nothing; exit 5", 5, 4, "attempts"),
    ("--stop-if exists", "echo it exists; exit 0", 0, 1, "success"),
    ("--stop-if a --retry-if a", "echo a; exit 5", 5, 1, "permanent"),
    # only the last 64 KiB are looked at
    ("--retry-if first", "echo first; head -c 70000 /dev/zero; exit 5", 5, 1,
     "permanent"),
    ("--retry-if last", "head -c 700000 /dev/zero; echo last; exit 5", 5, 4,
     "attempts"),
    # until something else than success
    ("--until success", "exit 1", 1, 4, "attempts"),
    ("--until failure --attempts unlimited", "[ $BIDE_ATTEMPT -lt 7 ]", 1, 7,
     "success"),
    ("--until fail --attempts 3", "exit 0", 0, 3, "attempts"),
    ("--until 3", "exit $BIDE_ATTEMPT", 3, 3, "success"),
    ("--until 0,9 --attempts 2", "exit 5", 5, 2, "attempts"),
    ("--until 7 --attempts 2", "exit 0", 1, 2, "attempts"),
    ("--until TERM", "[ $BIDE_ATTEMPT = 2 ] && kill -TERM $$", 143, 2,
     "success"),
    ("--attempts unlimited", "[ $BIDE_ATTEMPT = 9 ]", 0, 9, "success"),
    # the signal to end with
    ("--signal INT --attempts 1 --attempt-timeout 2s",
     "trap 'exit 0' INT; while :; do sleep .01; done", 0, 1, "success"),
    ("-s 10 --attempts 1 --attempt-timeout 2s",
     "trap 'exit 0' USR1; while :; do sleep .01; done", 0, 1, "success"),
    ("--at-most-once", "exit 1", 1, 1, "not_idempotent"),
    ("--at-most-once", "exit 0", 0, 1, "success"),
    ("--at-most-once --attempt-timeout 10ms", "sleep 60", 124, 1,
     "not_idempotent"),
]


def judged():
    for args, script, *expected in JUDGED:
        found = attempts(args, t.sh(script))
        t.same(f"{args} {script}".strip(), list(found), expected)


def unlimited():
    """A failure that is looked for is looked for as long as it takes."""
    t.same("--until failure: no limit of its own", t.run(
        "--until failure", t.sh("[ $BIDE_ATTEMPTS = unlimited ] && "
                                "[ $BIDE_ATTEMPT -lt 30 ] || exit 8"))[0], 8)
    t.same("--until failure: but that of a flag", t.run(
        "-q --until failure --attempts 2", t.sh("echo x"))[1], b"x\nx\n")


def not_started():
    with tempfile.TemporaryDirectory() as d:
        plain = os.path.join(d, "plain")
        late = os.path.join(d, "late")
        script = os.path.join(d, "script")
        open(plain, "w", encoding="ascii").close()
        with open(script, "w", encoding="ascii") as f:
            f.write("exit 3\n")
        os.chmod(script, 0o755)
        for what, name, expected in [
                ("no such command", "nosuchcommand", 127),
                ("no such path", d + "/nosuch", 127),
                ("a file in place of a directory", plain + "/x", 127),
                ("a directory", d, 126),
                ("a file that is no program", plain, 126),
                ("an empty name", [""], 127)]:
            code, out, err = t.run("--", name)
            t.same(f"{what}: exit code", code, expected)
            tap.case(f"{what}: is told in one line",
                     err.startswith(b"bide run: ") and err.count(b"\n") == 1,
                     err)
            t.same(f"{what}: no retry",
                   attempts("--", name)[1:], (1, "permanent"))
            t.same(f"{what}: quiet", t.run("-q", "--", name)[2], b"")
        t.same("a script without #!", attempts("--attempts 2", "--", script),
               (3, 2, "attempts"))
        # retried although it must not run twice: it has not been run
        t.same("at most once: not started, retried",
               attempts("--at-most-once --retry-on 127", "--", late),
               (127, 4, "attempts"))


def environment():
    show = 'echo "${BIDE_ATTEMPT-none} ${BIDE_ATTEMPTS-none} ' \
           '${BIDE_REASON-none}"; '
    t.same("numbers and reasons",
           t.run("--attempts 3", t.sh(show + "exit 7"))[1].decode(),
           "1 3 none\n2 3 exit 7\n3 3 exit 7\n")
    t.same("reason: a signal",
           t.run("--attempts 2", t.sh(show + "kill -KILL $$"))[1].decode(),
           "1 2 none\n2 2 signal KILL\n")
    t.same("reason: a timeout",
           t.run("--attempts 2 --attempt-timeout 2s",
                 t.sh(show + "exec sleep 60"))[1].decode(),
           "1 2 none\n2 2 timeout\n")
    show = "echo ${BIDE_DEADLINE_MS-none}"
    t.same("no deadline", t.run(t.sh(show))[1], b"none\n")
    left = t.run("--deadline 1h", t.sh(show))[1]
    tap.case("what is left of the deadline",
             left.strip().isdigit() and 3500000 < int(left) <= 3600001, left)
    t.same("a deadline of a layer above is kept", t.run(
        "--attempts 9 --base 1h --cap 1h", t.sh("exit 4"),
        env={"BIDE_DEADLINE_MS": "60000"})[0], 4)
    t.same("a layer above retries: one attempt", attempts(
        t.sh("exit 4"), env={"BAGGAGE": "a=b,bide.attempt=2,bide.max=3"}),
        (4, 1, "upstream_retries"))
    for text in ("", "0", "-1", "1x", " 1", "9" * 30):
        t.same(f"no deadline of a layer above: '{text}'", attempts(
            "--base 1ms", t.sh("exit 4"), env={"BIDE_DEADLINE_MS": text}),
            (4, 4, "attempts"))
    for text in ("", ",", "bide.attempt=", "bide.attempt=0", "bide.attempt=-1",
                 "bide.attempt=1x", "bide.attempt=1,bide.max=1", "bide.max=3",
                 "bide.attempt=4,bide.max=3"):
        t.same(f"no claim of a layer above: '{text}'", attempts(
            "--base 1ms", t.sh("exit 4"), env={"BAGGAGE": text}),
            (4, 4, "attempts"))
    inner = f"{t.BIDE} run -q --base 1ms -- sh -c 'echo x; exit 1'"
    t.same("nested: attempts do not multiply",
           t.run("-q --attempts 3", t.sh(inner))[1], b"x\n" * 3)
    t.same("other variables are passed on",
           t.run(t.sh("echo $FOO"), env={"FOO": "bar"})[1], b"bar\n")


def words():
    t.same("flags of the command are its own",
           t.run("printf", ["%s", "--help"])[1], b"--help")
    t.same("-- ends the flags", t.run("--", "printf", ["%s", "-q"])[1], b"-q")
    t.same("a second -- is the command's",
           t.run("--", "printf", ["%s", "--"])[1], b"--")
    _, out, err = t.run("-v --attempts 2 --jitter none", t.sh("exit 7"))
    t.same("verbose: each step", err.decode().splitlines()[0],
           "bide run: attempt 1 of 2: exit 7, next in 1ms")
    tap.case("the end is told",
             err.startswith(b"bide run: attempt") and
             b"bide run: gave up after 2 attempts in " in err and
             err.endswith(b": exit 7, and no attempts are left\n"), err)
    t.same("quiet says nothing", t.run("-q", t.sh("exit 7")), (7, b"", b""))
    t.same("success says nothing",
           t.run(t.sh("[ $BIDE_ATTEMPT = 2 ]")), (0, b"", b""))
    for line in ("--attempts 0", "--retry-on 0", "--retry-on 256",
                 "--retry-on 5-3", "--retry-on 1,,2", "--stop-on NOSUCH",
                 "--stdin some", "--output none", "--key a/b", "--key .x",
                 "--kill-after 5", "--until maybe", "--signal NOSUCH",
                 "--signal 0", "--log-file="):
        code, out, err = t.run(line, "true")
        tap.case(f"a mistake: {line}", code == 2 and not out and
                 b"expected" in err and err.count(b"\n") <= 2, err)
    code, _, err = t.run(["--retry-if", "a(b"], "true")
    tap.case("a mistake: an expression", code == 2 and b"a(b" in err, err)


def hooks():
    """What --on-... finds, when it is run, and that it changes nothing."""
    show = "echo {} $BIDE_ATTEMPT/$BIDE_ATTEMPTS $BIDE_REASON $BIDE_EXIT" \
           " ${{BIDE_STOPPED-}}; cat; exit 3"
    hook = [w for name in ("retry", "failure", "success")
            for w in (f"--on-{name}", show.format(name))]

    def said(*args, **more):
        code, out, err = t.run("-q --attempts 4", hook, *args, **more)
        return code, out, err.decode().splitlines()

    t.same("hooks of a failure", said("--attempts 3", t.sh("exit 7"),
                                      stdin=b"not for hooks"),
           (7, b"", ["retry 1/3 exit 7 7", "retry 2/3 exit 7 7",
                     "failure 3/3 exit 7 7 attempts"]))
    t.same("hooks of a late success", said(t.sh(
        "echo out; [ $BIDE_ATTEMPT = 2 ]")),
        (0, b"out\nout\n", ["retry 1/4 exit 1 1",
                            "success 2/4 exit 0 0 success"]))
    t.same("hooks of a success", said("--attempts unlimited", "true"),
           (0, b"", ["success 1/unlimited exit 0 0 success"]))
    t.same("hooks where there is nothing to run", said("nosuchcommand"),
           (127, b"", ["failure 1/4 not started 127 permanent"]))
    _, _, err = t.run("--on-success", ["exit 3"], "true")
    t.same("a hook that fails is told", err,
           b"bide run: --on-success: exit 3\n")
    t.same("a hook is ended with the deadline", t.run(
        "-q --deadline 300ms --on-retry", ["exec sleep 60"],
        t.sh("exit 5"))[0], 5)
    t.same("the command does not see what hooks see", t.run(
        "-q --attempts 2 --on-retry true", t.sh(
            "echo ${BIDE_EXIT-none} ${BIDE_STOPPED-none}; exit 1"))[1],
        b"none none\nnone none\n")


def others():
    """Flags that users of retry(1) and timeout(1) look for."""
    for flag, answer in [("--times 3", b"--attempts"), ("-t 3", b"--attempts"),
                         ("--delay=3", b"--base"), ("-d 3", b"--base"),
                         ("--while fail", b"--until"),
                         ("--timeout 3s", b"--attempt-timeout"),
                         ("--preserve-status", b"--on-failure")]:
        code, out, err = t.run(flag, "true")
        tap.case(f"{flag}: is answered with the right one",
                 code == 2 and not out and answer in err, err)
    code, _, err = t.run("--json=log", "true")
    tap.case("--json with a file says --log-file",
             code == 2 and b"--log-file log" in err, err)


def full():
    """A disk that is full is told, whatever was to be written there."""
    said = b"No space left on device"
    code, out, err = t.run("--log-file /dev/full", t.sh("echo a"))
    tap.case("a log on a full disk: the command counts", code == 0 and
             out == b"a\n" and err.count(said) == 1, (code, err))
    for args in ("-o last", "-o success", "-o prefix", "--retry-if x"):
        with open("/dev/full", "wb") as full_disk:
            p = subprocess.run(t.command(args, t.sh("echo a")),
                               stdin=subprocess.DEVNULL, stdout=full_disk,
                               stderr=subprocess.PIPE, env=tap.environment(),
                               check=False)
        tap.case(f"{args}: output on a full disk", p.returncode == 125 and
                 said in p.stderr, p)


def events():
    _, out, _ = t.run("--log-file - --attempts 2 -q",
                      t.sh("kill -KILL $$"))
    lines = [json.loads(line) for line in out.splitlines()]
    t.same("events", [e["event"] for e in lines],
           ["try", "wait", "try", "done"])
    wait, done = lines[1], lines[3]
    t.same("event: wait", (wait["attempt"], wait["class"], wait["reason"],
                           wait["exit"], wait["signal"], wait["timed_out"]),
           (1, "transient", "backoff", None, "KILL", False))
    tap.case("event: numbers", wait["wait_ms"] <= 1 and wait["took_ms"] > 0 and
             done["total_ms"] > 0 and lines[0]["t"] <= done["t"], lines)
    with tempfile.TemporaryDirectory() as d:
        log = os.path.join(d, "log")
        for _ in range(2):
            t.run("--log-file", log, t.sh("exit 0"))
        with open(log, encoding="ascii") as f:
            t.same("a log is appended to", len(f.readlines()), 4)
        code, _, err = t.run("--log-file", d + "/no/log", "true")
        tap.case("a log that cannot be opened", code == 125 and b"no/log" in
                 err, err)
        with open(log, "w", encoding="ascii") as f:
            t.run("--log-file", str(f.fileno()), t.sh("exit 0"),
                  pass_fds=[f.fileno()])
        with open(log, encoding="ascii") as f:
            t.same("a log by its number", len(f.readlines()), 2)
    code, out, err = t.run("--json --attempts 2", t.sh("echo a; exit 3"))
    lines = [json.loads(line) for line in err.splitlines()]
    t.same("--json: on stderr, and nothing else there",
           (code, out, [e["event"] for e in lines]),
           (3, b"a\na\n", ["try", "wait", "try", "done"]))
    t.same("the same seed waits the same", waits(5), waits(5))
    tap.case("another seed waits otherwise", waits(5) != waits(6))


def waits(seed):
    _, out, _ = t.run(f"--log-file - -q --seed {seed}", t.sh("exit 1"))
    return [e["wait_ms"] for e in map(json.loads, out.splitlines())
            if e["event"] == "wait"]


def main():
    judged()
    unlimited()
    not_started()
    environment()
    words()
    hooks()
    others()
    full()
    events()
    tap.finish()


main()
