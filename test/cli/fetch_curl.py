#!/usr/bin/env python3
"""fetch_curl.py BIDE: flags that curl has do what they do in curl. Both are run
with the same arguments against the same server; what it was asked, what they
print, what they write and how they exit is compared."""
import gzip
import http.server
import json
import os
import re
import shutil
import socketserver
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

import fetch_tools as t
import tap

CURL = shutil.which("curl")
LONG = b"0123456789" * 100
# what differs by nature: who asks, which connection it is, and bide's own
OWN = {"user-agent", "x-bide-attempt", "host", "accept", "date",
       "x-bide-timeout-ms", "baggage", "expect"}


class Handler(http.server.BaseHTTPRequestHandler):
    """Remembers what it was asked; the path says what to answer."""
    protocol_version = "HTTP/1.1"
    seen = []

    def log_message(self, *args):
        pass

    def address_string(self):
        return ""

    def answer(self):
        n = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(n)
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        boundary = re.search(r"boundary=(\S+)",
                             self.headers.get("Content-Type") or "")
        if boundary:
            body = body.replace(boundary[1].encode(), b"BOUNDARY")
        fields = {k.lower(): v for k, v in self.headers.items()}
        if boundary:
            fields["content-type"] = "multipart"
            fields.pop("content-length", None)
        inner = set(re.findall(rb"boundary=(\S+)", body))
        for x in inner:
            body = body.replace(x, b"INNER")
        Handler.seen.append({
            "method": self.command, "path": self.path,
            "body": body.decode("latin-1"),
            "agent": fields.get("user-agent"),
            "fields": {k: v for k, v in fields.items() if k not in OWN}})
        self.reply(urllib.parse.urlsplit(self.path).path)

    def reply(self, path):
        text, status, more = b"hello\n", 200, []
        if path.startswith("/status/"):
            status = int(path.split("/")[2])
        elif path == "/cookies":
            more = [("Set-Cookie", "a=1; Path=/"),
                    ("Set-Cookie", "b=2; Path=/; Max-Age=4000000000")]
        elif path == "/gzip" and "gzip" in (
                self.headers.get("Accept-Encoding") or ""):
            text, more = gzip.compress(LONG, mtime=0), [
                ("Content-Encoding", "gzip")]
        elif path == "/redirect":
            status, more = 302, [("Location", "/final")]
        elif path == "/named":
            more = [("Content-Disposition", 'attachment; filename="dir/n m.txt"')]
        elif path == "/evil":
            more = [("Content-Disposition", "attachment; filename=.profile")]
        elif path == "/old":
            more = [("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")]
        elif path == "/range":
            text = LONG
            wanted = re.fullmatch(r"bytes=(\d*)-(\d*)",
                                  self.headers.get("Range") or "")
            if wanted and wanted[1]:
                first = int(wanted[1])
                last = min(int(wanted[2] or 999), 999)
                text, status = LONG[first:last + 1], 206
                more = [("Content-Range", f"bytes {first}-{last}/1000")]
            elif wanted:
                text, status = LONG[-int(wanted[2]):], 206
                more = [("Content-Range", f"bytes {1000 - len(text)}-999/1000")]
        self.send_response_only(status)
        for name, value in more:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_HEAD = do_PATCH = do_DELETE = answer


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def start(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def run(program, args, stdin, env):
    """In a directory with a few files; what was asked, printed and left."""
    Handler.seen.clear()
    with tempfile.TemporaryDirectory() as d:
        for name, data in FILES.items():
            with open(os.path.join(d, name), "wb") as f:
                f.write(data)
        p = subprocess.run(program + args, cwd=d, input=stdin,
                           capture_output=True, timeout=60,
                           env=tap.environment(HOME=d, no_proxy="", **env))
        left = {}
        for where, _, names in os.walk(d):
            for name in names:
                path = os.path.join(where, name)
                with open(path, "rb") as f:
                    left[os.path.relpath(path, d)] = f.read()
        times = {name: os.stat(os.path.join(d, name)).st_mtime
                 for name in left if name == "aged"}
    for name, data in FILES.items():
        if left.get(name) == data:
            del left[name]
    for name in left:  # the jar says when it was written, and by whom
        left[name] = re.sub(rb"(?m)^#.*\n|\t\d{9,}\t", b"", left[name])
    out = re.sub(rb"\t\d{9,}\t", b"", p.stdout)
    return {"code": p.returncode, "out": out, "asked": list(Handler.seen),
            "left": left, "times": times}, p.stderr.decode()


FILES = {
    "text": b"one\r\ntwo & three\n",
    "fields": b"X-One: 1\r\n\nX-Two;\nX-Three: 3\n",
    "jar": b"127.0.0.1\tFALSE\t/\tFALSE\t0\told\tcookie\n",
    "format": b"%{http_code} from a file\n",
    "begun": LONG[:300],
    "config": b'# comment\nheader = "X-Quoted: a \\"b\\" \\t."\n'
              b"-A config-agent\nuser-agent: later\nsilent\n"
              b"--data k=v\n  data = \"more=1\"\n",
    ".netrc": b"machine 127.0.0.1 login me password secret\n",
}

# arguments, with URL for the server; standard input, if any
SAME = [
    "URL/", "-i URL/", "-i URL/status/404", "-I URL/", "-i -L URL/redirect",
    "-i URL/redirect", "-i -X POST URL/", "-si -o file URL/",
    "-D head URL/", "-D - URL/", "-D head -L URL/redirect", "-D head -o f URL/",
    "-A me URL/", "-A  URL/", "-H @fields URL/", ("-H @- URL/", b"X-In: 1\n"),
    "-b a=1 URL/", "-b a=1;b=2 -b c=3 URL/", "-b jar URL/", "-b jar -b x=y URL/",
    "-c out.jar URL/cookies", "-b jar -c out.jar URL/cookies",
    "-c - URL/cookies", "-L -b jar -c out.jar URL/redirect",
    "-F a=1 URL/", "-F a=1 -F b=two URL/", "-F f=@text URL/", "-F f=<text URL/",
    "-F f=@text;type=text/x URL/", "-F f=@text;filename=other URL/",
    "-F f=@text,fields URL/", "-F a=1;type=text/html URL/",
    "-F =nameless URL/", "--form-string a=@;type=b URL/",
    "-F f=@text;type=a/b;filename=c URL/", "-F a=x;headers=X-P:1 URL/",
    "-F a=x;encoder=base64 URL/", ("-F f=<- URL/", b"from stdin"),
    "-G -d a=1 URL/", "-G -d a=1 -d b=2 URL/?c=3", "-G URL/", "-I -G -d a=1 URL/",
    "-G --data-urlencode q=a&b URL/",
    "--data-urlencode q=a&b=c% URL/", "--data-urlencode =a=b URL/",
    "--data-urlencode x@text URL/", "--data-urlencode @text URL/",
    "--data-urlencode plain/ URL/", "--data-urlencode q= URL/",
    "--data-raw @text URL/", "-d @text URL/", "--data-binary @text -d x URL/",
    "--compressed URL/gzip", "--compressed URL/", "-i --compressed URL/gzip",
    "-r 10-19 URL/range", "-r 990- URL/range", "-r -5 URL/range",
    "-r 0-0 -o f URL/range",
    "-C 900 URL/range", "-C - -o new URL/range",
    "-R -o aged URL/old", "--create-dirs -o a/b/c URL/",
    "--output-dir . -o f URL/", "--create-dirs --output-dir x/y -o f URL/",
    "--create-dirs --output-dir x -O URL/name.txt", "-O URL/name.txt?q",
    "-OJ URL/named", "-OJ URL/plain.txt", "-J -O URL/text",
    "-n URL/", "-u me:other URL/", "-n -u me:other URL/",
    "-K config URL/", ("-K - URL/", b'user = "a:b"\n'),
    "--resolve host.test:PORT:127.0.0.1 http://host.test:PORT/",
    "--unix-socket SOCKET http://anything/path", "-x URL http://far.test/p",
    "-x URL -U me:pw http://far.test/p", "-x  URL/",
    "-x URL --noproxy 127.0.0.1 URL/direct",
    "-4 URL/", "-4 http://localhost:PORT/", "-m 30 URL/", "--limit-rate 1M URL/",
    "--connect-timeout 5 URL/", "--retry 2 --retry-delay 1 URL/",
    "--retry-connrefused --retry-max-time 9 URL/", "--url URL/",
    ["-w", "%{http_code} %{response_code}\\n", "URL/"],
    ["-w", "\\t%{method}|%{scheme}|%{http_version}|%{num_redirects}|%%|%{x",
     "-L", "URL/redirect"],
    ["-w", "%{url_effective} %{redirect_url} %{url} %{urlnum}", "URL/redirect"],
    ["-w", "%{size_download} %{size_header} %{num_headers} %{content_type}.",
     "-o", "f", "URL/"],
    ["-w", "%{filename_effective} %{exitcode} %{errormsg}", "-o", "f", "URL/"],
    ["-w", "%header{content-length}:%header{No}:%{remote_ip}:%{size_upload}",
     "-d", "abc", "URL/"],
    ["-w", "a%{stderr}b%{stdout}c%{onerror}d", "URL/"],
    ["-w", "@format", "URL/"], ["-w", "\\q%", "URL/"],
    "-f -o f URL/status/404", "-f -w %{http_code} URL/status/404",
]

# where bide does better, or has no other way: exit code, why
DIFFERENT = [
    ("URL/status/404", 22, "an HTTP error is an error without -f"),
    ("-OJ URL/evil", 0, "a name that begins with a dot is not the server's"),
    ("-o text URL/status/404", 22, "an error does not replace a file"),
    ("-C - -o begun URL/range", 0, "one byte more is asked for, to compare"),
    ("-C - -o begun URL/", 0, "a server without ranges: all of it"),
]


def words(args, places):
    if isinstance(args, str):
        args = args.split(" ")
    for name, value in places.items():
        args = [a.replace(name, value) for a in args]
    return args


def compare(places):
    for case in SAME:
        args, stdin = case if isinstance(case, tuple) else (case, None)
        args = words(args, places)
        theirs, _ = run([CURL, "-s"], args, stdin, {})
        ours, err = run([t.BIDE, "fetch", "-s", "--attempts", "1"], args, stdin,
                        {})
        if "--retry" in args:
            ours, err = run([t.BIDE, "fetch", "-s"], args, stdin, {})
        if ours["code"] == 22:
            theirs["code"] = 22  # with and without -f
        if "-A" not in args and "config" not in args:
            for asked in ours["asked"] + theirs["asked"]:
                asked["agent"] = None
        name = case if isinstance(case, str) else " ".join(
            case if isinstance(case, list) else [case[0]])
        tap.case(f"as curl: {name}", ours == theirs,
                 f"curl {theirs}\nbide {ours}\n{err}")


def differ(places):
    for args, code, why in DIFFERENT:
        ours, err = run([t.BIDE, "fetch", "-s", "--attempts", "1"],
                        words(args, places), None, {})
        tap.case(f"{args}: {why}", ours["code"] == code, (ours, err))
        if "text" in args:
            t.same(f"{args}: it is as it was", ours["left"], {})
        if "evil" in args:
            t.same(f"{args}: as the URL names it", list(ours["left"]), ["evil"])
        if "begun" in args:
            t.same(f"{args}: the whole", ours["left"], {
                "begun": LONG if "range" in args else b"hello\n"})


def names(places):
    """-J keeps a file that is there, as curl does."""
    with tempfile.TemporaryDirectory() as d:
        for i in range(2):
            p = subprocess.run([t.BIDE, "fetch", "-OJ", places["URL"] + "/named"],
                               cwd=d, capture_output=True, timeout=60,
                               env=tap.environment())
            if i == 0:
                with open(os.path.join(d, "n m.txt"), "wb") as f:
                    f.write(b"mine")
        with open(os.path.join(d, "n m.txt"), "rb") as f:
            t.same("-J: a file that is there is kept",
                   (p.returncode, f.read(), os.listdir(d)),
                   (23, b"mine", ["n m.txt"]))
        tap.case("-J: and that is said", b"n m.txt: File exists" in p.stderr,
                 p.stderr)


def times(fault):
    code, _, err = t.fetch("-m 0.3", fault.url("200;stall=body"))
    t.same("-m: curl's exit code", code, 28)
    code, _, err = t.fetch("--max-time 300ms", fault.url("200;stall=head"))
    t.same("--max-time with a unit", code, 28)
    code, made = t.summary("--retry 2", fault.url("503"))
    t.same("--retry N is N+1 attempts", (code, made["attempts"]), (22, 3))
    code, made = t.summary("-m 60 --retry 9 --retry-delay 3600",
                           fault.url("503"))
    t.same("a delay that does not fit is not waited for",
           (code, made["attempts"], made["reason"]), (28, 1, "deadline"))


def answers():
    for args, answer in [("--speed-time 3", "--stall-timeout"),
                         ("-y 3", "--stall-timeout"),
                         ("--retry-all-errors", "--policy"),
                         ("--fail-with-body", "leave it out"),
                         ("--oauth2-bearer x", "Authorization: Bearer"),
                         ("--parallel", "-Z"), ("-e x", "Referer")]:
        code, out, err = t.fetch(args, "http://127.0.0.1/")
        tap.case(f"{args}: is answered with the right one",
                 code == 2 and answer in err and not out, err)
    for args, expected in [("-K nowhere URL", "a file that can be read"),
                           ("-C x URL", "expected -, for the end"),
                           ("-r x URL", "expected a range of bytes"),
                           ("--limit-rate fast URL", "such as 500k"),
                           ("-m x URL", "expected seconds"),
                           ("--retry x URL", "a number of retries"),
                           ("-F novalue URL", "expected NAME=CONTENT"),
                           ("-J -O -i URL", "--remote-header-name"),
                           ("-w @nowhere URL", "a file that can be read"),
                           ("-H @nowhere URL", "a file that can be read")]:
        code, out, err = t.fetch(args)
        tap.case(f"mistake: {args}", code == 2 and expected in err, err)
    t.write("bad.conf", b"silent\nnosuch = 1\n")
    code, _, err = t.fetch("-K bad.conf http://127.0.0.1/")
    tap.case("a mistake in a file is told with its line", code == 2 and
             "in line 2 a flag instead of `nosuch`" in err, err)
    t.write("loop.conf", b"config = loop.conf\n")
    code, _, err = t.fetch("-K loop.conf http://127.0.0.1/")
    tap.case("a file that names itself ends", code == 2 and "8 files" in err,
             err)
    code, _, err = t.fetch("-F f=@nowhere http://127.0.0.1/")
    tap.case("a form with a file that is not there", code == 26 and
             "nowhere" in err, (code, err))


def arguments(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read()
    except OSError:
        return b""


SECRETS = [
    "-u me:SECRET", "--user=me:SECRET", "-sume:SECRET", "-H X-Key:SECRET",
    "-b id=SECRET", "-d pw=SECRET", "--data-urlencode pw=SECRET",
    "-F pw=SECRET", "-U me:SECRET", "-x http://me:SECRET@127.0.0.1:1",
    "-E cert:SECRET",
]


def secrets():
    """Nobody sees them in the list of processes, from the moment that `bide`
    has been started: what bide-fetch is given does not have them."""
    gate = os.path.join(t.work.name, "gate")
    os.mkfifo(gate)
    for flags in SECRETS + [None]:
        url = "http://me:SECRET@127.0.0.1:1/" if flags is None else \
            "http://127.0.0.1:1/"
        args = [] if flags is None else flags.split(" ")
        # it waits for its standard input, with its arguments read
        p = subprocess.Popen([t.BIDE, "fetch", *args, "-s", "--attempts", "1",
                              "-K", gate, url],
                             stdin=subprocess.DEVNULL, cwd=t.work.name,
                             stderr=subprocess.DEVNULL, env=tap.environment())
        with open(gate, "wb"):  # opened: it has come so far
            found = arguments(p.pid)
        p.wait(timeout=60)
        tap.case(f"not to be seen: {flags or url}", found and
                 b"SECRET" not in found and b"fetch" in found, found)
    # between the two programs: what another one in its place is given
    with tempfile.TemporaryDirectory() as d:
        shutil.copy(t.BIDE, os.path.join(d, "bide"))
        behind = os.path.join(d, "bide-fetch")
        with open(behind, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\necho seen: \"$@\"\n"
                    "[ -n \"$BIDE_FETCH_ARGS\" ] && "
                    "tr '\\0' ' ' </proc/self/fd/$BIDE_FETCH_ARGS\n")
        os.chmod(behind, 0o755)
        p = subprocess.run([os.path.join(d, "bide"), "fetch", "-s", "-u",
                            "me:SECRET", "-o", "file", "http://127.0.0.1:1/"],
                           capture_output=True, timeout=60,
                           env=tap.environment(), check=False)
        t.same("between the two programs", p.stdout.decode().splitlines(),
               ["seen: -s -u xxxxxxxxx -o file http://127.0.0.1:1/",
                "fetch -s -u me:SECRET -o file http://127.0.0.1:1/ "])
        p = subprocess.run([os.path.join(d, "bide"), "fetch", "-s", "URL"],
                           capture_output=True, timeout=60,
                           env=tap.environment(), check=False)
        t.same("where there is no secret, nothing is in between",
               p.stdout, b"seen: -s URL\n")


def trust(places):
    """CURL_CA_BUNDLE and SSL_CERT_FILE count, and --cert is shown."""
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", t.path("key"),
         "-out", t.path("cert"), "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1"], capture_output=True,
        timeout=60, check=False).returncode == 0 if shutil.which("openssl") \
        else False
    if not made:
        tap.case("TLS # SKIP no openssl", True)
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(t.path("cert"), t.path("key"))
    context.load_verify_locations(t.path("cert"))
    context.verify_mode = ssl.CERT_OPTIONAL
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    server.handle_error = lambda *args: None
    start(server)
    url = f"https://127.0.0.1:{server.server_port}/"
    cert, no = t.path("cert"), t.path("lines")
    t.write("lines", b"")
    for env, code in [({}, 60), ({"CURL_CA_BUNDLE": cert}, 0),
                      ({"SSL_CERT_FILE": cert}, 0),
                      ({"CURL_CA_BUNDLE": cert, "SSL_CERT_FILE": no}, 0),
                      ({"CURL_CA_BUNDLE": "", "SSL_CERT_FILE": cert}, 0)]:
        t.same(f"trusted by {sorted(env)}", t.fetch(url, env=env)[0], code)
    t.same("--cert and --key", t.fetch(
        "-k -E", [cert + ":unused"], "--key", [t.path("key")], url)[0], 0)
    code = t.fetch("-k -E nowhere", url)[0]
    t.same("--cert that is not there", code, 58)
    server.shutdown()


def parallel(places):
    """Headers and --write-out come in the order of the URLs."""
    urls = [f"{places['URL']}/{i}" for i in range(5)]
    code, out, _ = t.fetch("-D all -Z 5 -w", ["<%{urlnum}>"], urls)
    t.same("-w for several", out.decode(), "".join(
        f"hello\n<{i}>" for i in range(5)))
    t.same("-D for several", t.read("all").count(b"HTTP/1.1 200"), 5)
    code, out, err = t.fetch("--json", urls[0])
    t.same("--json: a summary on stderr", (
        code, out, json.loads(err)["transfers"][0]["status"]),
        (0, b"hello\n", 200))
    code, out, err = t.fetch("-w %{json}", urls[0])
    made = json.loads(out.split(b"\n", 1)[1])
    t.same("-w %{json}", (made["http_code"], made["reason"], made["attempts"],
                          made["num_headers"]), (200, "success", 1, 1))


def main():
    if not CURL:
        tap.case("curl # SKIP there is none", True)
        tap.finish()
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    start(server)
    path = os.path.join(t.work.name, "socket")
    start(UnixServer(path, Handler))
    places = {"URL": f"http://127.0.0.1:{server.server_port}",
              "PORT": str(server.server_port), "SOCKET": path}
    fault = t.Fault()
    compare(places)
    differ(places)
    names(places)
    parallel(places)
    times(fault)
    answers()
    secrets()
    trust(places)
    fault.stop()
    tap.finish()


main()
