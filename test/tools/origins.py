"""Origins with different reading habits. Each answers with the target that it was
asked for, and remembers all that it has seen."""
import os
import re
import subprocess
import threading

from attack import Nginx, Origin, ok


class Careless(Origin):
    """Reads what other servers once read: bare LF, blanks around names, folded
    lines, any number that begins well. `prefer` says what counts where both a
    length and chunks are there, and which of several."""

    def __init__(self, prefer):
        self.targets = []
        self.prefer = prefer
        super().__init__(Careless.listen)

    def seen(self):
        return list(self.targets)

    def listen(self, peer):
        while line := self.line(peer):
            words = line.split()
            if not words:
                continue
            target = words[1].decode("latin-1") if len(words) > 1 else "?"
            self.targets.append(target)
            fields = self.fields(peer)
            self.body(peer, fields)
            answer = ok(target.encode("latin-1"))
            if words[0] == b"HEAD":
                answer = answer[:answer.index(b"\r\n\r\n") + 4]
            if not peer.send(answer):
                return

    def line(self, peer):
        return peer.through(b"\n")

    def fields(self, peer):
        found = {}
        while (line := self.line(peer)).strip():
            name, _, value = line.partition(b":")
            name = name.strip().lower().replace(b"_", b"-")
            found.setdefault(name, []).append(value.strip().lower())
        return found

    def body(self, peer, fields):
        lengths = fields.get(b"content-length", [])
        codings = [c for c in fields.get(b"transfer-encoding", ())
                   if b"chunk" in c]
        if codings and (self.prefer == "chunks" or not lengths):
            self.chunks(peer)
        elif lengths:
            peer.take(self.number(lengths[-1], 10))

    def number(self, text, base):
        digits = rb"[+\s]*(?:0x)?([0-9a-f]*)" if base == 16 else rb"[+\s]*(\d*)"
        return int(re.match(digits, text.lower())[1] or b"0", base)

    def chunks(self, peer):
        while line := self.line(peer):
            size = self.number(line, 16)
            if size == 0:
                break
            peer.take(size)
            self.line(peer)
        while self.line(peer).strip():
            pass


class Server(Nginx):
    """nginx."""

    def start(self):
        self.more = 'location ~ ^/ { return 200 "$request_uri"; }'
        super().start()

    def seen(self):
        with open(os.path.join(self.dir, "access.log"), encoding="latin-1") as f:
            rows = re.findall(r'"(.*?)" \d+ \d+ "', f.read())
        return [row.split(" ")[1] if " " in row else row for row in rows]


SCRIPT = """
const http = require('http');
const how = { insecureHTTPParser: process.argv[1] === 'lenient',
              keepAliveTimeout: 600000 };
const s = http.createServer(how, (q, a) => {
  console.log(q.url);
  q.resume();
  q.on('end', () => a.end(q.url));
});
s.on('clientError', (e, c) => { console.log('!' + e.code);
  if (c.writable) c.end('HTTP/1.1 400 Bad Request\\r\\n\\r\\n'); });
s.listen(0, '127.0.0.1', () => console.log(s.address().port));
process.stdin.on('end', () => process.exit()).resume();
"""


class Node:
    """Node's http, strict or lenient (`insecureHTTPParser`)."""

    def __init__(self, how):
        self.process = subprocess.Popen(
            ["node", "-e", SCRIPT, how], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.targets = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.targets.append(line.rstrip("\n"))

    def seen(self):
        """Only when it has ended is all of it here."""
        self.stop()
        return [t for t in self.targets if not t.startswith("!")]

    def stop(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
            self.process.wait(60)
            self.thread.join()


KINDS = {"nginx": Server, "Node": lambda: Node("strict"),
         "a lenient Node": lambda: Node("lenient"),
         "one that goes by lengths": lambda: Careless("length"),
         "one that goes by chunks": lambda: Careless("chunks")}
