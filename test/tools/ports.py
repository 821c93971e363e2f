"""Ports of loopback for servers that cannot be told to choose one themselves, and
paths for sockets."""
import functools
import os
import random
import socket
import tempfile


def free_port():
    """One that is free, and stays so until its server has it, and while that is
    down: it is below those that the kernel gives to clients, and to everybody who
    asks for any."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def short_folder():
    """Where folders with sockets are made: their paths have 107 bytes at most, and
    TMPDIR may be long."""
    folder = tempfile.gettempdir()
    return folder if len(folder) <= len("/dev/shm/bide-012345") else "/tmp"


@functools.cache
def socket_directory():
    return tempfile.TemporaryDirectory(prefix="bide-", dir=short_folder())


def socket_path(name):
    """Of at most 107 bytes, however long the path of TMPDIR is."""
    return os.path.join(socket_directory().name, name)
