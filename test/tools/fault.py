"""The scripted fault server (test/fault/server.c), as a child that ends with us."""
import json
import os
import subprocess
import urllib.request

import tap

ids = 0


class Fault:
    """BIDE_FAULT_SERVER, or the program that is given. `ports` has a port for each
    way to be a server."""

    def __init__(self, program=None):
        self.program = os.path.join(tap.START, program or
                                    os.environ["BIDE_FAULT_SERVER"])
        self.start()

    def start(self, *port):
        """On new ports; `port`: that of `http`."""
        self.process = subprocess.Popen([self.program, *map(str, port)],
                                        stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        self.ports = {name: int(port) for name, port in
                      (word.split("=") for word in line.split())}

    def path(self, script):
        """A path with an id of its own, and that id."""
        global ids
        ids += 1
        return f"/s/{script}?id=t{ids}", f"t{ids}"

    def at(self, path, name="http"):
        return f"http://127.0.0.1:{self.ports[name]}{path}"

    def url(self, script, name="http"):
        """A URL with an id of its own."""
        return self.at(self.path(script)[0], name)

    def ask(self, path):
        with urllib.request.urlopen(self.at(path)) as r:
            return r.read()

    def count(self, name):
        """What came with this id."""
        return json.loads(self.ask(f"/count?id={name}"))

    def seen(self, url):
        """The requests that came for a URL."""
        return self.count(url.split("id=")[1])["seen"]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()
