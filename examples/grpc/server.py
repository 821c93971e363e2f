#!/usr/bin/env python3
"""A gRPC server that fails on purpose: shop.Cart, without generated code.

    server.py PORT [--fail-every N] [--headers-first]

shop.Cart/Add answers its request; every N-th call of it ends with UNAVAILABLE
instead. With --headers-first the metadata is sent before that, as servers do that
begin to answer before they fail. shop.Cart/Count says how often Add has run.
Needs Debian's python3-grpcio."""
import argparse
import itertools
import sys
import threading
from concurrent import futures

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, for any python3
import grpc  # noqa: E402


class Cart:
    def __init__(self, fail_every, headers_first):
        self.fail_every = fail_every
        self.headers_first = headers_first
        self.runs = 0
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)

    def add(self, request, context):
        with self.lock:
            self.runs += 1
            n = next(self.numbers)
        if self.headers_first:
            context.send_initial_metadata((("x-begun", "yes"),))
        if self.fail_every and n % self.fail_every == 0:
            context.abort(grpc.StatusCode.UNAVAILABLE, "on purpose")
        return request

    def count(self, request, context):
        return str(self.runs).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("port", type=int)
    parser.add_argument("--fail-every", type=int, default=0, metavar="N")
    parser.add_argument("--headers-first", action="store_true")
    args = parser.parse_args()
    cart = Cart(args.fail_every, args.headers_first)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop.Cart", {
        "Add": grpc.unary_unary_rpc_method_handler(cart.add),
        "Count": grpc.unary_unary_rpc_method_handler(cart.count),
    }),))
    if server.add_insecure_port(f"127.0.0.1:{args.port}") == 0:
        raise SystemExit(f"server.py: port {args.port} is taken")
    server.start()
    print(f"shop.Cart on 127.0.0.1:{args.port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
