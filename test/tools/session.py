"""A shell session by itself: one bash in a folder of its own and, where the kernel
lets it, in a network of its own, so that a page may name the ports that users see.

    with Session(folder, env) as s:
        code, text = s.run("bide run -- true")

What is still running at the end is ended with the session."""
import os
import signal
import subprocess
import threading

MARK = "@@session-"


def own_network():
    """The words before a command that give it a network with nothing but loopback;
    None if the kernel does not allow that."""
    for words in (["unshare", "-n"], ["unshare", "-rn"]):
        p = subprocess.run([*words, "sh", "-c", "ip link set lo up"],
                           capture_output=True, check=False)
        if p.returncode == 0:
            return words
    return None


class Session:
    def __init__(self, folder, env, network=None):
        command = [*(network or []), "bash", "--norc", "--noprofile"]
        self.p = subprocess.Popen(command, cwd=folder, env=env, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, errors="replace",
                                  start_new_session=True)
        self.number = 0
        if network:
            self.run("ip link set lo up")

    def run(self, command, limit=120):
        """Exit code and what appeared; 124 if it took longer than `limit`, after
        which nothing more can be run. It reads nothing."""
        self.number += 1
        end = f"{MARK}{self.number}"
        self.p.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n%s %d\\n' {end} $?\n")
        self.p.stdin.flush()
        timer = threading.Timer(limit, self.kill)
        timer.start()
        lines = []
        for line in self.p.stdout:
            before, found, code = line.partition(end + " ")
            if found:  # not always first: what runs in the background writes as well
                timer.cancel()
                return int(code), ("".join(lines) + before)[:-1]
            lines.append(line)
        timer.cancel()
        return 124, "".join(lines) + f"\n(no end after {limit} s)"

    def kill(self):
        try:
            os.killpg(self.p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # In a shell without job control, all that it started is in its group.
        self.kill()
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait()
