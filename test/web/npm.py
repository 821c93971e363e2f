"""Packages of npm that a test needs, by its committed lock file."""
import fcntl
import os
import subprocess
import sys


def install(directory, package):
    """Installs once; two tests that want the same wait for each other. Without the
    packages there is no test: that is a failure, and says so."""
    with open(os.path.join(directory, "package.json"), encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(os.path.join(directory, "node_modules", package)):
            return
        p = subprocess.run(["npm", "ci", "--no-audit", "--no-fund",
                            "--ignore-scripts"], cwd=directory,
                           capture_output=True, timeout=300, check=False)
    if p.returncode:
        print(f"Bail out! cannot install {package} (npm ci in {directory}): "
              + p.stderr.decode()[-300:].replace("\n", " "))
        sys.exit(1)
