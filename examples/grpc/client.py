#!/usr/bin/env python3
"""A plain gRPC client: calls shop.Cart/Add and counts how the calls end.

    client.py HOST:PORT N

It does not retry. Prints `950 OK, 50 UNAVAILABLE; the handler ran 1000 times`; the
last part is what the server counted meanwhile. Needs Debian's python3-grpcio."""
import collections
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, for any python3
import grpc  # noqa: E402


def main():
    if len(sys.argv) != 3:
        raise SystemExit("usage: client.py HOST:PORT N")
    target, n = sys.argv[1], int(sys.argv[2])
    ended = collections.Counter()
    with grpc.insecure_channel(target, options=[("grpc.enable_retries", 0)]) as channel:
        add = channel.unary_unary("/shop.Cart/Add")
        count = channel.unary_unary("/shop.Cart/Count")
        before = int(count(b"", timeout=10))
        for i in range(n):
            try:
                answer = add(b"item %d" % i, timeout=10)
                ended["OK" if answer == b"item %d" % i else "another answer"] += 1
            except grpc.RpcError as e:
                ended[e.code().name] += 1
        runs = int(count(b"", timeout=10)) - before
    print(", ".join(f"{v} {k}" for k, v in ended.most_common()) + f"; the handler ran {runs} times")


if __name__ == "__main__":
    try:
        main()
    except grpc.RpcError as e:  # of what it asks the server before and after
        raise SystemExit(f"client.py: {sys.argv[1]}: {e.code().name}: {e.details()}") from None
