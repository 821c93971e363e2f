#!/usr/bin/env python3
"""fetch_download.py BIDE: files are there whole or not at all, and a download
that broke off goes on where it was, if that is safe."""
import os
import re
import resource
import signal
import socket
import subprocess
import threading
import time

import fetch_tools as t
import tap

SIZE = 1000003
MODIFIED = "Mon, 01 Jan 2024 00:00:00 GMT"


def resumes(name, server, attempts, resumed, output="-o got"):
    """Downloads from a server that breaks off; checks bytes and requests."""
    code, made = t.summary("--attempts 9", output, server.url)
    got = t.read(output.split()[-1])
    t.same(f"{name}: exit code", (code, made["reason"]), (0, "success"))
    t.same(f"{name}: to the byte", t.digest(got), t.digest(server.data))
    t.same(f"{name}: requests", len(server.asked), attempts)
    t.same(f"{name}: resumed", made["resumed_at"] is not None, resumed)
    t.same(f"{name}: no part is left",
           [f for f in t.files() if f.endswith(".part")], [])
    server.shutdown()
    return server.asked


def ranges():
    asked = resumes("one cut", t.Ranges(SIZE, [400000]), 2, True)
    t.same("one cut: what was asked", asked,
           [(None, None), ("bytes=399999-", '"one"')])
    asked = resumes("five cuts", t.Ranges(SIZE, [200000, 1, 2, 150000, 100000]),
                    6, True)
    t.same("five cuts: from where", [a[0] for a in asked],
           [None, "bytes=199999-", "bytes=199999-", "bytes=199999-",
            "bytes=349998-", "bytes=449997-"])
    resumes("all but the last byte", t.Ranges(SIZE, [SIZE - 1]), 2, True)
    asked = resumes("little is not worth it", t.Ranges(SIZE, [1000]), 2, False)
    t.same("little is not worth it: all again", asked[1], (None, None))
    asked = resumes("a weak ETag is not enough",
                    t.Ranges(SIZE, [400000], etag='W/"one"'), 2, False)
    t.same("a weak ETag is not enough: all again", asked[1], (None, None))
    asked = resumes("no validator", t.Ranges(SIZE, [400000], etag=None), 2,
                    False)
    t.same("no validator: all again", asked[1], (None, None))
    asked = resumes("Last-Modified",
                    t.Ranges(SIZE, [400000], etag=None, modified=MODIFIED), 2,
                    True)
    t.same("Last-Modified: what was asked", asked[1],
           ("bytes=399999-", MODIFIED))


def changes():
    """Another version between two attempts."""
    server = t.Ranges(SIZE, [400000, 500000])

    def change(s):
        if len(s.asked) == 1:
            s.etag, s.data = '"two"', s.data[::-1]
    server.change = change
    asked = resumes("another version starts over", server, 3, True)
    t.same("another version starts over: what was asked", asked,
           [(None, None), ("bytes=399999-", '"one"'),
            ("bytes=499999-", '"two"')])


def liars(fault):
    """Servers that answer 206 with something else."""
    half, n = 104000, 208002
    first = f"200;n={n};h=ETag:%22v%22;cut=body"
    good = f"h=Content-Range:bytes+{half}-{n - 1}/{n}"
    # what the second answer is, and whether it can be used
    for name, second, used in [
            ("as it should be", f"206;n={n - half};h=ETag:%22v%22;{good}",
             True),
            ("no ETag again", f"206;n={n - half};{good}", True),
            ("another ETag", f"206;n={n - half};h=ETag:%22w%22;{good}", False),
            ("no Content-Range", f"206;n={n - half}", False),
            ("another range", f"206;n={n - half};h=Content-Range:"
             f"bytes+{half + 26}-{n + 25}/{n + 26}", False),
            ("another byte", f"206;body=zebra;{good}", False),
            ("only a part of the rest", f"206;n=26000;{good}", False),
            ("another size", f"206;n={n - half};h=Content-Range:"
             f"bytes+{half}-{n - 1}/{n + 26}", False),
            ("nothing", f"206;n=0;{good}", False),
            ("ranges are unknown", f"200;n={n}", False)]:
        url = fault.url(f"{first},{second},200;n={n}")
        code, made = t.summary("-o liar", url)
        t.same(f"206 {name}", (code, t.digest(t.read("liar"))),
               (0, t.digest(t.body(n))))
        t.same(f"206 {name}: used", made["resumed_at"], half if used else None)
        asked = [s["range"] for s in fault.seen(url)]
        expected = ["", f"bytes={half}-"]
        if not used and "unknown" not in name:
            expected.append("")
        t.same(f"206 {name}: what was asked", asked, expected)
    url = fault.url(f"{first},503,503,206;n={n - half};{good}")
    t.same("failures in between", t.summary("-o liar", url)[0], 0)
    t.same("failures in between: to the byte", t.digest(t.read("liar")),
           t.digest(t.body(n)))
    url = fault.url(f"{first},404;body=gone")
    code, _, err = t.fetch("-o liar", url)
    t.same("an error does not replace a file",
           (code, t.digest(t.read("liar"))), (22, t.digest(t.body(n))))
    tap.case("... and that is said", "404; liar is as it was" in err, err)
    url = fault.url(f"{first},404;body=gone")
    t.same("where there is no file, an error is written",
           (t.fetch("-o other", url)[0], t.read("other")), (22, b"gone"))
    url = fault.url(f"{first},200;n=0")
    t.same("an empty version takes its place",
           (t.fetch("-o liar", url)[0], t.read("liar")), (0, b""))
    url = fault.url("200;body=fine")
    t.fetch("-o liar", url)
    for script in (f"{first},404;n=0", "404;n=300000", "500;body=bad"):
        t.same(f"{script}: a file is as it was", (t.fetch(
            "--attempts 2 -o liar", fault.url(script))[0], t.read("liar")),
            (22, b"fine"))


def whole_or_not(fault):
    t.write("old", b"as it was")
    os.chmod(t.path("old"), 0o640)
    for script in ("200;n=300000;cut=body", "200;n=30;cut=body", "reset",
                   "200;n=300000;lie=5", "200;cut=head"):
        code, _, _ = t.fetch("--attempts 2 -o old", fault.url(script))
        tap.case(f"{script}: fails", code in (18, 52, 56), code)
        t.same(f"{script}: the file is as it was", t.read("old"), b"as it was")
    code, _, _ = t.fetch("-f -o old", fault.url("404"))
    t.same("-f -o: the file is as it was", (code, t.read("old")),
           (22, b"as it was"))
    code, _, _ = t.fetch("-o old", fault.url("200;body=new"))
    t.same("-o replaces it", (code, t.read("old")), (0, b"new"))
    t.same("-o keeps its mode", os.stat(t.path("old")).st_mode & 0o777, 0o640)
    code, _, _ = t.fetch("-o empty", fault.url("200;body="))
    t.same("an empty answer is a file", (code, t.read("empty")), (0, b""))
    os.symlink("old", t.path("link"))
    t.fetch("-o link", fault.url("200;body=newer"))
    t.same("a link stays", (os.path.islink(t.path("link")), t.read("old")),
           (True, b"newer"))
    t.same("-o /dev/null", t.fetch("-o /dev/null", fault.url("200"))[0], 0)
    tap.case("/dev/null stays", not os.path.isfile("/dev/null"))
    t.same("-o -", t.fetch("-o -", fault.url("200;body=x"))[1], b"x")
    t.same("no part is left",
           [f for f in t.files() if f.endswith(".part")], [])


def full(fault):
    """A file that may not grow so large."""
    limit = (100000, 100000)
    code, _, err = t.fetch("-o full", fault.url("200;n=300000"),
                           preexec_fn=lambda: resource.setrlimit(
                               resource.RLIMIT_FSIZE, limit))
    tap.case("a full disk is told", code == 23 and "too large" in err, err)
    t.same("nothing is left of it", [f for f in t.files() if "full" in f], [])


def names():
    server = t.Ranges(1000, [])
    code, _, _ = t.fetch("-O", server.url + "?query=1")
    t.same("-O", (code, t.read("file.bin")), (0, server.data))
    code, out, _ = t.fetch("-o one", server.url, server.url)
    t.same("-o for the first of two", (code, t.read("one"), out),
           (0, server.data, server.data))
    server.shutdown()


def links(fault):
    """The part is new, whatever lies in wait: it is made exclusively, so no
    link is ever followed. The file itself may be a link that its owner made."""
    trap = t.path("victim")
    t.write("victim", b"precious")
    os.symlink("victim", t.path("linked.part"))
    t.same("what lies at NAME.part is left alone", (t.fetch(
        "-o linked", fault.url("200;body=new"))[0], t.read("linked"),
        t.read("victim"), os.path.islink(t.path("linked.part"))),
        (0, b"new", b"precious", True))
    os.symlink("victim", t.path("mine"))
    t.fetch("-o mine", fault.url("200;body=new"))
    t.same("a link to a file stays, and its target is replaced",
           (os.path.islink(t.path("mine")), t.read("victim")), (True, b"new"))
    os.unlink(trap)


def continued(fault):
    """-C -: a file goes on where it ends."""
    server = t.Ranges(SIZE, [])
    t.write("begun", server.data[:400000])
    code, made = t.summary("-C - -o begun", server.url)
    t.same("-C -", (code, t.digest(t.read("begun")), made["resumed_at"]),
           (0, t.digest(server.data), 399999))
    t.same("-C -: what was asked", server.asked, [("bytes=399999-", None)])
    server.any_range = True
    server.asked.clear()
    code, made = t.summary("-C - -o begun", server.url)
    t.same("-C -: it is whole already", (code, t.digest(t.read("begun"))),
           (0, t.digest(server.data)))
    t.write("begun", server.data[:100000])
    server.asked.clear()
    server.cuts = [200000]
    code, made = t.summary("-C - -o begun", server.url)
    t.same("-C -: and breaks off again",
           (code, t.digest(t.read("begun")), [a[1] for a in server.asked]),
           (0, t.digest(server.data), [None, '"one"']))
    server.cuts = [150000, 0, 0, 0, 0]
    t.write("begun", server.data[:100000])
    code, _, _ = t.fetch("-C - --attempts 2 -o begun", server.url)
    tap.case("-C -: what has come stays, to be gone on with",
             code == 18 and 100000 < len(t.read("begun")) < SIZE and
             server.data.startswith(t.read("begun")), (code,
                                                       len(t.read("begun"))))
    server.cuts = []
    t.write("begun", b"something else altogether")
    code, _, _ = t.fetch("-C - -o begun", server.url)
    t.same("-C -: another file starts over", (code, t.digest(t.read("begun"))),
           (0, t.digest(server.data)))
    t.same("-C - where there is nothing", (
        t.fetch("-C - -o fresh", server.url)[0], t.digest(t.read("fresh"))),
        (0, t.digest(server.data)))
    server.shutdown()
    t.write("begun", b"good so far")
    code, _, err = t.fetch("-C - -o begun", fault.url("404;body=page"))
    t.same("-C -: an error is not appended", (code, t.read("begun")),
           (22, b"good so far"))
    code, _, err = t.fetch("-C - -o nothing", fault.url("404;body=page"))
    t.same("-C -: an error leaves no file behind", (code, t.read("nothing")),
           (22, None))
    code, out, err = t.fetch("-C 5", fault.url("200;body=abcdefghij"))
    t.same("-C N where the server knows no ranges", (code, out), (33, b""))


def stalled():
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            peer.recv(65536)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")
            kept.append(peer)
    kept = []
    threading.Thread(target=serve, daemon=True).start()
    code, _, err = t.fetch("--attempts 1 --stall-timeout 1s --explain",
                           f"http://127.0.0.1:{server.getsockname()[1]}/")
    tap.case("a transfer that stalls says so", code == 28 and
             "stalled: nothing came for 1s" in err and
             "200, stalled: transient" in err, err)
    server.close()


def standard_output(fault):
    t.same("a short answer that broke off is not printed",
           t.fetch(fault.url("200;n=30;cut=body"))[:2], (18, b""))
    code, out, _ = t.fetch(fault.url("200;n=30;cut=body,200;body=fine"))
    t.same("only the good one is printed", (code, out), (0, b"fine"))
    server = t.Ranges(5000001, [3000000, 1200000])
    code, out, _ = t.fetch(server.url)
    t.same("a long one goes on", (code, t.digest(out)),
           (0, t.digest(server.data)))
    t.same("a long one goes on: ranges", [a[0] for a in server.asked],
           [None, "bytes=2999999-", "bytes=4199998-"])
    server.shutdown()
    server = t.Ranges(5000001, [3000000], etag=None)
    code, out, err = t.fetch(server.url)
    t.same("what cannot go on ends", (code, out),
           (18, server.data[:3000000]))
    tap.case("... and says why",
             "cannot be taken back" in " ".join(err.split()) and
             "not_replayable" in err, err)
    server.shutdown()
    server = t.Ranges(5000001, [3000000])
    server.change = lambda s: setattr(s, "etag", f'"{len(s.asked)}"')
    code, out, err = t.fetch(server.url)
    t.same("nor is another version put behind it", (code, out),
           (18, server.data[:3000000]))
    server.shutdown()
    read, write = os.pipe()
    os.close(read)
    p = subprocess.run([t.BIDE, "fetch", fault.url("200;n=100000")],
                       stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    tap.case("a pipe that nobody reads", p.returncode == 23 and
             b"Broken pipe" in p.stderr, p)


def pipes(fault):
    code, out, err = t.fetch(fault.url("200;body=lost"),
                             preexec_fn=lambda: os.close(1))
    tap.case("standard output that is closed", code == 23 and out == b"" and
             "Bad file descriptor" in err, (code, err))
    read, write = os.pipe()
    os.set_blocking(write, False)
    p = subprocess.Popen([t.BIDE, "fetch", fault.url("200;n=3000000")],
                         stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        out = f.read()
    _, err = p.communicate(timeout=60)
    t.same("a pipe that does not block", (p.returncode, len(out), err),
           (0, 3000000, b""))
    p = subprocess.Popen([t.BIDE, "fetch", fault.url("200;n=3000000")],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.read(1)  # and no more: it stands still soon
    for _ in range(1000):
        p.send_signal(signal.SIGTERM)
        if p.poll() is not None:
            break
        time.sleep(0.01)
    p.kill()
    t.same("a reader that stands still is left",
           (p.wait(), p.stderr.read()), (-signal.SIGTERM, b""))
    p.stdout.close()
    p.stderr.close()


def interrupted(fault):
    """Ends by the signal, and leaves nothing behind."""
    url = fault.url("200;n=300000;stall=body")
    p = subprocess.Popen([t.BIDE, "fetch", "-o", "stuck", url],
                         cwd=t.work.name, stderr=subprocess.PIPE)
    def parts():
        return [f for f in t.files() if f.startswith("stuck.")]

    for _ in range(6000):
        if any(t.read(f) for f in parts()):
            break
        time.sleep(0.01)
    tap.case("a part has a name of its own", len(parts()) == 1 and re.fullmatch(
        r"stuck\.[0-9a-f]{8}\.part", parts()[0]), parts())
    code, _, err = t.fetch("-o stuck", fault.url("200;body=other"))
    t.same("two may write to one name, each a file of its own",
           (code, t.read("stuck")), (0, b"other"))
    os.unlink(t.path("stuck"))
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate(timeout=60)
    t.same("ends by the signal", (p.returncode, err), (-signal.SIGTERM, b""))
    t.same("nothing is left", [f for f in t.files() if "stuck" in f], [])


def main():
    fault = t.Fault()
    ranges()
    changes()
    liars(fault)
    whole_or_not(fault)
    full(fault)
    names()
    links(fault)
    continued(fault)
    stalled()
    standard_output(fault)
    pipes(fault)
    interrupted(fault)
    fault.stop()
    tap.finish()


main()
