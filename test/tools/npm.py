"""Packages of npm that a test needs, by its committed lock file."""
import fcntl
import os
import subprocess
import sys


# What npm says when the network is at fault.
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT",
               "ENETUNREACH", "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT", "E403", "E503")


def install(directory, package):
    """Installs once; two tests that want the same wait for each other. Where no
    registry can be reached there is nothing to test with: the test is skipped, and
    scripts/test.sh says so in its summary. Anything else is a failure."""
    with open(os.path.join(directory, "package.json"), encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(os.path.join(directory, "node_modules", package)):
            return
        # Not `npm ci`: that fails where a package for another platform, which
        # nobody needs here, is not to be had.
        p = subprocess.run(["npm", "install", "--no-save", "--no-audit",
                            "--no-fund", "--ignore-scripts"], cwd=directory,
                           capture_output=True, timeout=300, check=False)
    if p.returncode and any(code in p.stderr.decode(errors="replace")
                            for code in UNREACHABLE):
        print(f"1..0 # SKIP no registry of npm can be reached, so no {package}")
        sys.exit(0)
    if p.returncode:
        print(f"Bail out! cannot install {package} (npm install in {directory}): "
              + p.stderr.decode()[-300:].replace("\n", " "))
        sys.exit(1)
