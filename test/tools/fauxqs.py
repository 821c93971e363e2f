"""An SQS on loopback: fauxqs, from npm, by the lock file in test/queue/sqs.

    fauxqs.prepare()              # in a network of its own from here on
    with fauxqs.Fauxqs() as s:
        s.ask("SendMessage", QueueUrl=s.queue("default"), MessageBody="hello")

It listens on all interfaces, so the test begins again in a network that has nothing but
loopback; where the kernel does not allow that, it is skipped, and says so. It keeps its
messages in memory: it can be frozen, not killed."""
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

import npm
import servers
import session
from ports import free_port

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                      "queue", "sqs")
MARK = "BIDE_TEST_OWN_NETWORK"
# Nobody checks them; test/queue/sqs/signature.py does.
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}


def skip(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def prepare():
    if MARK in os.environ:
        return
    npm.install(FOLDER, "fauxqs")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True,
                             check=False).stdout
    if int(version.lstrip("v").split(".")[0] or 0) < 20:
        skip(f"fauxqs needs Node.js 20, this is {version.strip() or 'none'}")
    words = session.own_network()
    if not words:
        skip("no network namespace for fauxqs, which listens on all interfaces")
    os.environ[MARK] = "1"
    os.execvp(words[0], [*words, "sh", "-c", 'ip link set lo up && exec "$@"', "sh",
                         sys.executable, *sys.argv])


class Fauxqs(servers.Server):
    """self.url is what `--broker` takes."""

    def __init__(self):
        super().__init__()
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.url = "sqs+" + self.endpoint

    def start(self):
        self.spawn("node", os.path.join(FOLDER, "start.mjs"), str(self.port))
        servers.until("fauxqs", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError("fauxqs: " + self.said())
        try:
            with urllib.request.urlopen(self.endpoint + "/health", timeout=5) as r:
                return r.status == 200
        except OSError:
            return False

    def ask(self, action, **body):
        request = urllib.request.Request(
            self.endpoint + "/", json.dumps(body).encode(),
            {"Content-Type": "application/x-amz-json-1.0",
             "X-Amz-Target": "AmazonSQS." + action})
        try:
            with urllib.request.urlopen(request, timeout=servers.PATIENCE) as r:
                return json.load(r)
        except urllib.error.HTTPError as e:
            raise RuntimeError(e.read().decode()) from e

    def queue(self, name):
        return self.ask("GetQueueUrl", QueueName=name)["QueueUrl"]
