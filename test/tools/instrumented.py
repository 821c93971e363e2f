#!/usr/bin/env python3
"""instrumented.py PORT [forget]: an application that asks the server on PORT for
whatever it is asked for, and knows nothing of bide. It is instrumented as
OpenTelemetry does it: the baggage of a request is parsed, and written again into
each request that is made for it; no other field is passed on. `forget`: nor is
baggage. Says on standard output where it listens."""
import http.client
import http.server
import sys
from urllib.parse import quote_plus, unquote_plus

UPSTREAM, FORGETS = int(sys.argv[1]), "forget" in sys.argv[2:]


def extract(lines):
    """Name and value of each member, as the propagators of the SDKs read it; what
    stands after a semicolon is lost in some of them, and here."""
    context = {}
    for member in ",".join(lines).split(","):
        name, equals, value = member.partition(";")[0].partition("=")
        if equals:
            context[unquote_plus(name).strip()] = unquote_plus(value).strip()
    return context


def inject(context):
    return ",".join(f"{name}={quote_plus(value)}" for name, value in
                    context.items())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        context = extract(self.headers.get_all("baggage") or [])
        send = {"baggage": inject(context)} if context and not FORGETS else {}
        c = http.client.HTTPConnection("127.0.0.1", UPSTREAM, timeout=30)
        c.request(self.command, self.path, body or None, send)
        answer = c.getresponse()
        data = answer.read()
        c.close()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = serve

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
