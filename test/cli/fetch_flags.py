#!/usr/bin/env python3
"""fetch_flags.py BIDE: each flag does what it does in curl, and wrong ones are
told."""
import base64
import http.server
import json
import resource
import signal
import ssl
import subprocess
import threading

import fetch_tools as t
import tap


class Echo(http.server.BaseHTTPRequestHandler):
    """Says what it was asked."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self):
        n = int(self.headers.get("Content-Length") or 0)
        said = {"method": self.command, "path": self.path,
                "body": self.rfile.read(n).decode("latin-1"),
                "headers": {k.lower(): v for k, v in self.headers.items()}}
        text = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("X-Echo", "yes")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_HEAD = do_PATCH = do_DELETE = answer


def start_echo():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def said(*args, **more):
    code, out, err = t.fetch(*args, **more)
    tap.case(f"{args}: is answered", code == 0 and not err, err)
    return json.loads(out or b"{}")


def requests(url):
    plain = said(url + "/a?b=c")
    t.same("GET by default", (plain["method"], plain["path"]),
           ("GET", "/a?b=c"))
    t.same("the first attempt says so",
           plain["headers"]["x-bide-attempt"].split(";")[0], "1")
    tap.case("the agent is bide",
             plain["headers"]["user-agent"].startswith("bide/"))
    t.same("without a scheme it is http", said(url[7:] + "/")["method"], "GET")
    t.same("-X", said("-X DELETE", url)["method"], "DELETE")
    t.same("--request=", said("--request=PATCH -d x", url)["method"], "PATCH")
    got = said("-H", ["X-One: 1"], "-H", ["X-Two;"], "-HAccept:",
               url)["headers"]
    t.same("-H", (got["x-one"], got["x-two"], got.get("accept")),
           ("1", "", None))
    got = said("-u me:secret", url)["headers"]["authorization"]
    t.same("-u", got, "Basic " + base64.b64encode(b"me:secret").decode())


def limit_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


def data(url):
    got = said("-d a=1 -d b=2", url)
    t.same("-d", (got["method"], got["body"]), ("POST", "a=1&b=2"))
    t.same("-d: its type", got["headers"]["content-type"],
           "application/x-www-form-urlencoded")
    t.write("lines", b"one\r\ntwo\n")
    t.same("-d @file", said("-d @lines", url)["body"], "onetwo")
    t.same("--data-binary @file", said("--data-binary @lines", url)["body"],
           "one\r\ntwo\n")
    t.same("-d @-", said("-d @-", url, stdin=b"in\nput")["body"], "input")
    t.same("-d '' is a POST without a body",
           said("-d", [""], url)["body"], "")
    got = said("-T lines", url + "/up/")
    t.same("-T", (got["method"], got["path"], got["body"]),
           ("PUT", "/up/lines", "one\r\ntwo\n"))
    got = said("-T - -X POST", url + "/up", stdin=b"input")
    t.same("-T -", (got["method"], got["path"], got["body"]),
           ("POST", "/up", "input"))
    t.same("-T from a pipe", said("-T /dev/stdin", url + "/up",
                                  stdin=b"input")["body"], "input")
    code, out, err = t.fetch("-T /tmp", url)
    tap.case("-T from a directory", code == 26 and "directory" in err, err)
    code, out, err = t.fetch("-T -", url, stdin=b"x" * 300000,
                             preexec_fn=limit_files)
    tap.case("-T - that cannot be kept is not sent in part",
             (code, out) == (26, b"") and "too large" in err, (code, out, err))


def answers(fault, url):
    code, out, err = t.fetch("-I", url)
    tap.case("-I shows the header",
             code == 0 and out.startswith(b"HTTP/1.1 200") and
             b"X-Echo: yes\r\n" in out and out.endswith(b"\r\n\r\n"), out)
    to = fault.url("302;to=" + url.replace(":", "%3A").replace("/", "%2F"))
    t.same("without -L a redirect is the answer", t.summary(to)[1]["status"],
           302)
    t.same("-L", t.summary("-L", to)[1]["status"], 200)
    code, out, _ = t.fetch(fault.url("404;body=none"))
    t.same("an HTTP error has its body, and 22", (code, out), (22, b"none"))
    code, out, _ = t.fetch("-f", fault.url("404;body=none"))
    t.same("-f leaves it out", (code, out), (22, b""))
    code, out, err = t.fetch("-s", fault.url("404"))
    t.same("-s says nothing", (code, err), (22, ""))
    code, out, err = t.fetch("-sS", fault.url("404"))
    tap.case("-S says it nevertheless", "404" in err, err)
    code, out, err = t.fetch("-v -H", ["X-Mine: 1"], fault.url("200"))
    tap.case("-v", "> X-Mine: 1" in err and "< HTTP/1.1 200" in err, err)
    code, out, err = t.fetch(fault.url("200"))
    t.same("nothing is said of a success", err, "")


def certificate():
    """A key and a certificate for 127.0.0.1; False without openssl."""
    try:
        return subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", t.path("key"),
             "-out", t.path("cert"), "-days", "2", "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1"],
            capture_output=True, timeout=60).returncode == 0
    except FileNotFoundError:
        return False


def trust():
    if not certificate():
        tap.case("TLS # SKIP no openssl", True)
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(t.path("cert"), t.path("key"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    server.handle_error = lambda *args: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://127.0.0.1:{server.server_port}/"
    code, made = t.summary(url)
    t.same("a certificate that nobody knows", (code, made["attempts"],
                                               made["reason"]),
           (60, 1, "permanent"))
    t.same("-k", t.summary("-k", url)[0], 0)
    t.same("--cacert", t.summary("--cacert cert", url)[0], 0)


# arguments, what is said
MISTAKES = [
    ("", "expected a URL"),
    ("--atempts 3 URL", "did you mean `--attempts`?"),
    ("-j URL", "unknown option -j"),
    ("-H nonsense URL", "--header: found `nonsense`, expected a header field"),
    ("-X G=T URL", "expected a method"),
    ("-d @nowhere URL", "expected a file that can be read (No such file"),
    ("-u me URL", "expected NAME:PASSWORD"),
    ("-Z 0 URL", "expected a number from 1 to 1000"),
    ("-Z URL", "expected a number from 1 to 1000"),
    ("--hedge p20 URL", "from p50 to p99.9"),
    ("--hedge 50 URL", "expected a duration, such as 50ms"),
    ("--hedge 50ms --attempts 3 URL", "--hedge and --attempts"),
    ("--stall-timeout 5 URL", "a duration with its unit"),
    ("--base 5 URL", "a duration with its unit"),
    ("--cap 1ns --base 1s URL", "expected"),
    ("--idempotency-key= URL", "expected auto, or a key"),
    ("-d x -T y URL", "expected one of them"),
    ("-I -d x URL", "expected one of them"),
    ("-o a -o b URL", "more --output than URLs"),
    ("-O http://127.0.0.1/", "names no file"),
    ("-O http://127.0.0.1/a/x http://127.0.0.1/b/x", "would be written to x"),
    ("-p nowhere.yaml URL", "nowhere.yaml"),
    ("--silent=yes URL", "takes no argument"),
]


def mistakes():
    for args, expected in MISTAKES:
        code, out, err = t.fetch([a for a in args.split(" ") if a or not args]
                                 if args else [])
        tap.case(f"mistake: {args}", code == 2 and not out and expected in err,
                 f"{code}\n{err}")
    for args, expected in [("http://", 3), ("-T nowhere http://127.0.0.1/", 26),
                           ("ftp://127.0.0.1/", 1),
                           ("-o nowhere/f http://127.0.0.1/", 23)]:
        code, out, err = t.fetch(args)
        t.same(f"{args}: exit code", (code, out), (expected, b""))
        tap.case(f"{args}: is told", err.startswith("bide fetch: "), err)


def help_page():
    code, out, _ = t.fetch("--help")
    tap.case("--help", code == 0 and b"bide fetch [options] URL..." in out)
    for columns in (40, 80):
        out = t.fetch("--help", env={"COLUMNS": str(columns)})[1].decode()
        lines = [x for x in out.splitlines() if not x.startswith("  bide ")]
        longest = max(lines, key=len)
        tap.case(f"--help fits {columns} columns", len(longest) <= columns,
                 longest)


def main():
    fault, url = t.Fault(), start_echo()
    requests(url)
    data(url)
    answers(fault, url)
    trust()
    mistakes()
    help_page()
    fault.stop()
    tap.finish()


main()
