#!/usr/bin/env python3
"""e2e_stale.py BIDE: stale copies of answers, given when the policy has given up:
which are kept (RFC 9111), for whom, for how long (RFC 5861), and in how much
memory."""
import os
import threading

import sidecar
from parts import (Answer, Origin, all_gone, ask, connect, counted, get, metric,
                   ok, proxied, run, tap, until)
from sidecar import OPEN

STALE = ", fallback: { stale: 5m }"
ADMIN = "  admin: 127.0.0.1:0\n"
ONCE = OPEN + ", attempts: 1"
BUSY = ok(b"busy", status=b"503 Busy")


class Site:
    """An origin whose answers are set, by path; it may be broken."""

    def __init__(self, *answers):
        self.answers = dict(answers)
        self.broken = False
        self.origin = Origin(self.talk)

    def talk(self, origin, peer):
        while head := origin.request(peer):
            path = head.split()[1].decode()
            answer = self.answers.get(path, ok(path.encode()))
            if callable(answer):
                answer = answer(head)
            peer.send(BUSY if self.broken else answer)


def site(*answers, **how):
    s = Site(*answers)
    how = {"policy": ONCE, "route": STALE, "more": ADMIN} | how
    return s, proxied(s.origin, **how)


def copies(p):
    return int(metric(p, "bide_proxy_stale_copies"))


def is_stale(a, body):
    return (a.status, a.body, a.fields.get("x-bide-fallback")) == \
        (200, body, "stale")


def the_plain_case():
    chunked = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"1\"\r\n"
               b"\r\n3\r\nabc\r\n10000\r\n" + b"d" * 65536 + b"\r\n0\r\n\r\n")
    s, sidecar_ = site(("/a", ok(b"fine", b"Age: 7\r\nX-Own: 1\r\n")),
                       ("/c", chunked), ("/e", ok(b"")), log=True)
    with sidecar_ as p:
        for path in ("/a", "/c", "/e"):
            ask(p, get(path))
        tap.case("copies are kept", until(lambda: copies(p) == 3), copies(p))
        s.broken = True
        got = ask(p, get("/a"))
        tap.case("a copy is given", is_stale(got, b"fine") and
                 got.fields["x-own"] == "1" and
                 got.fields["x-bide-reason"] == "attempts" and
                 got.fields["x-bide-attempts"] == "1", got)
        tap.case("with its age, once", int(got.fields["age"]) >= 7, got)
        tap.case("what came in chunks", is_stale(
            ask(p, get("/c")), b"abc" + b"d" * 65536))
        old = ask(p, get("/c", version=b"1.0"))
        tap.case("... to HTTP/1.0", is_stale(old, b"abc" + b"d" * 65536) and
                 old.fields.get("connection") == "close", old.head)
        tap.case("an empty one", is_stale(ask(p, get("/e")), b""))
        head = ask(p, get("/a", method=b"HEAD"), "HEAD")
        tap.case("HEAD: its head", is_stale(head, b"") and
                 head.fields["content-length"] == "4", head)
        miss = ask(p, get("/b"))
        tap.case("what was never asked for", miss.status == 503 and
                 miss.body == b"busy" and "x-bide-fallback" not in miss.fields,
                 miss)
        for path, more in (("/a?x", b""), ("/A", b"")):
            tap.case(f"{path} is another thing",
                     ask(p, get(path, more)).status == 503)
        other = get("/a").replace(b"x.example", b"y.example")
        tap.case("so is another host", ask(p, other).status == 503)
        tap.case("a host in capitals is not", is_stale(
            ask(p, get("/a").replace(b"x.example", b"X.Example")), b"fine"))
        whole = get("/a").replace(b"/a", b"http://x.example/a")
        tap.case("nor is an absolute target", is_stale(ask(p, whole), b"fine"))
        post = ask(p, get("/a", b"Content-Length: 0\r\n", b"POST"))
        tap.case("a POST gets none", post.status == 503, post)
        fat = ask(p, get("/a", b"Content-Length: 1\r\n") + b"x")
        tap.case("nor does a GET with a body", fat.status == 503, fat)
        asks = ask(p, get("/a", b"Cache-Control: no-cache\r\n"))
        tap.case("nor who asks for a fresh one", asks.status == 503, asks)
        peer = connect(p)
        for _ in range(3):
            peer.send(get("/c"))
            got = Answer(peer)
        peer.close()
        tap.case("the connection goes on", is_stale(got, b"abc" + b"d" * 65536),
                 got.head)
        tap.case("counted", counted(p, "fallback_stale") == 10,
                 counted(p, "fallback_stale"))
        s.broken = False
        fresh = ask(p, get("/a"))
        tap.case("when it is back, it answers itself", fresh.status == 200 and
                 "x-bide-fallback" not in fresh.fields, fresh)
    _, log = p.stop()
    tap.case("the log tells", log[3]["fallback"] == "stale" and
             log[3]["reason"] == "attempts" and log[3]["status"] == 200, log[3])


# The path; what its answer says; what the request says; whether it is kept.
RULES = [
    (b"", b"", True),
    (b"Cache-Control: max-age=60\r\n", b"", True),
    (b"Cache-Control: public, max-age=0\r\n", b"", True),
    (b"Cache-Control: no-store\r\n", b"", False),
    (b"Cache-Control: NO-STORE\r\n", b"", False),
    (b"Cache-Control: max-age=60\r\nCache-Control: x, no-store\r\n", b"", False),
    (b"Cache-Control: private\r\n", b"", False),
    (b"Cache-Control: private=\"x-foo\"\r\n", b"", False),
    (b"Cache-Control: no-cache\r\n", b"", False),
    (b"Cache-Control: no-cache=\"a, b\"\r\n", b"", False),
    (b"Cache-Control: ext=\"no-store\"\r\n", b"", True),
    (b"Cache-Control: ext=\"a, no-store\"\r\n", b"", True),
    (b"Cache-Control: must-revalidate\r\n", b"", False),
    (b"Cache-Control: proxy-revalidate, max-age=9\r\n", b"", False),
    (b"Cache-Control: s-maxage=60\r\n", b"", False),
    (b"Cache-Control: stale-if-error=0\r\n", b"", False),
    (b"Cache-Control: stale-if-error=60\r\n", b"", True),
    (b"Cache-Control: max-age=60, stale-if-error=0\r\n", b"", True),
    (b"Set-Cookie: a=b\r\n", b"", False),
    (b"Vary: *\r\n", b"", False),
    (b"Vary: Accept, *\r\n", b"", False),
    (b"Age: 301\r\n", b"", False),
    (b"Age: 301\r\nCache-Control: max-age=60\r\n", b"", True),
    (b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", b"", False),
    (b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
     b"Expires: Fri, 06 Nov 2093 08:49:37 GMT\r\n", b"", True),
    (b"X-Bide-Fallback: stale\r\n", b"", False),
    (b"", b"Authorization: Basic eDp5\r\n", False),
    (b"Cache-Control: max-age=9\r\n", b"Authorization: Basic eDp5\r\n", False),
    (b"Cache-Control: public\r\n", b"Authorization: Basic eDp5\r\n", True),
    (b"", b"Cookie: a=b\r\n", False),
    (b"Cache-Control: public\r\n", b"Cookie: a=b\r\n", True),
    (b"", b"Cache-Control: no-store\r\n", False),
]


def what_is_kept():
    s, sidecar_ = site(*((f"/{i}", ok(b"%d" % i, row[0]))
                         for i, row in enumerate(RULES)),
                       ("/created", ok(b"x", status=b"201 Created")),
                       ("/partial", ok(b"x", b"Content-Range: bytes 0-0/9\r\n",
                                       b"206 Partial")),
                       ("/until", b"HTTP/1.1 200 OK\r\n\r\nuntil the end"))
    with sidecar_ as p:
        for i, row in enumerate(RULES):
            ask(p, get(f"/{i}", row[1]))
        ask(p, get("/created"))
        ask(p, get("/partial"))
        peer = connect(p)
        peer.send(get("/until"))
        until(lambda: len(s.origin.heads) > len(RULES) + 2)
        peer.close()
        all_gone(p)
        s.broken = True
        for i, row in enumerate(RULES):
            got = ask(p, get(f"/{i}"))
            tap.case(f"{row[0]} {row[1]}: {'kept' if row[2] else 'not kept'}",
                     is_stale(got, b"%d" % i) == row[2], got)
        for path in ("/created", "/partial", "/until"):
            got = ask(p, get(path))
            tap.case(f"{path}: not kept", got.status == 503, got)


def variants():
    def by_language(head):
        english = b"language: en" in head.lower()
        return ok(b"yes" if english else b"ja",
                  b"Vary: Accept-Language, X-Kind\r\n")
    en, de = b"Accept-Language: en\r\n", b"Accept-Language: de\r\n"
    s, sidecar_ = site(("/", by_language))
    with sidecar_ as p:
        ask(p, get("/", en))
        ask(p, get("/", de))
        tap.case("a copy for each", until(lambda: copies(p) == 2), copies(p))
        s.broken = True
        tap.case("one", is_stale(ask(p, get("/", en)), b"yes"))
        tap.case("the other", is_stale(ask(p, get("/", de)), b"ja"))
        tap.case("none for a third",
                 ask(p, get("/", b"Accept-Language: fr\r\n")).status == 503)
        tap.case("none without", ask(p, get()).status == 503)
        tap.case("all fields count",
                 ask(p, get("/", en + b"X-Kind: 2\r\n")).status == 503)
        tap.case("none for one that is long",
                 ask(p, get("/", en + b"X-Kind: " + b"x" * 9000 +
                            b"\r\n")).status == 503)


def what_the_origin_saw():
    """Vary is about what came to the origin, not about what clients sent."""
    def seen(head):
        names = (b"x-kind:", b"x_kind:", b"te:")
        return ok(b";".join(line for line in head.lower().split(b"\r\n")
                            if line.startswith(names)),
                  b"Vary: X-Kind, X_Kind, TE\r\n")
    s, sidecar_ = site(*((f"/{i}", seen) for i in range(9)))
    kind = b"X-Kind: a\r\n"
    rows = [(kind + b"Connection: x-kind\r\n", kind, None),
            (kind + b"Connection: x-kind\r\n", b"", b""),
            (kind, kind + b"Connection: x-kind\r\n", None),
            (b"X_Kind: a\r\n", b"", b""),
            (b"TE: trailers\r\n", b"", b""),
            (b"X-Kind: a\r\nX-Kind: b\r\n", b"X-Kind: a b\r\n", None),
            (b"X-Kind: a b\r\n", b"X-Kind: a\r\nX-Kind: b\r\n", None),
            (b"X-Kind: \r\n", b"", None)]
    with sidecar_ as p:
        for i, (first, then, body) in enumerate(rows):
            s.broken = False
            ask(p, get(f"/{i}", first))
            s.broken = True
            got = ask(p, get(f"/{i}", then))
            tap.case(f"{first} {then}: {body}", got.status == 503
                     if body is None else is_stale(got, body), got)


def what_is_changed_on_the_way():
    names = ["X-Forwarded-For", "x-forwarded-proto", "X-Forwarded-Client-Cert",
             "Forwarded", "Via", "X-Bide-Attempt", "X-Request-Id", "Traceparent",
             "Tracestate", "Baggage", "Accept, VIA"]
    fine = ["Accept", "Viaduct", "Host"]
    for keep in "true", "false":
        s, sidecar_ = site(*((f"/{i}", ok(b"x", f"Vary: {name}\r\n".encode()))
                             for i, name in enumerate(names + fine)),
                           more=ADMIN + f"  forwarded: {{ keep_host: {keep} }}\n")
        with sidecar_ as p:
            for i in range(len(names + fine)):
                ask(p, get(f"/{i}"))
            s.broken = True
            for i, name in enumerate(names + fine):
                got = ask(p, get(f"/{i}"))
                kept = name in fine and (name, keep) != ("Host", "false")
                tap.case(f"Vary: {name} (keep_host: {keep}): "
                         f"{'kept' if kept else 'not kept'}",
                         is_stale(got, b"x") == kept, got)


def what_makes_copies_wrong():
    s, sidecar_ = site()
    with sidecar_ as p:
        for method, status, wrong in ((b"POST", b"200 OK", True),
                                      (b"PUT", b"204 None", True),
                                      (b"DELETE", b"303 See", True),
                                      (b"POST", b"400 No", False),
                                      (b"OPTIONS", b"200 OK", False),
                                      (b"GET", b"410 Gone", True),
                                      (b"GET", b"404 No", True),
                                      (b"GET", b"304 Same", False)):
            path = f"/{method.decode()}{status[:3].decode()}"
            ask(p, get(path))
            s.answers[path] = b"HTTP/1.1 " + status + \
                b"\r\nContent-Length: 0\r\n\r\n"
            ask(p, get(path, b"Content-Length: 0\r\n" if method != b"GET"
                       else b"", method))
            s.broken = True
            got = ask(p, get(path))
            tap.case(f"{path}: {'forgotten' if wrong else 'still there'}",
                     (got.status == 503) == wrong, got)
            s.broken = False
        ask(p, get("/turns"))
        s.answers["/turns"] = ok(b"secret", b"Cache-Control: no-store\r\n")
        ask(p, get("/turns"))
        s.broken = True
        tap.case("an answer that must not be kept takes the copy's place",
                 ask(p, get("/turns")).status == 503)


def what_is_not_whole():
    def cut(head):
        return b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nonly this"
    s, sidecar_ = site(("/cut", cut))
    with sidecar_ as p:
        peer = connect(p)
        peer.send(get("/cut"))
        until(lambda: s.origin.heads)
        peer.close()
        all_gone(p)
        s.broken = True
        tap.case("an answer that was not whole is not kept",
                 ask(p, get("/cut")).status == 503 and copies(p) == 0)
        tap.case("nothing of it is left",
                 until(lambda: metric(p, "bide_proxy_stale_bytes") == 0))


def sizes():
    s, sidecar_ = site(("/fits", ok(b"x" * 4096)), ("/large", ok(b"x" * 4097)),
                       ("/chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                        b"chunked\r\n\r\n" + b"800\r\n" + b"x" * 2048 +
                        b"\r\n900\r\n" + b"x" * 2304 + b"\r\n0\r\n\r\n"),
                       more=ADMIN + "  limits: { stale: 64KiB, "
                       "stale_answer: 4KiB }\n")
    with sidecar_ as p:
        for path in s.answers:
            got = ask(p, get(path))
            tap.case(f"{path} is passed on", got.status == 200, got.head)
        s.broken = True
        tap.case("one that fits is kept", is_stale(ask(p, get("/fits")),
                                                   b"x" * 4096))
        tap.case("one that is larger is not", ask(p, get("/large")).status == 503)
        tap.case("nor in chunks", ask(p, get("/chunks")).status == 503)


def by_reload():
    s, sidecar_ = site()
    with sidecar_ as p:
        for i in range(50):
            ask(p, get(f"/{i}"))
        p.reload()
        tap.case("a reload keeps copies", copies(p) == 50)
        s.broken = True
        tap.case("and they are given", is_stale(ask(p, get("/7")), b"/7"))
        p.reload(p.text.replace(ADMIN, ADMIN + "  limits: { stale: 64KiB, "
                                "stale_answer: 1KiB }\n"))
        tap.case("a smaller bound holds at once",
                 metric(p, "bide_proxy_stale_bytes") <= 65536)
        p.reload(p.text.replace(STALE, ""))
        tap.case("without a route that gives them they are dropped",
                 copies(p) == 0 and metric(p, "bide_proxy_stale_bytes") == 0)
        tap.case("and not given", ask(p, get("/7")).status == 503)


def rss(p):
    with open(f"/proc/{p.process.pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def a_hostile_client():
    """It asks for ever other things, from several connections."""
    bound, each = 1 << 20, 1500
    s, sidecar_ = site(("/mine", ok(b"mine")), more=ADMIN +
                       "  workers: 2\n  limits: { stale: 1MiB, "
                       "stale_answer: 64KiB }\n")
    over = []

    def hammer(p, n):
        peer = connect(p)
        for i in range(each):
            peer.send(get(f"/{n}/{i}?" + "q" * (i % 500)))
            Answer(peer)
        peer.close()
    with sidecar_ as p:
        hammer(p, 9)
        before = rss(p)
        threads = [threading.Thread(target=hammer, args=(p, n)) for n in range(3)]
        for t in threads:
            t.start()
        while any(t.is_alive() for t in threads):
            if metric(p, "bide_proxy_stale_bytes") > bound:
                over.append(metric(p, "bide_proxy_stale_bytes"))
        for t in threads:
            t.join()
        tap.case("copies stay within their bound", not over, over)
        tap.case("there are fewer of them than answers",
                 0 < copies(p) < 4 * each, copies(p))
        tap.case("memory does not grow with what is asked for",
                 sidecar_is_sanitized(p) or rss(p) - before < 8 << 20,
                 (before, rss(p)))
        ask(p, get("/mine"))
        s.broken = True
        tap.case("an honest client still has its copy", until(
            lambda: is_stale(ask(p, get("/mine")), b"mine")))


def made_up_queries_and_fields():
    """What one client makes up does not push out what others asked for."""
    def big(head):
        return ok(b"x" * 30000)
    s, sidecar_ = site(*((f"/big?{i}", big) for i in range(60)),
                       ("/many", ok(b"x", b"Vary: X-Kind\r\n")),
                       more=ADMIN + "  limits: { stale: 1MiB, "
                       "stale_answer: 64KiB }\n")
    with sidecar_ as p:
        for i in range(5):
            ask(p, get(f"/page{i}?q"))
        for i in range(60):
            ask(p, get(f"/big?{i}"))
        tap.case("copies of one path take an eighth",
                 until(lambda: metric(p, "bide_proxy_stale_bytes") <=
                       (1 << 17) + 5000),
                 metric(p, "bide_proxy_stale_bytes"))
        before = copies(p)
        for i in range(40):
            ask(p, get("/many", b"X-Kind: %d\r\n" % i))
        tap.case("of one key there are sixteen",
                 until(lambda: copies(p) == before + 16), (before, copies(p)))
        s.broken = True
        got = [ask(p, get(f"/page{i}?q")) for i in range(5)]
        tap.case("the pages of others are still there", all(
            is_stale(a, f"/page{i}?q".encode()) for i, a in enumerate(got)), got)
        tap.case("and the last of what was made up", is_stale(
            ask(p, get("/big?59")), b"x" * 30000) and is_stale(
                ask(p, get("/many", b"X-Kind: 39\r\n")), b"x"))


def sidecar_is_sanitized(p):
    """AddressSanitizer keeps what was freed for a while."""
    with open(f"/proc/{p.process.pid}/maps", encoding="utf-8") as f:
        return "asan" in f.read() or "bide-asan" in sidecar.BIDE or \
            "asan" in sidecar.BIDE


def between_workers():
    s, sidecar_ = site(more=ADMIN + "  workers: 4\n")
    with sidecar_ as p:
        ask(p, get("/shared"))
        until(lambda: copies(p) == 1)
        s.broken = True
        got = [ask(p, get("/shared")) for _ in range(40)]
        tap.case("whichever worker one comes to, the copy is there",
                 all(is_stale(a, b"/shared") for a in got))


run(the_plain_case, what_is_kept, variants, what_the_origin_saw,
    what_is_changed_on_the_way, what_makes_copies_wrong,
    what_is_not_whole, sizes, by_reload, a_hostile_client,
    made_up_queries_and_fields, between_workers)
