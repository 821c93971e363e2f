#!/usr/bin/env python3
"""e2e_hygiene.py BIDE: what requests may carry through the sidecar, how far they may
go, and what of it the others hear."""
import origins
import payloads
import sidecar
from parts import (Answer, Origin, all_gone, ask, connect, end, fields, get, ok,
                   proxied, run, says, tap)
from ports import free_port
from sidecar import OPEN

UNDERSCORED = (b"X_Forwarded_For: 6.6.6.6\r\nX-Kept: 1\r\n_: 2\r\n"
               b"X_Bide_Attempt: 3\r\nProxy: http://evil.example\r\n"
               b"PROXY: http://evil.example\r\npRoXy: http://evil.example\r\n"
               b"X_Real_IP: 6.6.6.6\r\nx_forwarded_proto: https\r\nA_B: c\r\n"
               b"X-Forwarded_Host: evil.example\r\nProxy_Authorization: z\r\n"
               b"Content_Length: 4\r\nX-Proxy: y\r\nX-Last: 5\r\n")


def underscores():
    o = Origin(says(ok(more=b"X_Answer: 1\r\n")))
    with proxied(o) as p:
        a = ask(p, get("/", UNDERSCORED))
        f = fields(o.heads[0])
        tap.case("names with an underscore are dropped", a.status == 200 and
                 not [name for name in f if "_" in name], f)
        tap.case("and Proxy", "proxy" not in f, f)
        tap.case("and nothing else", f["x-kept"] == "1" and f["x-last"] == "5" and
                 f["x-proxy"] == "y" and f["x-forwarded-for"] == "127.0.0.1", f)
        tap.case("answers keep theirs", a.fields["x_answer"] == "1", a)
        chunked = get("/", b"Transfer-Encoding: chunked\r\n", b"PUT")
        a = ask(p, chunked + b"1\r\nx\r\n0\r\nX_Forwarded_For: 6.6.6.6\r\n\r\n")
        tap.case("a trailer cannot bring them either", a.status == 400 and
                 a.fields["x-bide-reason"] == "trailer" and len(o.heads) == 1, a)
    o = Origin(says(ok()))
    with proxied(o, more="  headers: { underscores: true }\n") as p:
        ask(p, get("/", UNDERSCORED))
        f = fields(o.heads[0])
        tap.case("underscores: true passes them on", f["x_forwarded_for"] ==
                 "6.6.6.6" and f["_"] == "2" and f["content_length"] == "4", f)
        tap.case("but never Proxy", "proxy" not in f, f)
        chunked = get("/", b"Transfer-Encoding: chunked\r\n", b"PUT")
        a = ask(p, chunked + b"1\r\nx\r\n0\r\nX_T: 1\r\n\r\n")
        tap.case("in trailers too", a.status == 200, a)


def smuggled():
    """To a server that takes one for the other, an underscore name is a way to
    smuggle."""
    o = origins.Careless("chunks")
    with proxied(o, policy=OPEN + ", attempts: 1") as p:
        for _, _, text in payloads.underscores():
            ask(p, text.replace("{P}", "/p").replace("{E}", "/ev").encode())
        victim = ask(p, get("/victim"))
        tap.case("nothing is smuggled by an underscore", "/ev" not in o.seen() and
                 victim.body == b"/victim", (o.seen(), victim))


def max_forwards():
    o = Origin(says(ok()))
    with proxied(o) as p:
        a = ask(p, get("/a", b"Max-Forwards: 0\r\n", b"OPTIONS"))
        tap.case("OPTIONS that may go no further is answered here",
                 a.status == 204 and "OPTIONS" in a.fields["allow"] and
                 "content-length" not in a.fields and not o.heads, a)
        a = ask(p, get("*", b"Max-Forwards: 000\r\n", b"OPTIONS"))
        tap.case("of the server as a whole, too", a.status == 204 and
                 not o.heads, a)
        a = ask(p, get("/a", b"Cookie: secret\r\nMax-Forwards: 0\r\n", b"TRACE"))
        tap.case("TRACE is not reflected", a.status == 405 and
                 a.fields["x-bide-reason"] == "max_forwards" and
                 b"secret" not in a.body and not o.heads, a)
        for sent, want in [("1", "0"), ("10", "9"), ("007", "6"),
                           ("9" * 40, "999999")]:
            for method in (b"OPTIONS", b"TRACE"):
                a = ask(p, get("/a", b"Max-Forwards: %s\r\n" % sent.encode(),
                               method))
                tap.case(f"{method.decode()}: {sent} becomes {want}",
                         fields(o.heads[-1])["max-forwards"] == want,
                         (a, o.heads[-1]))
        n = len(o.heads)
        for sent in (b"", b"-1", b"+1", b"1, 1", b"0x1", b"1\r\nMax-Forwards: 1"):
            a = ask(p, get("/", b"Max-Forwards: " + sent + b"\r\n", b"OPTIONS"))
            tap.case(f"{sent} is refused", a.status == 400 and
                     a.fields["x-bide-reason"] == "max_forwards" and
                     len(o.heads) == n, a)
        for sent in (b"0", b"5", b"junk"):
            ask(p, get("/", b"Max-Forwards: " + sent + b"\r\n"))
            tap.case(f"of GET it is nobody's business ({sent})", fields(
                o.heads[-1])["max-forwards"] == sent.decode(), o.heads[-1])


def loop():
    port = free_port()
    p = sidecar.Sidecar(sidecar.config([port]).replace(
        "listen: 127.0.0.1:0", f"listen: 127.0.0.1:{port}"), log=True)
    a = ask(p, get())
    tap.case("a request that comes back is answered 508", a.status == 508 and
             a.fields["x-bide-reason"] == "loop" and
             a.fields["x-bide-attempts"] == "1" and
             b"urn:bide:problem:loop" in a.body, a)
    a = ask(p, get("/", b"Content-Length: 3\r\n", b"POST") + b"abc")
    tap.case("with a body, too", a.status == 508, a)
    sidecar.ended("a loop", p)
    with open(p.log, encoding="utf-8") as f:
        lines = f.readlines()
    tap.case("and is known by its name in the log, at each pass", len(lines) == 4 and
             all('"reason":"loop"' in x for x in lines), lines)


def circle():
    """Two that send to each other."""
    one, two = free_port(), free_port()
    both = [sidecar.Sidecar(sidecar.config([to]).replace(
        "listen: 127.0.0.1:0", f"listen: 127.0.0.1:{port}"))
        for port, to in ((one, two), (two, one))]
    a = ask(both[0], get())
    tap.case("two in a circle: 508", a.status == 508, a)
    for p in both:
        sidecar.ended("one of two in a circle", p)


def of_others():
    """An origin's own 508 (RFC 5842) is not ours to name."""
    o = Origin(says(ok(status=b"508 Loop Detected")))
    with proxied(o) as p:
        a = ask(p, get())
        tap.case("the 508 of an origin is not called a loop of ours",
                 a.status == 508 and a.fields.get("x-bide-reason") != "loop", a)


def chain():
    o = Origin(says(ok()))
    with proxied(o) as c, proxied(c.port) as b, proxied(b.port) as a:
        answer = ask(a, get())
        via = fields(o.heads[0])["via"].split(", ")
        tap.case("a chain of three is no loop", answer.status == 200 and
                 len(set(via)) == 3, (answer, via))
        name = via[0].split()[1]
        answer = ask(a, get("/", b"Via: 1.0 x, 1.1 %s (y)\r\n" % name.encode()))
        tap.case("who has been here is known among others", answer.status == 508 and
                 answer.fields["x-bide-retry"] == "no" and len(o.heads) == 1,
                 answer)
        a.reload()
        tap.case("a reload does not change the name",
                 ask(a, get("/", b"Via: 1.1 %s\r\n" % name.encode())).status == 508)
        answer = ask(a, get("/", b"Via: 1.1 bide\r\nVia: 1.1 bide-0000000\r\n"))
        tap.case("others of our kind may have had it", answer.status == 200, answer)


def hidden():
    """headers: { bide: false }: nobody hears of bide, and all else is as it was."""
    more = "  headers: { bide: false }\n  forwarded: { via: false }\n"
    o = Origin(says(ok(b"no", b"X-Bide-Retry: no\r\nX-Bide-Reason: x\r\n"
                       b"X-Bide-Fallback: stale\r\nX-Bide-Fault: abort\r\n",
                       b"503 No"), ok()))
    with proxied(o, more=more, policy=OPEN +
                 ", deadline: 1m, idempotency: { key: generate }") as p:
        a = ask(p, get("/", b"X-Bide-Timeout-Ms: 50000\r\n"))
        tap.case("an answer does not name bide", a.status == 503 and
                 b"bide" not in a.head.lower(), a)
        a = ask(p, get("/", b"Content-Length: 0\r\n", b"POST"))
        tap.case("and no request does", a.status == 200 and
                 not any(b"bide" in h.lower() for h in o.heads), o.heads)
        tap.case("a key that was made is still sent",
                 "idempotency-key" in fields(o.heads[-1]), o.heads[-1])
        a = ask(p, b"GET / HTTP/1.1\r\nHost : x\r\n\r\n")
        tap.case("what is refused hears nothing of it either", a.status == 400 and
                 b"bide" not in a.head.lower(), a)
    with proxied(free_port(), more=more + "  limits: { connections: 1 }\n") as p:
        a = ask(p, get())
        tap.case("nor who finds nobody there", a.status == 502 and
                 b"bide" not in a.head.lower(), a)
        all_gone(p)
        first, second = connect(p), connect(p)
        a = Answer(second)
        tap.case("nor who is one too many", a.status == 503 and
                 b"bide" not in a.head.lower() and b"connections" in a.body, a)
        first.close()
        second.close()
    o = Origin(says(ok()))
    with proxied(o, more="  headers: { bide: false }\n") as p:
        a = ask(p, get())
        tap.case("Via is for forwarded.via to say", "bide-" in a.fields["via"] and
                 "bide-" in fields(o.heads[0])["via"], (a, o.heads))
        p.reload(p.text.replace("bide: false", "bide: true"))
        a = ask(p, get())
        tap.case("a reload can change its mind", a.fields["x-bide-attempts"] == "1"
                 and "x-bide-attempt" in fields(o.heads[1]), (a, o.heads))


ODD = ["//pay/", "/%70ay/", "/./pay/", "/x/../pay/", "/x/%2e%2E/pay/",
       "/pay/?a=//./%70"]
BAD = ["/..", "/a/../../pay/", "/%2e%2e/", "/%00", "/%0a", "/%zz", "/%", "/a\\b",
       "/x/..%2fpay/", "/x/..;/pay/"]


def routed(up, guarded, **how):
    """A route for /pay/ to one origin, and one for the rest to the other."""
    text = sidecar.config([up.port], **how).replace("  routes:\n", f"""  routes:
    - {{ match: {{ path: /pay/ }}, upstream: pay }}
""").replace("  upstreams:\n", f"""  upstreams:
    pay: {{ endpoints: "http://127.0.0.1:{guarded.port}" }}
""")
    return sidecar.Sidecar(text)


def line(head):
    return head.split(b"\r\n")[0].decode()


def paths():
    up, guarded = Origin(says(ok(b"up"))), Origin(says(ok(b"pay")))
    p = routed(up, guarded)
    for path in ODD[:-1] + BAD:
        a = ask(p, get(path))
        tap.case(f"by default {path} goes on byte for byte", a.body == b"up" and
                 line(up.heads[-1]) == f"GET {path} HTTP/1.1", (a, up.heads[-1:]))
    p.reload(p.text.replace("proxy:\n", "proxy:\n  paths: normalize\n"))
    seen = len(up.heads)
    for path in ODD:
        a = ask(p, get(path))
        _, mark, query = path.partition("?")
        tap.case(f"normalize: {path} is for /pay/, and says so", a.body == b"pay" and
                 line(guarded.heads[-1]) == f"GET /pay/{mark}{query} HTTP/1.1",
                 (a, guarded.heads[-1:]))
    a = ask(p, get("http://x.example//pay/."))
    tap.case("in absolute form, too", a.body == b"pay" and
             line(guarded.heads[-1]) == "GET /pay/ HTTP/1.1", guarded.heads[-1])
    for path in BAD:
        c = connect(p)
        c.send(get(path))
        a = Answer(c)
        tap.case(f"normalize: {path} is refused", a.status == 400 and
                 a.fields["x-bide-reason"] == "path" and len(up.heads) == seen, a)
        c.send(get("/pay/"))
        tap.case("and the connection serves on", Answer(c).body == b"pay")
        c.close()
    a = ask(p, get("*", method=b"OPTIONS"))
    tap.case("the server as a whole has no path", a.status == 200 and
             line(up.heads[-1]) == "OPTIONS * HTTP/1.1", (a, up.heads[-1]))
    end(p)
    up.stop()
    guarded.stop()


run(underscores, smuggled, max_forwards, loop, circle, of_others, chain, hidden,
    paths)
