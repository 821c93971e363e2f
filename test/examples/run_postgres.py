#!/usr/bin/env python3
"""run_postgres.py PG_RECONNECT: 24 threads lose their database at once; it never sees
more of them at its door than allowed.

They come through a relay that counts who has knocked and not been answered yet. At the
start it lets nobody on until as many are there as may be, and then a moment longer, so
that one too many would be seen. While the database is down fewer come: one at a time.
"""
import re
import socket
import sys
import threading
import time

from servers import PATIENCE, Postgres, Program, tap, until

THREADS = 24


class Door:
    """Relays connections to a unix socket; self.most is the most that knocked at
    once."""

    def __init__(self, path, gather):
        self.path = path
        self.lock = threading.Lock()
        self.inside = self.in_vain = 0
        self.wait_for(gather)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def wait_for(self, gather):
        self.gather = gather
        self.most = 0
        self.all_there = threading.Event()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def enter(self):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
            all_there = self.all_there
            if self.inside < self.gather or all_there.is_set():
                return all_there
        time.sleep(0.05)
        all_there.set()
        return all_there

    def leave(self):
        with self.lock:
            self.inside -= 1

    def serve(self, client):
        self.enter().wait(PATIENCE)
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.path)
        except OSError:
            self.in_vain += 1
            self.leave()
            client.close()
            return
        threading.Thread(target=pump, args=[client, server], daemon=True).start()
        # The client must not see the answer before it has left: it would be
        # counted twice.
        begin = answer(server)
        self.leave()
        pump(server, client, begin)


def answer(server):
    """What the server says until it is ready (Z), has refused (E) or is gone."""
    said, at = b"", 0
    while True:
        while len(said) >= at + 5:
            if said[at:at + 1] in b"ZE":
                return said
            at += 1 + int.from_bytes(said[at + 1:at + 5], "big")
        try:
            more = server.recv(4096)
        except OSError:
            more = b""
        if not more:
            return said
        said += more


def pump(source, sink, data=b""):
    try:
        sink.sendall(data)
        while data := source.recv(4096):
            sink.sendall(data)
    except OSError:
        pass
    for s in source, sink:
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def run(program, door, at_once):
    return Program(program, f"host=127.0.0.1 port={door.port} user=bide "
                   "dbname=postgres sslmode=disable gssencmode=disable", str(at_once))


def connected(p, connections):
    """Waits until all threads are connected, by so many connections or more."""
    return p.hear(lambda line: (m := re.match(r"24 connected, (\d+) conn", line))
                  and int(m.group(1)) >= connections)


def restart(program, postgres, at_once):
    door = Door(postgres.path, at_once)
    with run(program, door, at_once) as p:
        tap.case(f"cap_{at_once}_all_connect", connected(p, THREADS))
        tap.case(f"cap_{at_once}_is_kept_at_the_start", door.most == at_once,
                 f"{door.most} at once")
        door.wait_for(1)
        postgres.kill()
        until("knocks at a dead door", lambda: door.in_vain > at_once + 1)
        postgres.start()
        tap.case(f"cap_{at_once}_all_come_back", connected(p, 2 * THREADS))
        tap.case(f"cap_{at_once}_is_kept_after_the_restart", door.most <= at_once,
                 f"{door.most} at once")
        tap.case(f"cap_{at_once}_ends_well", p.end() == 0)


def main(program):
    with Postgres() as postgres:
        restart(program, postgres, 4)
        restart(program, postgres, 1)
        # And without a cap: the storm that the relay would have seen.
        door = Door(postgres.path, THREADS)
        with run(program, door, THREADS) as p:
            connected(p, THREADS)
            tap.case("without_a_cap_all_knock_at_once", door.most == THREADS,
                     f"{door.most} at once")
            tap.case("without_a_cap_ends_well", p.end() == 0)
    tap.finish()


main(*sys.argv[1:])
