"""HTTP/2 by hand, on both sides of the sidecar, over python3-h2: a client that makes
one request at a time or many, and an origin whose handlers see one stream each."""
import contextlib
import queue
import socket
import sys
import threading

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, for any python3
import h2.config  # noqa: E402
import h2.connection  # noqa: E402
import h2.events  # noqa: E402
import h2.exceptions  # noqa: E402
import h2.settings  # noqa: E402

from parts import PATIENCE  # noqa: E402


class Stream:
    """What has come on a stream so far."""

    def __init__(self, number):
        self.number = number
        self.status, self.fields, self.body, self.trailers = 0, {}, b"", {}
        self.interim, self.ended, self.reset = [], False, None
        self.window = threading.Event()

    def __repr__(self):
        return (f"{self.status} {self.fields} {self.body[:200]!r} {self.trailers} "
                f"interim {self.interim} ended {self.ended} reset {self.reset}")


def named(headers):
    found = {}
    for name, value in headers:
        name, value = name.decode(), value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


class Connection:
    """One end; a thread reads it. Bytes that come are given back to the windows; with
    `stalls`, to that of the connection only."""

    def __init__(self, s, client, streams=None, stalls=False, handler=None):
        self.socket, self.stalls, self.handler = s, stalls, handler
        self.rest, self.last = b"", None
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=client, header_encoding=None, validate_outbound_headers=False,
            normalize_outbound_headers=False))
        if streams is not None:
            self.h2.local_settings = h2.settings.Settings(client, {
                h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: streams})
        self.heard = threading.Condition(threading.RLock())
        self.streams, self.goaways, self.closed = {}, [], False
        with self.heard:
            self.h2.initiate_connection()
            self.flush()
        threading.Thread(target=self.read, daemon=True).start()

    def flush(self):
        with contextlib.suppress(OSError):
            self.socket.sendall(self.h2.data_to_send())

    def frames(self, data):
        """Whole frames of it, but GOAWAY: the library would go on with nothing."""
        self.rest, kept = self.rest + data, b""
        if self.rest.startswith(b"PRI "):
            kept, self.rest = self.rest[:24], self.rest[24:]
        while len(self.rest) >= 9:
            n = 9 + int.from_bytes(self.rest[:3], "big")
            if len(self.rest) < n:
                break
            frame, self.rest = self.rest[:n], self.rest[n:]
            if frame[3] == 7:
                self.goaways.append((int.from_bytes(frame[9:13], "big") & 0x7fffffff,
                                     int.from_bytes(frame[13:17], "big")))
            else:
                kept += frame
        return kept

    def read(self):
        while True:
            try:
                data = self.socket.recv(65536)
            except OSError:
                data = b""
            with self.heard:
                try:
                    events = self.h2.receive_data(self.frames(data))
                except h2.exceptions.ProtocolError as e:
                    self.goaways.append(repr(e))
                    events, data = [], b""
                for e in events:
                    self.take(e)
                self.flush()
                self.closed = self.closed or not data
                self.heard.notify_all()
            if not data:
                return

    def take(self, e):
        s = self.streams.get(getattr(e, "stream_id", 0))
        if self.last is not None and getattr(e, "stream_id", 0) > self.last:
            return  # it came too late
        if isinstance(e, h2.events.RequestReceived):
            s = self.streams[e.stream_id] = Stream(e.stream_id)
            s.fields = named(e.headers)
            if self.handler:
                threading.Thread(target=self.handler, args=(self, s),
                                 daemon=True).start()
        elif s is None:
            return
        elif isinstance(e, h2.events.InformationalResponseReceived):
            f = named(e.headers)
            s.interim.append((int(f.pop(":status")), f))
        elif isinstance(e, h2.events.ResponseReceived):
            s.fields = named(e.headers)
            s.status = int(s.fields.pop(":status"))
        elif isinstance(e, h2.events.TrailersReceived):
            s.trailers = named(e.headers)
        elif isinstance(e, h2.events.DataReceived):
            s.body += e.data
            if self.stalls:  # the stream's window is not opened again
                self.h2.increment_flow_control_window(e.flow_controlled_length)
            else:
                self.give(s, e.flow_controlled_length)
        elif isinstance(e, h2.events.StreamEnded):
            s.ended = True
        elif isinstance(e, h2.events.StreamReset):
            s.reset = int(e.error_code)

    def give(self, s, n):
        with contextlib.suppress(h2.exceptions.ProtocolError, KeyError):
            self.h2.acknowledge_received_data(n, s.number)

    def until(self, what):
        """Waits for something to be true of it; whether it was."""
        with self.heard:
            return self.heard.wait_for(what, timeout=PATIENCE)

    def send(self, s, data, end=False):
        """A body, as fast as the windows allow; False: nobody wants it any more."""
        while True:
            with self.heard:
                gone = lambda: s.reset is not None or self.closed  # noqa: E731
                try:
                    self.heard.wait_for(
                        lambda: gone() or not data or
                        self.h2.local_flow_control_window(s.number) > 0,
                        timeout=PATIENCE)
                    if gone():
                        return False
                    n = min(len(data), self.h2.max_outbound_frame_size,
                            self.h2.local_flow_control_window(s.number))
                    self.h2.send_data(s.number, data[:n], end and n == len(data))
                except h2.exceptions.ProtocolError:
                    return False
                data = data[n:]
                self.flush()
                if not data:
                    return True

    def head(self, s, headers, end=False):
        with self.heard:
            try:
                self.h2.send_headers(s.number, headers, end)
            except h2.exceptions.ProtocolError:
                return False
            self.flush()
            return True

    def rst(self, s, code=8):
        with self.heard:
            with contextlib.suppress(h2.exceptions.ProtocolError):
                self.h2.reset_stream(s.number, code)
            self.flush()

    def goaway(self):
        """Takes no more streams than it has seen; waits for those to end."""
        with self.heard:
            self.last = max(self.streams, default=0)
            with contextlib.suppress(OSError):
                self.socket.sendall(b"\0\0\x08\x07\0\0\0\0\0" +
                                    self.last.to_bytes(4, "big") + b"\0\0\0\0")
        self.until(lambda: self.closed or all(
            s.reset is not None or getattr(s, "done", False)
            for s in self.streams.values()))
        # What the peer has sent meanwhile is read: or the kernel would reset the
        # connection, and the last answers could be lost.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)
        self.until(lambda: self.closed)

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Client(Connection):
    def __init__(self, port, **how):
        super().__init__(socket.create_connection(("127.0.0.1", port), PATIENCE),
                         True, **how)

    def ask(self, method="GET", path="/", fields=(), body=None, trailers=None,
            end=True):
        """Begins a request."""
        with self.heard:
            s = Stream(self.h2.get_next_available_stream_id())
            self.streams[s.number] = s
            head = [(":method", method), (":scheme", "http"),
                    (":authority", "example.org"), (":path", path), *fields]
            self.head(s, head, body is None and trailers is None and end)
        if body is not None:
            self.send(s, body, trailers is None and end)
        if trailers is not None:
            self.head(s, trailers, True)
        return s

    def answer(self, s):
        """Waits for its end."""
        self.until(lambda: s.ended or s.reset is not None or self.closed)
        return s

    def get(self, *how, **more):
        return self.answer(self.ask(*how, **more))


class Origin:
    """handler(connection, stream) in a thread for each request."""

    def __init__(self, handler, streams=None, port=0):
        self.handler, self.limit = handler, streams
        self.connections, self.seen, self.most = [], queue.Queue(), 0
        self.socket = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            self.connections.append(Connection(s, False, self.limit,
                                               handler=self.one))

    def one(self, c, s):
        self.seen.put(s)
        self.handler(c, s)
        with c.heard:
            s.done = True
            c.heard.notify_all()

    def stop(self, gently=False):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        for c in self.connections:
            if gently:
                c.goaway()
            c.close()
