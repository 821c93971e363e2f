"""A collector of OpenTelemetry that keeps the spans that it is sent."""
import http.server
import threading

from attack import until


class Collector(http.server.ThreadingHTTPServer):
    """Keeps what it is sent."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Take)
        self.got = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def has(self, *texts):
        return until(lambda: any(all(t in body for t in texts)
                                 for body in list(self.got)))


class Take(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("traces"):
            self.server.got.append(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass
