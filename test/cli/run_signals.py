#!/usr/bin/env python3
"""run_signals.py BIDE: signals are passed on, process groups end as a whole,
nothing is left behind, and a terminal behaves as one."""
import os
import pty
import re
import signal
import subprocess
import tempfile
import termios
import threading

import run_tools as t
import tap


class Running:
    """A `bide run` beside us. The script tells what it does in a file."""

    def __init__(self, script, *args, **more):
        self.dir = tempfile.TemporaryDirectory()
        self.notes = os.path.join(self.dir.name, "notes")
        script = f"note() {{ echo $* >>{self.notes}; }}; " + script
        self.p = subprocess.Popen(t.command("-q", *args, t.sh(script)),
                                  stdin=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL,
                                  env=tap.environment(), **more)

    def read(self):
        try:
            with open(self.notes, encoding="ascii") as f:
                return f.read().splitlines()
        except OSError:
            return []

    def wait_for(self, note):
        return t.until(lambda: any(line.split()[:1] == [note]
                                   for line in self.read()), note)

    def wait_for_no_children(self):
        """Now it waits, unless the kernel does not tell of children."""
        path = f"/proc/{self.p.pid}/task/{self.p.pid}/children"
        return not os.path.exists(path) or t.until(
            lambda: not open(path, encoding="ascii").read().strip())

    def noted(self, word):
        return [int(line.split()[1]) for line in self.read()
                if line.split()[0] == word]

    def end(self):
        """Exit code, and notes. One that hangs must not outlive the test."""
        try:
            code = self.p.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
            code = "hangs"
        notes = self.read()
        self.dir.cleanup()
        return code, notes


LOOP = "while :; do sleep .01; done"


def passed_on():
    for name in ("INT", "TERM", "HUP", "QUIT"):
        number = getattr(signal, "SIG" + name)
        r = Running(f"note ready; exec sleep 60")
        r.wait_for("ready")
        r.p.send_signal(number)
        t.same(f"{name}: ends both, and there is no retry", r.end(),
               (-number, ["ready"]))
        r = Running(f"trap 'note {name}; exit 9' {name}; note ready; {LOOP}")
        r.wait_for("ready")
        r.p.send_signal(number)
        t.same(f"{name}: a command that handles it", r.end(),
               (9, ["ready", name]))
        r = Running(f"trap 'note {name}; exit 0' {name}; note ready; {LOOP}")
        r.wait_for("ready")
        r.p.send_signal(number)
        t.same(f"{name}: a command that then succeeds", r.end(),
               (0, ["ready", name]))
    for name in ("USR1", "USR2"):
        r = Running(f"trap 'note {name}' {name}; trap 'exit 0' TERM; "
                    f"note ready; {LOOP}")
        r.wait_for("ready")
        r.p.send_signal(getattr(signal, "SIG" + name))
        r.wait_for(name)
        r.p.send_signal(signal.SIGTERM)
        t.same(f"{name}: passed on", r.end(), (0, ["ready", name]))


def whole_group():
    r = Running("trap '' INT; sleep 60 & note child $!; note ready; wait")
    r.wait_for("ready")
    child = r.noted("child")[0]
    r.p.send_signal(signal.SIGTERM)
    r.end()
    tap.case("TERM reaches the children of the command", t.until(
        lambda: not t.alive(child)))
    r = Running(f"trap 'note INT' INT; note ready; {LOOP}")
    r.wait_for("ready")
    r.p.send_signal(signal.SIGINT)
    r.wait_for("INT")
    r.p.send_signal(signal.SIGINT)
    t.same("a second INT kills", r.end(), (-signal.SIGINT, ["ready", "INT"]))
    # a child that does not listen, of a command that does
    script = "(trap '' TERM; note child $(exec sh -c 'echo $PPID'); " \
             f"note ready; {LOOP}) & wait"
    r = Running(script, "--attempts 1 --attempt-timeout 300ms "
                        "--kill-after 20ms")
    code, notes = r.end()
    t.same("a timeout: exit code", code, 124)
    for line in notes:
        if line.startswith("child"):
            tap.case("a timeout ends the whole group", t.until(
                lambda: not t.alive(int(line.split()[1]))))


def while_waiting():
    for name in ("INT", "TERM", "HUP", "QUIT"):
        number = getattr(signal, "SIG" + name)
        r = Running("note ready; exit 5", "--base 1h --floor 1h --cap 1h")
        r.wait_for("ready")
        r.wait_for_no_children()
        r.p.send_signal(signal.SIGUSR1)  # is for nobody
        r.p.send_signal(number)
        t.same(f"{name} while it waits", r.end(), (-number, ["ready"]))


def while_writing():
    """The output is kept, and then nobody reads it."""
    r = Running("note ready; head -c 1000000 /dev/zero", "-o last",
                stdout=subprocess.PIPE)
    r.p.stdout.read(1)  # the command has ended, and we are about to wait
    r.p.send_signal(signal.SIGTERM)
    t.same("TERM while nobody reads the output", r.end(),
           (-signal.SIGTERM, ["ready"]))
    r.p.stdout.close()


def killed():
    r = Running("note child $$; note ready; exec sleep 60")
    r.wait_for("ready")
    child = r.noted("child")[0]
    r.p.kill()
    r.end()
    tap.case("bide is killed: the command is told to end", t.until(
        lambda: not t.alive(child)))


def inherited():
    r = Running("note ready; kill -HUP $$; note alive",
                preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                                 signal.SIG_IGN))
    t.same("what is ignored stays ignored, as under nohup", r.end(),
           (0, ["ready", "alive"]))
    _, out, _ = t.run(t.sh("grep -E '^Sig(Blk|Ign)' /proc/self/status"))
    expected = subprocess.run(
        ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"],
        capture_output=True, check=False).stdout
    t.same("the command has the mask that we were given", out, expected)
    r = Running("note ready; exit 6", "--attempts 2",
                preexec_fn=lambda: signal.signal(signal.SIGCHLD,
                                                 signal.SIG_IGN))
    t.same("a parent that ignores SIGCHLD", r.end(),
           (6, ["ready", "ready"]))


def no_zombies():
    r = Running("note ready; (sleep .01 &) ; exit 5",
                "--attempts 2 --base 1h --floor 1h --cap 1h")
    r.wait_for("ready")
    tap.case("while it waits it has no children, dead or alive",
             r.wait_for_no_children())
    r.p.terminate()
    r.end()


def stopped():
    """Without a terminal, by a signal; what the kernel says of both is proof.
    The command must not fork: a shell whose child stands still between vfork
    and exec is not stopped itself."""
    def all_in(states, *pids):
        return t.until(lambda: all(t.state(pid) in states for pid in pids),
                       f"all to be in a state of {states}")

    r = Running("note child $$; note ready; exec sleep 60")
    r.wait_for("ready")
    both = r.p.pid, r.noted("child")[0]
    for again in ("", " again"):
        r.p.send_signal(signal.SIGTSTP)
        tap.case(f"TSTP stops us and the command{again}", all_in("T", *both))
        r.p.send_signal(signal.SIGCONT)
        tap.case(f"CONT lets both go on{again}", all_in("RSD", *both))
    r.p.terminate()
    t.same("TERM ends both", r.end()[0], -signal.SIGTERM)

    r = Running("note ready; exit 5", "--base 1h --floor 1h --cap 1h")
    r.wait_for("ready")
    r.wait_for_no_children()
    r.p.send_signal(signal.SIGTSTP)
    tap.case("TSTP while it waits", all_in("T", r.p.pid))
    r.p.send_signal(signal.SIGCONT)
    tap.case("CONT lets it go on", all_in("RSD", r.p.pid))
    r.p.terminate()
    t.same("TERM ends the wait", r.end()[0], -signal.SIGTERM)


class Terminal:
    """A session of its own on a pseudo-terminal."""

    def __init__(self, line, **more):
        pid, self.fd = pty.fork()
        if pid == 0:
            # Ctrl-C is not to throw away what is shown right after it
            attributes = termios.tcgetattr(0)
            attributes[3] |= termios.NOFLSH
            termios.tcsetattr(0, termios.TCSANOW, attributes)
            env = tap.environment(TERM="xterm", B=t.BIDE, **more)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-c", line],
                       env)
        self.pid = pid
        self.text = b""

    def read_until(self, what):
        while what not in self.text:
            try:
                piece = os.read(self.fd, 4096)
            except OSError:
                piece = b""
            if not piece:
                tap.case(f"the terminal shows {what}", False, self.text)
                return False
            self.text += piece
        return True

    def end(self):
        while True:
            try:
                piece = os.read(self.fd, 4096)
            except OSError:
                break
            if not piece:
                break
            self.text += piece
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def terminal():
    term = Terminal("$B run -q -- sh -c 'read -r x </dev/tty; echo got $x'; "
                    "echo end $?")
    os.write(term.fd, b"secret\n")
    term.read_until(b"end 0")
    term.end()
    tap.case("a command may read the terminal", b"got secret" in term.text,
             term.text)
    term = Terminal("$B run -q -- sh -c 'read -r x </dev/tty; echo got $x' | "
                    "cat; echo end $PIPESTATUS")
    os.write(term.fd, b"secret\n")
    term.read_until(b"end 0")
    term.end()
    tap.case("in a pipeline too", b"got secret" in term.text, term.text)
    term = Terminal("$B run -q -- sh -c 'echo ready; exec sleep 60' | "
                    "(read -r y; read -r x </dev/tty; echo pager $y $x; "
                    "kill $$); echo end")
    os.write(term.fd, b"key\n")
    term.read_until(b"pager ready key")
    term.end()
    tap.case("a pager beside it keeps the terminal", True)
    term = Terminal("$B run -q --stdin replay -- "
                    "sh -c 'read -r x; echo got $x'; echo end $?")
    os.write(term.fd, b"typed\n")
    term.read_until(b"end 0")
    term.end()
    tap.case("what is typed can be replayed", b"got typed" in term.text,
             term.text)
    term = Terminal("$B run --base 1ms -- sh -c 'echo ready; exec sleep 60' | "
                    "cat; echo end $?")
    term.read_until(b"ready")
    os.write(term.fd, b"\x03")
    code = term.end()
    tap.case("Ctrl-C in a pipeline", code == -signal.SIGINT and
             b"end" not in term.text and term.text.count(b"ready") == 1,
             (code, term.text))
    term = Terminal("$B run --base 1ms -- sh -c 'echo ready; exec sleep 60'; "
                    "echo end $?")
    term.read_until(b"ready")
    os.write(term.fd, b"\x03")
    code = term.end()
    tap.case("Ctrl-C ends the script too", code == -signal.SIGINT and
             b"end" not in term.text and term.text.count(b"ready") == 1,
             (code, term.text))
    handler = ("sh -c 'echo attempt $BIDE_ATTEMPT; [ $BIDE_ATTEMPT = 2 ] && "
               "exit 9; trap \"exit 7\" INT; %s echo ready; "
               "while :; do sleep .05; done'")
    for what, line, asks in (
            ("Ctrl-C that the command handles",
             "$B run -q --attempts 2 --base 1ms -- %s; echo end $?", ""),
            ("the same in a pipeline, where it has asked for the terminal",
             "$B run -q --attempts 2 --base 1ms -- %s | cat; echo end $PIPESTATUS",
             "read -r x </dev/tty;")):
        term = Terminal("trap : INT; " + line % (handler % asks))
        if asks:
            os.write(term.fd, b"go\n")
        term.read_until(b"ready")
        os.write(term.fd, b"\x03")
        term.end()
        tap.case(what, b"end 7" in term.text and
                 b"attempt 2" not in term.text, term.text)
    term = Terminal("trap : INT; $B run --base 1h --floor 1h --cap 1h -- "
                    "sh -c 'exit 3'; echo end $?")
    term.read_until(b"next in")
    os.write(term.fd, b"\x03")
    term.end()
    tap.case("Ctrl-C while it waits", b"end 130" in term.text, term.text)
    term = Terminal("set -m; $B run -q -- bash -c 'trap \"echo on\" CONT; "
                    "echo ready; until [ -e $F ]; do sleep .05; done'; "
                    "echo stopped $?; touch $F; fg; echo end $?",
                    F=os.path.join(tempfile.gettempdir(),
                                   f"bide-fg-{os.getpid()}"))
    term.read_until(b"ready")
    os.write(term.fd, b"\x1a")
    term.read_until(b"stopped")
    term.read_until(b"end 0")
    term.end()
    tap.case("Ctrl-Z and fg", b"on\r\n" in term.text, term.text)
    os.unlink(os.path.join(tempfile.gettempdir(), f"bide-fg-{os.getpid()}"))


def substituted():
    """$(...) of an interactive shell, which has TTIN ignored: whoever reads the
    terminal there gets an error, unless it is in the foreground."""
    for what, line, flags in (
            ("$(...)", "x=$(%s); echo got $x end", ""),
            ("$(...) of an interactive shell",
             "bash --norc --noprofile -ic 'x=$(%s); echo got $x end'", ""),
            ("$(...) and --foreground", "x=$(%s); echo got $x end",
             "--foreground")):
        ask = f"$B run -q {flags} -- head -n 1"
        term = Terminal(line % ask)
        os.write(term.fd, b"secret\n")
        term.read_until(b"end")
        term.end()
        tap.case(f"a command may read the terminal in {what}",
                 b"got secret end" in term.text, term.text)
    term = Terminal("x=$($B run -q --foreground -- sh -c 'trap \"\" TTIN; "
                    "read -r x; echo $x'); echo got $x end")
    os.write(term.fd, b"secret\n")
    term.read_until(b"end")
    term.end()
    tap.case("--foreground: a command that ignores TTIN",
             b"got secret end" in term.text, term.text)


def second_interrupt():
    for what, flags in (("", ""), (" --foreground", "--foreground")):
        term = Terminal(f"trap : INT; $B run -q {flags} -- sh -c 'trap "
                        "\"echo int\" INT; echo ready; while :; do "
                        "sleep .05; done'; echo end $?")
        term.read_until(b"ready")
        os.write(term.fd, b"\x03")
        term.read_until(b"int\r\n")
        # two that come while nobody has time to look are one: as a user would,
        # press it again
        press = threading.Event()

        def interrupt(fd=term.fd, press=press):
            while not press.wait(0.05):
                os.write(fd, b"\x03")
        presses = threading.Thread(target=interrupt)
        presses.start()
        term.read_until(b"end 130")
        press.set()
        presses.join()
        term.end()
        tap.case(f"a second Ctrl-C ends it{what}", b"end 130" in term.text,
                 term.text)
    r = Running("note ready; sleep 60 & note child $!; wait",
                "--foreground --attempts 1 --attempt-timeout 300ms")
    t.same("--foreground: a timeout", r.end()[0], 124)
    r = Running("note ready; exit 5", "--attempts 2 --on-retry",
                ["kill -TERM $PPID; exec sleep 60"])
    t.same("TERM while a hook runs ends all of it", r.end(),
           (-signal.SIGTERM, ["ready"]))


def live_line():
    term = Terminal("$B run --attempts 2 --base 2s --floor 2s "
                    "--cap 2s -- sh -c 'exit 7'; echo end $?")
    term.end()
    tap.case("a countdown", re.search(
        rb"bide: attempt 1 of 2: exit 7, next in [0-2]\.\ds", term.text), term.text)
    tap.case("it is wiped out", b"\r\x1b[K" in term.text, term.text)
    tap.case("why it gave up", b"gave up after 2 attempts" in term.text,
             term.text)
    term = Terminal("$B run --attempts 2 --base 2s --floor 2s "
                    "--cap 2s -- sh -c 'exit 7'; echo end $?", COLUMNS="30")
    term.end()
    tap.case("a countdown where there is little room",
             re.search(rb"\x1b\[2m1/2 [0-2]\.\ds", term.text), term.text)
    for what, more in (("a dumb terminal", {"TERM": "dumb"}),
                       ("--quiet", {"Q": "-q"})):
        env = {"TERM": "xterm", "Q": ""}
        env.update(more)
        term = Terminal(f"TERM={env['TERM']} $B run $Q --attempts 2 --base "
                        "300ms --floor 300ms --cap 300ms -- sh -c 'exit 7'",
                        Q=env["Q"])
        term.end()
        tap.case(f"{what}: no countdown", b"next in" not in term.text,
                 term.text)


def main():
    passed_on()
    whole_group()
    while_waiting()
    while_writing()
    killed()
    inherited()
    no_zombies()
    stopped()
    terminal()
    substituted()
    second_interrupt()
    live_line()
    tap.finish()


main()
