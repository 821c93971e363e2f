"""A client of HTTP/2 that sends frames as they are written down, right or wrong, in
the words of test/net/http2_rules.txt; nothing is checked, nothing is put right. Its
HPACK knows literals, and reads no more than statuses."""
import contextlib
import socket
import struct
import threading

TYPES = ["DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE",
         "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"]
CODES = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR",
         "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM",
         "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
         "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"]
FLAGS = {"es": 1, "ack": 1, "eh": 4, "pad": 8, "pri": 32, "-": 0}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
STATUS = {0x88: 200, 0x89: 204, 0x8a: 206, 0x8b: 304, 0x8c: 400, 0x8d: 404,
          0x8e: 500}


def rules(path):
    """Name, frames and what is expected, of each row."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#") and " | " in line:
                name, _, frames, expected = line.rstrip("\n").split(" | ")
                yield name.strip(), frames.strip(), expected.strip()


def unescape(text):
    out, at = bytearray(), 0
    while at < len(text):
        if text[at] == "%":
            out.append(int(text[at + 1:at + 3], 16))
            at += 3
        else:
            out.append(32 if text[at] == "_" else ord(text[at]))
            at += 1
    return bytes(out)


def number(n, bits, first=0):
    most = (1 << bits) - 1
    if n < most:
        return bytes([first | n])
    out, n = bytearray([first | most]), n - most
    while n >= 128:
        out.append(128 | n & 127)
        n >>= 7
    return bytes(out + bytes([n]))


def field(name, value):
    return b"\0" + number(len(name), 7) + name + number(len(value), 7) + value


def request(method, path):
    return b"".join(field(n, v) for n, v in (
        (b":method", method), (b":scheme", b"http"), (b":path", path),
        (b":authority", b"a")))


def payload(word):
    known = {"@get": (b"GET", b"/wait"), "@ok": (b"GET", b"/"),
             "@put": (b"PUT", b"/wait"), "@post": (b"POST", b"/")}
    if word in known:
        return request(*known[word])
    if word.startswith("0*"):
        return bytes(int(word[2:]))
    if word.startswith('"'):
        return word[1:-1].encode()
    if ":" in word[1:]:
        name, _, value = word[1:].partition(":")
        return field(unescape(word[0] + name), unescape(value))
    return bytes.fromhex(word[1:])


def frame(kind, stream, flags, data=b""):
    return (struct.pack(">I", len(data))[1:] + bytes([kind, flags]) +
            struct.pack(">I", stream) + data)


def frames(text):
    """The bytes of frames that are separated by semicolons."""
    out = b""
    for one in text.split(";"):
        kind, stream, flags, *words = one.split()
        bits = sum(FLAGS[f] for f in flags.split(","))
        if kind == "PING_f0":
            kind, bits = "PING", 0xf0
        code = 0xbe if kind == "TYPE_be" else TYPES.index(kind)
        out += frame(code, int(stream), bits, b"".join(map(payload, words)))
    return out


class Wire:
    """A connection. Frames that come are tuples: type, flags, stream, payload."""

    def __init__(self, s):
        self.socket, self.buffer = s, b""

    def send(self, data):
        """False: it is closed already."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def need(self, n):
        while len(self.buffer) < n:
            try:
                more = self.socket.recv(65536)
            except ConnectionError:
                more = b""
            if not more:
                return False
            self.buffer += more
        return True

    def next(self):
        """The next frame; None: it is closed."""
        if not self.need(9):
            return None
        n = int.from_bytes(self.buffer[:3], "big")
        kind, flags = self.buffer[3], self.buffer[4]
        stream = int.from_bytes(self.buffer[5:9], "big") & 0x7fffffff
        if not self.need(9 + n):
            return None
        data, self.buffer = self.buffer[9:9 + n], self.buffer[9 + n:]
        return TYPES[kind] if kind < 10 else "?", flags, stream, data

    def until(self, done):
        """What comes up to the frame for which `done` is true, or to the end."""
        seen = []
        while (one := self.next()) is not None:
            seen.append(one)
            if done(one):
                break
        return seen

    def ping(self, mark=b"h2raw..."):
        """What comes until a PING is answered: all that was sent before it has been
        dealt with."""
        self.send(frame(6, 0, 0, mark))
        return self.until(lambda f: f[0] == "GOAWAY" or
                          f[0] == "PING" and f[1] & 1 and f[3] == mark)

    def get(self, stream, head=None):
        """The status and the body that it is answered with; or None."""
        self.send(frame(1, stream, 5, head or request(b"GET", b"/")))
        seen = self.until(lambda f: f[0] == "GOAWAY" or
                          f[2] == stream and
                          (f[0] == "RST_STREAM" or f[1] & 1))
        if not seen or seen[-1][2] != stream or seen[-1][0] == "RST_STREAM":
            return None
        head = next(f[3] for f in seen if f[:1] + f[2:3] == ("HEADERS", stream))
        body = b"".join(f[3] for f in seen if f[0] == "DATA" and f[2] == stream)
        return status(head), body

    def close(self):
        self.socket.close()


class Raw(Wire):
    """A client's."""

    def __init__(self, port, greet=True):
        super().__init__(socket.create_connection(("127.0.0.1", port), timeout=30))
        if greet:
            self.send(PREFACE + frame(4, 0, 0) + frame(4, 0, 1))


class Accepted(Wire):
    """A server's: a thread keeps what comes, and acknowledges SETTINGS."""

    def __init__(self, s, settings):
        super().__init__(s)
        self.frames = []
        self.send(frame(4, 0, 0, settings))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        self.need(len(PREFACE))
        self.buffer = self.buffer[len(PREFACE):]
        with contextlib.suppress(OSError):
            while (one := self.next()) is not None:
                if one[0] == "SETTINGS" and not one[1] & 1:
                    self.send(frame(4, 0, 1))
                self.frames.append(one)
        self.frames.append(("END", 0, 0, b""))

    def of(self, kind):
        return [f for f in self.frames if f[0] == kind]

    def asked(self):
        """The streams of requests so far."""
        return [f[2] for f in self.of("HEADERS")]

    def answer(self, stream):
        self.send(frame(1, stream, 5, b"\x88"))


class Server:
    """An endpoint: its connections are in .all."""

    def __init__(self, settings=b""):
        self.all, self.settings = [], settings
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                self.all.append(Accepted(self.socket.accept()[0], self.settings))

    def stop(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        for c in self.all:
            c.close()


def status(block):
    if block[:1] == b" ":  # the table's size
        block = block[1:]
    return STATUS.get(block[0]) or int(block[2:5])


def outcome(seen):
    """What came of it, in the words of the table."""
    for kind, _, stream, data in seen:
        code = int.from_bytes(data[-4:], "big") if data else 0
        if kind == "GOAWAY":
            code = int.from_bytes(data[4:8], "big")
            return "goaway " + CODES[code]
        if kind == "RST_STREAM":
            return f"reset {stream} {CODES[code]}"
    return "fine"
