"""What the tests of the program share: running it, telling results as TAP."""
import os
import signal
import subprocess
import sys

START = os.getcwd()
HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                    "cli")
count = failed = 0

# Under nohup, or in a shell's background, some are ignored, and what is ignored
# stays so in every program that a test starts.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGCHLD,
               signal.SIGTSTP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

# Nor is every standard stream always open: a file of the test would take its place.
while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
    os.set_inheritable(descriptor, True)
os.close(descriptor)


def case(name, ok, detail=""):
    """One result. `detail` is shown if it is a failure."""
    global count, failed
    count += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {name.replace('#', '')}")
    if not ok:
        for line in str(detail).splitlines():
            print("# " + line)


def finish():
    print(f"1..{count}")
    sys.exit(1 if failed else 0)


def environment(**more):
    """A place where nothing of the developer's own settings shows."""
    env = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"], "HOME": "/nowhere"}
    for name in os.environ:  # what sanitizers, coverage and modules need
        if (name.endswith("SAN_OPTIONS") or name.startswith("GCOV")
                or name == "BIDE_MODULES"):
            env[name] = os.environ[name]
    env.update(more)
    return env


def run(command, **more):
    """Runs a list of arguments. Gives exit code, stdout, stderr."""
    command = [os.path.join(START, command[0]), *command[1:]]
    p = subprocess.run(command, env=environment(**more), cwd=HERE,
                       stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=60)
    return p.returncode, p.stdout.decode(), p.stderr.decode()
