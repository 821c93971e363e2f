"""RabbitMQ on loopback: a node of its own name, with an epmd, ports and folders of its own."""
import base64
import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request

import servers
import tap
from ports import free_port

HOME = "/usr/lib/rabbitmq/bin"


class Rabbitmq(servers.Server):
    """self.url is what bide takes. `lines` are lines of rabbitmq.conf, `erl` arguments for
    what those cannot set. It takes 8 s or so to start; wait() until it answers."""
    stop_signal = signal.SIGKILL

    def __init__(self, *lines, durable=True, erl=""):
        super().__init__()
        self.erl = erl
        assert durable  # it is never anything else
        self.port, self.api, self.epmd_port = free_port(), free_port(), free_port()
        self.url = f"amqp://guest:guest@127.0.0.1:{self.port}"
        self.epmd = None
        with open(os.path.join(self.dir, "rabbitmq.conf"), "w") as f:
            f.write("\n".join((
                f"listeners.tcp.1 = 127.0.0.1:{self.port}",
                "management.tcp.ip = 127.0.0.1",
                f"management.tcp.port = {self.api}",
                "disk_free_limit.absolute = 1MB",
                "log.console.level = error",
                *lines, "")))
        with open(os.path.join(self.dir, "plugins"), "w") as f:
            f.write("[rabbitmq_management].\n")
        open(os.path.join(self.dir, "env.conf"), "w").close()

    def environment(self):
        at = self.dir + "/"
        return tap.environment(
            NOTIFY_SOCKET="/nowhere",  # no shell between us and the server
            HOME=self.dir, ERL_EPMD_PORT=str(self.epmd_port),
            ERL_EPMD_ADDRESS="127.0.0.1", RABBITMQ_NODENAME=f"bide{self.port}@localhost",
            RABBITMQ_DIST_PORT=str(free_port()), RABBITMQ_MNESIA_BASE=at + "data",
            RABBITMQ_LOG_BASE=at + "logs", RABBITMQ_LOGS="-",
            RABBITMQ_CONFIG_FILE=at + "rabbitmq.conf", RABBITMQ_CONF_ENV_FILE=at + "env.conf",
            RABBITMQ_ENABLED_PLUGINS_FILE=at + "plugins",
            RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface "
                                                "{127,0,0,1} +sbwt none " + self.erl)

    def start(self):
        if not self.epmd:  # one that we started, so that we can end it
            self.epmd = subprocess.Popen(
                ["epmd", "-port", str(self.epmd_port), "-address", "127.0.0.1"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env=tap.environment(HOME=self.dir),
                preexec_fn=servers.die_with_parent(signal.SIGKILL))
            servers.until("epmd", self.epmd_answers)
        self.spawn(os.path.join(HOME, "rabbitmq-server"), env=self.environment())

    def epmd_answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.epmd_port), 1).close()
            return True
        except OSError:
            return False

    def wait(self):
        servers.until("rabbitmq", self.answers)

    def answers(self):
        """The listeners of AMQP start last, after the queues were recovered."""
        if self.process.poll() is not None:
            raise RuntimeError("rabbitmq: " + self.said())
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as s:
                s.settimeout(5)
                s.sendall(b"AMQP\0\0\x09\x01")
                return s.recv(1) == b"\x01"
        except OSError:
            return False

    def ask(self, method, path, body=None):
        """The management API. Its answer, read; None if it says 404."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.api}/api/{path}", method=method,
            data=None if body is None else json.dumps(body).encode())
        request.add_header("Authorization",
                           "Basic " + base64.b64encode(b"guest:guest").decode())
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=servers.PATIENCE) as answer:
                text = answer.read()
                return json.loads(text) if text else {}
        except urllib.error.HTTPError as e:
            if e.code == 404:
                return None
            raise

    def declare(self, queue, durable=True, **arguments):
        self.ask("DELETE", f"queues/%2F/{queue}")
        self.ask("PUT", f"queues/%2F/{queue}",
                 {"durable": durable, "arguments":
                  {name.replace("_", "-"): value for name, value in arguments.items()}})

    def queues(self):
        """What is in them, where there is anything; some seconds old."""
        return {q["name"]: q["messages"] for q in self.ask("GET", "queues/%2F")
                if q.get("messages")}

    def publish(self, queue, body, **properties):
        answer = self.ask("POST", "exchanges/%2F/amq.default/publish",
                          {"routing_key": queue, "payload": body,
                           "payload_encoding": "string",
                           "properties": {"delivery_mode": 2, **properties}})
        if not answer["routed"]:
            raise RuntimeError("not routed to " + queue)

    def kill(self, sig=None):
        family = self.family() if self.process else []
        super().kill(sig)  # its helpers notice
        servers.until("its helpers", lambda: not any(map(servers.alive, family)))

    def __exit__(self, *how):
        try:
            super().__exit__(*how)
        finally:
            if self.epmd:
                self.epmd.kill()
                self.epmd.wait()
