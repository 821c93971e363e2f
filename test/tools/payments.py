"""An origin that does what it is asked once for each request that reaches it, and
counts by key: what the tests of `idempotency:` look at."""
import collections
import json
import threading

from parts import Origin, fields, proxied

# A disk that others keep busy takes longer for an fsync than the 250 ms that a store
# is given as it comes: then it is down, which is not what these tests are about.
UNHURRIED = "store: { timeout: 20s }\n"


def guarded(*origins, **how):
    """proxied(), where the store has all the time it needs."""
    return proxied(*origins, top=UNHURRIED, **how)


class Payments(Origin):
    """Field X-Do says how it answers: `status=503`, `size=100`, `chunked`,
    `close` (by the end of the connection), `cut`, `cookie`, `hop`, `reset` (after it was done),
    `wait` (until let()), `die` (as `reset`, after let()), and `first:...` (only the
    first time)."""

    def __init__(self):
        self.lock = threading.Lock()
        self.effects = collections.Counter()
        self.gate = threading.Event()
        self.waiting = 0
        super().__init__(Payments.serve_one)

    def let(self):
        self.gate.set()

    def hold(self):
        self.gate.clear()

    @property
    def total(self):
        return sum(self.effects.values())

    def plan(self, head, key):
        """What to do, and which effect this is."""
        asked = fields(head).get("x-do", "")
        with self.lock:
            self.effects[key] += 1
            n = self.effects[key]
            total = self.total
        words = []
        for word in asked.split():
            if word.startswith("first:"):
                word = word[6:] if n == 1 else ""
            words += [word] if word else []
        return dict(w.partition("=")[::2] for w in words), total

    def serve_one(self, peer):
        while head := self.request(peer):
            f = fields(head)
            key = f.get("idempotency-key", "").strip('"')
            do, n = self.plan(head, key)
            if "wait" in do or "die" in do:
                with self.lock:
                    self.waiting += 1
                self.gate.wait(30)
            if "reset" in do or "die" in do:
                peer.reset()
                return
            if not peer.send(self.answer(do, n)) or {"close", "cut"} & set(do):
                return

    @staticmethod
    def answer(do, n):
        status = do.get("status", "201")
        body = json.dumps({"charge": n}).encode()
        if "size" in do:
            body = b"x" * int(do["size"])
        head = (f"HTTP/1.1 {status} {'Created' if status == '201' else 'So'}\r\n"
                f"Location: /charges/{n}\r\nContent-Type: application/json\r\n"
                "X-Many: one\r\nX-Many: two\r\n")
        if "cookie" in do:
            head += "Set-Cookie: session=secret\r\n"
        if "after" in do:
            head += f"Retry-After: {do['after']}\r\n"
        if "hop" in do:
            head += "Connection: X-Private\r\nX-Private: mine\r\n"
        if "chunked" in do:
            half = len(body) // 2
            chunks = b"".join(b"%x\r\n%s\r\n" % (len(c), c)
                              for c in (body[:half], body[half:]) if c)
            return (head + "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n") \
                .encode() + chunks + b"0\r\nX-T: end\r\n\r\n"
        if "close" in do:
            return (head + "Connection: close\r\n\r\n").encode() + body
        if "cut" in do:
            return (head + f"Content-Length: {len(body) + 9}\r\n"
                    "Connection: close\r\n\r\n").encode() + body
        return (head + f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def pay(key=None, body=b"amount=10", path="/pay", more=b"", do="", method=b"POST"):
    """The bytes of a request."""
    lines = b""
    if key is not None:
        lines += b"Idempotency-Key: " + (key if isinstance(key, bytes)
                                         else key.encode("latin-1")) + b"\r\n"
    if do:
        lines += b"X-Do: " + do.encode() + b"\r\n"
    return (method + b" " + path.encode() + b" HTTP/1.1\r\nHost: x.example\r\n" +
            lines + more + b"Content-Length: %d\r\n\r\n" % len(body) + body)
