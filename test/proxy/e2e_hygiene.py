#!/usr/bin/env python3
"""e2e_hygiene.py BIDE: what requests may carry through the sidecar, how far they may
go, and what of it the others hear."""
from e2e_parts import Origin, ask, fields, get, ok, proxied, run, says, tap

UNDERSCORED = (b"X_Forwarded_For: 6.6.6.6\r\nX-Kept: 1\r\n_: 2\r\n"
               b"X_Bide_Attempt: 3\r\nProxy: http://evil.example\r\n"
               b"Content_Length: 4\r\nX-Last: 5\r\n")


def underscores():
    o = Origin(says(ok(more=b"X_Answer: 1\r\n")))
    with proxied(o) as p:
        a = ask(p, get("/", UNDERSCORED))
        f = fields(o.heads[0])
        tap.case("names with an underscore are dropped", a.status == 200 and
                 not [name for name in f if "_" in name], f)
        tap.case("and Proxy", "proxy" not in f, f)
        tap.case("and nothing else", f["x-kept"] == "1" and f["x-last"] == "5" and
                 f["x-forwarded-for"] == "127.0.0.1", f)
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


run(underscores)
