#!/usr/bin/env python3
"""e2e_health_grpc.py BIDE: health checks by gRPC, against a server of python3-grpcio:
SERVING keeps an endpoint in, NOT_SERVING puts it out, a service that is not known and a
server that is no gRPC server are failures, and only the service that is asked for
counts. Skipped without python3-grpcio."""
import concurrent.futures
import sys
import threading
import time

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, for any python3
try:
    import grpc
except ImportError:
    print("1..0 # SKIP no python3-grpcio")
    sys.exit(0)

import http2_peer  # noqa: E402
import sidecar  # noqa: E402
import tap  # noqa: E402
from parts import Origin, end, ok, run, says, until  # noqa: E402

SERVING, NOT_SERVING = 1, 2


class Server:
    """Knows the health of some services, and answers /shop.Cart/Who with a name."""

    def __init__(self, name, health):
        self.name, self.health = name, dict(health)
        self.asked, self.changed = [], threading.Condition()
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        self.server.add_generic_rpc_handlers((self,))
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def service(self, call):
        """What grpcio asks a generic handler."""
        if call.method == "/grpc.health.v1.Health/Check":
            return grpc.unary_unary_rpc_method_handler(self.check)
        if call.method == "/shop.Cart/Who":
            return grpc.unary_unary_rpc_method_handler(
                lambda request, context: self.name.encode())
        return None

    def check(self, request, context):
        name = request[2:].decode()  # field 1, its length, and it
        with self.changed:
            self.asked.append(name)
            self.changed.notify_all()
        if name not in self.health:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return bytes([8, self.health[name]])

    def wait_asked(self, more):
        with self.changed:
            n = len(self.asked) + more
            return self.changed.wait_for(lambda: len(self.asked) >= n, 60)

    def stop(self):
        self.server.stop(0).wait()


def config(ports, health):
    return sidecar.config(ports, upstream=f", protocol: http2, health: "
                          f"{{ {health}, every: 100ms, timeout: 100ms }}")


def who(channel):
    try:
        return channel.unary_unary("/shop.Cart/Who")(b"", timeout=30).decode()
    except grpc.RpcError as e:
        return e.code().name


def settles(channel, expected):
    """Whether calls come to be answered by these, and by no others."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if {who(channel) for _ in range(30)} == expected:
            return True
    return False


def with_servers(health, a, b, part):
    p = sidecar.Sidecar(config([a.port, b.port], health))
    channel = grpc.insecure_channel(f"127.0.0.1:{p.port}")
    try:
        part(channel)
    finally:
        channel.close()
        end(p)
        a.stop()
        b.stop()


def serving_and_not():
    a = Server("a", {"shop.Cart": SERVING, "": NOT_SERVING})
    b = Server("b", {"shop.Cart": SERVING, "": NOT_SERVING})

    def part(channel):
        tap.case("it asks, again and again", a.wait_asked(3) and b.wait_asked(3))
        tap.case("it asks for the service that is configured",
                 set(a.asked) == {"shop.Cart"}, a.asked)
        tap.case("two that serve are both used", settles(channel, {"a", "b"}))
        a.health["shop.Cart"] = NOT_SERVING
        tap.case("NOT_SERVING puts an endpoint out", settles(channel, {"b"}))
        a.health["shop.Cart"] = SERVING
        tap.case("SERVING brings it back", settles(channel, {"a", "b"}))
        del b.health["shop.Cart"]
        tap.case("a service that is not known is a failure",
                 settles(channel, {"a"}))
        b.health["shop.Cart"] = 0  # UNKNOWN, which protobuf leaves out
        b.wait_asked(5)
        tap.case("UNKNOWN is not SERVING", settles(channel, {"a"}))
    with_servers("grpc: shop.Cart", a, b, part)


def the_server_as_a_whole():
    a = Server("a", {"": SERVING})
    b = Server("b", {"": NOT_SERVING})

    def part(channel):
        tap.case("a star asks for the server as a whole",
                 a.wait_asked(2) and set(a.asked) == {""}, a.asked)
        tap.case("... which may not be serving", settles(channel, {"a"}))
    with_servers('grpc: "*"', a, b, part)


def no_grpc_at_all():
    a, b = Server("a", {"": SERVING}), Origin(says(ok()))

    def part(channel):
        tap.case("a server of HTTP/1.1 is put out", settles(channel, {"a"}))
    with_servers('grpc: "*"', a, b, part)


class Plain:
    """Speaks HTTP/2 and no gRPC: a status for /healthz, its name for all else."""

    def __init__(self, name):
        self.name, self.status, self.checks = name, 200, 0
        self.origin = http2_peer.Origin(self.answer)
        self.port = self.origin.port

    def answer(self, connection, stream):
        check = stream.fields[":path"] == "/healthz"
        self.checks += check
        connection.head(stream, [(":status", str(self.status if check else 200))])
        connection.send(stream, self.name.encode(), True)


def a_path_over_http2():
    a, b = Plain("a"), Plain("b")
    p = sidecar.Sidecar(config([a.port, b.port], "path: /healthz"))

    def answer():
        return {p.request()[2] for _ in range(30)}
    tap.case("a path is asked for over HTTP/2",
             until(lambda: a.checks > 3 and b.checks > 3), (a.checks, b.checks))
    tap.case("200 keeps both in", until(lambda: answer() == {b"a", b"b"}))
    a.status = 503
    tap.case("503 puts one out", until(lambda: answer() == {b"b"}))
    a.status = 200
    tap.case("200 brings it back", until(lambda: answer() == {b"a", b"b"}))
    end(p)
    a.origin.stop()
    b.origin.stop()


run(serving_and_not, a_path_over_http2, the_server_as_a_whole, no_grpc_at_all)
