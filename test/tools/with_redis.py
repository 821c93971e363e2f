#!/usr/bin/env python3
"""with_redis.py PROGRAM ARGS...: runs a program beside a Redis of its own.

The server listens on a Unix socket and on a port of loopback. BIDE_TEST_REDIS has the
URL of the socket, BIDE_TEST_REDIS_TCP that of the port, BIDE_TEST_REDIS_PID the
server's process id, for a test that stops it."""
import os
import subprocess
import sys

from servers import Redis


def main():
    with Redis() as redis:
        env = dict(os.environ, BIDE_TEST_REDIS=redis.url, BIDE_TEST_REDIS_TCP=redis.tcp,
                   BIDE_TEST_REDIS_PID=str(redis.process.pid))
        return subprocess.run(sys.argv[1:], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
