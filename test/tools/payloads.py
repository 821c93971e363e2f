"""Requests that two servers may understand differently, by the trick that they
play. Each is written with these marks: {P} is the path that it may be seen under,
{E} one that nobody may ever see, because an honest reader finds it in a body or
behind something that must be refused. It is as long as its mark, so that lengths
are right.

A row: its name; how many requests an honest reader finds at most (all under {P});
the bytes."""

POST = "POST {P} HTTP/1.1\r\nHost: x.example\r\n"
GET = "GET {P} HTTP/1.1\r\nHost: x.example\r\n"
EVIL = "GET {E} HTTP/1.1\r\nHost: x.example\r\nX: y\r\n\r\n"
LENGTH = "Content-Length: %d\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n"
END = "0\r\n\r\n"
# What a server that goes by the length sees as a body, one that goes by chunks not.
BODY = END + EVIL


def both(first, second, body):
    return POST + first + second + "\r\n" + body


def chunks(body):
    return POST + CHUNKED + "\r\n" + body


def lengths():
    """Content-Length that is more than one, or none."""
    n = len(EVIL)
    for what, line in {
            "0 and n": LENGTH % 0 + LENGTH % n, "n and 0": LENGTH % n + LENGTH % 0,
            "n twice": LENGTH % n + LENGTH % n,
            "a list": f"Content-Length: 0, {n}\r\n",
            "a list of one": "Content-Length: 0,\r\n",
            "a comma first": f"Content-Length: ,{n}\r\n",
            "plus": "Content-Length: +0\r\n", "minus": "Content-Length: -0\r\n",
            "minus one": "Content-Length: -1\r\n", "hex": "Content-Length: 0x0\r\n",
            "a letter behind": "Content-Length: 0a\r\n",
            "octal": "Content-Length: 0o0\r\n",
            "a point": "Content-Length: 0.0\r\n",
            "an exponent": "Content-Length: 0e9\r\n",
            "an underscore": "Content-Length: 0_0\r\n",
            "a space inside": "Content-Length: 0 0\r\n",
            "a semicolon": f"Content-Length: 0;{n}\r\n",
            "quotes": 'Content-Length: "0"\r\n', "empty": "Content-Length:\r\n",
            "blank": "Content-Length: \t \r\n",
            "2^64": "Content-Length: 18446744073709551616\r\n",
            "2^63": "Content-Length: 9223372036854775808\r\n",
            "2^32 in 2^64": "Content-Length: 79228162514264337593543950336\r\n",
            "a thousand zeros and n": "Content-Length: " + "9" * 1000 + "\r\n",
            "a vertical tab": "Content-Length: \x0b0\r\n",
            "a form feed": "Content-Length: 0\x0c\r\n",
            "a wide digit": "Content-Length: \uff10\r\n",
            "a NUL": "Content-Length: 0\0\r\n",
            "a word": "Content-Length: none\r\n"}.items():
        yield what, 0, POST + line + "\r\n" + EVIL


def length_and_chunks():
    """CL.TE and TE.CL."""
    n = len(BODY)
    yield "CL.TE", 0, both(LENGTH % n, CHUNKED, BODY)
    yield "TE.CL", 0, both(CHUNKED, LENGTH % n, BODY)
    yield "CL.0", 0, both(LENGTH % 0, CHUNKED, BODY)
    yield "TE.0", 0, both(CHUNKED, LENGTH % 0, BODY)
    size = len(EVIL)
    body = f"{size:x}\r\n{EVIL}\r\n0\r\n\r\n"
    yield "TE.CL, inside a chunk", 0, both(CHUNKED, LENGTH % 4, body)
    yield "a bad length and chunks", 0, both("Content-Length: x\r\n", CHUNKED, BODY)
    yield "CL.TE in HTTP/1.0", 0, both(LENGTH % n, CHUNKED, BODY).replace(
        "HTTP/1.1", "HTTP/1.0", 1)
    yield "chunks in HTTP/1.0", 0, chunks(BODY).replace("HTTP/1.1", "HTTP/1.0", 1)
    yield "CL.TE with Connection naming one", 0, both(
        LENGTH % n + "Connection: Transfer-Encoding\r\n", CHUNKED, BODY)
    yield "CL.TE with Connection naming the other", 0, both(
        LENGTH % n + "Connection: Content-Length\r\n", CHUNKED, BODY)


def obfuscated():
    """TE.TE: chunked that one side overlooks. With a length beside, so that there
    is something else to go by."""
    for what, line in {
            "x in front": "Transfer-Encoding: xchunked\r\n",
            "a space before the colon": "Transfer-Encoding : chunked\r\n",
            "a tab before the colon": "Transfer-Encoding\t: chunked\r\n",
            "a vertical tab": "Transfer-Encoding: \x0bchunked\r\n",
            "a form feed": "Transfer-Encoding: chunked\x0c\r\n",
            "a NUL": "Transfer-Encoding: chunked\0\r\n",
            "quotes": 'Transfer-Encoding: "chunked"\r\n',
            "single quotes": "Transfer-Encoding: 'chunked'\r\n",
            "twice in a line": "Transfer-Encoding: chunked, chunked\r\n",
            "identity first": "Transfer-Encoding: identity, chunked\r\n",
            "identity last": "Transfer-Encoding: chunked, identity\r\n",
            "two lines": CHUNKED + "Transfer-Encoding: cow\r\n",
            "two lines, the other way": "Transfer-Encoding: cow\r\n" + CHUNKED,
            "gzip": "Transfer-Encoding: gzip, chunked\r\n",
            "a comma": "Transfer-Encoding: chunked,\r\n",
            "a comma first": "Transfer-Encoding: ,chunked\r\n",
            "a semicolon": "Transfer-Encoding: chunked;q=1\r\n",
            "letters of all sizes": "tRANSFER-eNCODING: cHUNKED\r\n",
            "no value": "Transfer-Encoding:\r\n",
            "folded": "Transfer-Encoding:\r\n chunked\r\n",
            "folded with a tab": "Transfer-Encoding:\r\n\tchunked\r\n",
            "behind a CR": "X: y\rTransfer-Encoding: chunked\r\n",
            "behind an LF": "X: y\nTransfer-Encoding: chunked\r\n",
            "behind LF CR": "X: y\n\rTransfer-Encoding: chunked\r\n",
            "a blank in front": " Transfer-Encoding: chunked\r\n",
            "a colon in front": ": Transfer-Encoding: chunked\r\n",
            "a byte over 127": "Transfer-Encoding: chunked\xff\r\n",
            "a byte order mark": "\ufeffTransfer-Encoding: chunked\r\n",
            "a Kelvin sign": "Transfer-Encoding: chun\u212aed\r\n",
            "a soft hyphen": "Transfer\u00adEncoding: chunked\r\n",
            "a NUL in the name": "Transfer-\0Encoding: chunked\r\n",
            "a space in the name": "Transfer- Encoding: chunked\r\n",
            "no colon": "Transfer-Encoding chunked\r\n",
            "LF at its end": "Transfer-Encoding: chunked\n"}.items():
        yield what, 0, both(LENGTH % len(BODY), line, BODY)


def underscores():
    """Names that a server may take for others. By an honest reader, these are one
    request each, with a body by its length."""
    for what, line in {"Transfer_Encoding": "Transfer_Encoding: chunked\r\n",
                       "both": "transfer_encoding: chunked\r\nX_Y: z\r\n"
                       }.items():
        yield what, 1, both(LENGTH % len(BODY), line, BODY)


def chunk_sizes():
    """Where one reader finds the end of a chunk, and another does not."""
    n = len(EVIL) + 4
    for what, body in {
            "hex with 0x": f"0x0\r\n\r\n{EVIL}", "plus": f"+0\r\n\r\n{EVIL}",
            "minus": f"-0\r\n\r\n{EVIL}", "nothing": f"\r\n\r\n{EVIL}",
            "a blank in front": f" 0\r\n\r\n{EVIL}",
            "an underscore": f"0_0\r\n\r\n{EVIL}",
            "a letter": f"g\r\n\r\n{EVIL}", "a point": f"0.0\r\n\r\n{EVIL}",
            "2^64": f"10000000000000000\r\n\r\n{EVIL}",
            "2^64 + 3": f"10000000000000003\r\nabc\r\n0\r\n\r\n{EVIL}",
            "2^32 zeros in front": "0" * 5000 + f"3\r\nabc\r\n0\r\n\r\n{EVIL}",
            "LF behind the size": f"0\n\r\n{EVIL}",
            "LF LF behind the size": f"0\n\n{EVIL}",
            "CR CR LF": f"0\r\r\n\r\n{EVIL}",
            "LF behind a chunk": f"3\r\nabc\n0\r\n\r\n{EVIL}",
            "nothing behind a chunk": f"3\r\nabc0\r\n\r\n{EVIL}",
            "two bytes that are no line end": f"3\r\nabcXX{n:x}\r\n{EVIL}",
            "longer than it says": f"3\r\nabcdef\r\n0\r\n\r\n{EVIL}",
            "a NUL behind the size": f"0\0\r\n\r\n{EVIL}",
            "a tab behind the size": f"0\t\r\n\r\n{EVIL}",
            "bytes over 127": f"\u0660\r\n\r\n{EVIL}"}.items():
        yield what, 0, chunks(body)


def extensions():
    """Chunk extensions and trailers that hide a line."""
    for what, most, body in [
            ("LF in one", 0, f"3;a\nabc\r\n0\r\n\r\n{EVIL}"),
            ("CR in one", 0, f"3;a\rb\r\nabc\r\n0\r\n\r\n{EVIL}"),
            ("NUL in one", 0, f"3;\0\r\nabc\r\n0\r\n\r\n{EVIL}"),
            ("LF in the last", 0, f"0;\n\r\n{EVIL}"),
            ("a size in one (TERM.EXT)", 0, f"2;\nxx\r\n4e\r\n0\r\n\r\n{EVIL}"),
            ("one of 100 kB", 0,
             "3;" + "a" * 100000 + f"\r\nabc\r\n0\r\n\r\n{EVIL}"),
            ("a trailer that is a length", 1, "0\r\nContent-Length: 100\r\n\r\n"),
            ("a trailer that is an encoding", 1, "0\r\n" + CHUNKED + "\r\n"),
            ("a trailer that is a host", 1, "0\r\nHost: evil.example\r\n\r\n"),
            ("a folded trailer", 0, f"0\r\nX: a\r\n b\r\n\r\n{EVIL}"),
            ("LF behind a trailer", 0, f"0\r\nX: a\n\r\n{EVIL}"),
            ("LF for an end", 0, f"0\r\nX: a\r\n\n{EVIL}"),
            ("a trailer without a colon", 0, f"0\r\nX\r\n\r\n{EVIL}"),
            ("trailers without end", 0, "0\r\n" + "X: y\r\n" * 50000)]:
        yield what, most, chunks(body)


def lines():
    """Line ends, blanks and bytes that are none of a head."""
    for what, most, data in [
            ("LF throughout", 0, (POST + LENGTH % 0 + "\r\n").replace(
                "\r\n", "\n") + EVIL),
            ("LF behind the request line", 0, POST.replace("\r\n", "\n", 1) +
             "\r\n" + EVIL),
            ("LF behind the last field", 0, GET + "X: y\n\r\n" + EVIL),
            ("LF for the end", 0, GET + "X: y\r\n\n" + EVIL),
            ("CR for the end", 0, GET + "X: y\r\r" + EVIL),
            ("LF LF in a value", 0, GET + "X: y\n\n" + EVIL),
            ("CR in a value", 0, GET + f"X: y\r\r{EVIL}"),
            ("a folded length", 0, POST + f"Content-Length:\r\n {len(EVIL)}\r\n"
             "\r\n" + EVIL),
            ("a length that is folded into", 0, POST + "X: y\r\n " +
             LENGTH % len(EVIL) + "\r\n" + EVIL),
            ("a folded first line", 0, "GET {P} HTTP/1.1\r\n Host: x\r\n\r\n" +
             EVIL),
            ("a space before the colon", 0, POST + "Content-Length : 0\r\n\r\n" +
             EVIL),
            ("a NUL in a value", 0, GET + "X: a\0b\r\n\r\n" + EVIL),
            ("a NUL in a name", 0, GET + "X\0: b\r\n\r\n" + EVIL),
            ("an empty name", 0, GET + ": b\r\n\r\n" + EVIL),
            ("a name with a slash", 0, GET + "a/b: c\r\n\r\n" + EVIL),
            ("a name with a parenthesis", 0, GET + "a(b: c\r\n\r\n" + EVIL),
            ("a line without a colon", 0, GET + "garbage\r\n\r\n" + EVIL),
            ("a blank line of a blank", 0, GET + " \r\n\r\n" + EVIL),
            ("two blanks in the first line", 0, GET.replace(" ", "  ", 1) +
             "\r\n" + EVIL),
            ("a tab in the first line", 0, GET.replace(" ", "\t", 1) + "\r\n" +
             EVIL),
            ("a blank behind the version", 0, GET.replace("1.1", "1.1 ", 1) +
             "\r\n" + EVIL),
            ("no version", 0, "GET {P}\r\n\r\n" + EVIL),
            ("HTTP/0.9", 0, GET.replace("1.1", "0.9") + "\r\n" + EVIL),
            ("HTTP/1.2", 1, GET.replace("1.1", "1.2") + "\r\n"),
            ("HTTP/2.0", 0, GET.replace("1.1", "2.0") + "\r\n" + EVIL),
            ("HTTP/01.1", 0, GET.replace("1.1", "01.1") + "\r\n" + EVIL),
            ("small letters", 0, GET.replace("HTTP", "http") + "\r\n" + EVIL),
            ("a NUL in the path", 0, "GET {P}\0 HTTP/1.1\r\nHost: x\r\n\r\n" +
             EVIL),
            ("a space in the path", 0, "GET {P} x HTTP/1.1\r\nHost: x\r\n\r\n" +
             EVIL),
            ("a method with a colon", 0, "A:B {P} HTTP/1.1\r\nHost: x\r\n\r\n" +
             EVIL)]:
        yield what, most, data


def targets():
    """Hosts that disagree, and ways past the routes."""
    for what, most, data in [
            ("two hosts", 0, GET + "Host: evil.example\r\n\r\n" + EVIL),
            ("no host", 0, "GET {P} HTTP/1.1\r\n\r\n" + EVIL),
            ("a list of hosts", 0, "GET {P} HTTP/1.1\r\nHost: a, b\r\n\r\n" +
             EVIL),
            ("a host with a path", 0, "GET {P} HTTP/1.1\r\nHost: a/b\r\n\r\n" +
             EVIL),
            ("a host with an @", 0, "GET {P} HTTP/1.1\r\nHost: a@b\r\n\r\n" +
             EVIL),
            ("a host with a bad port", 0,
             "GET {P} HTTP/1.1\r\nHost: a:b\r\n\r\n" + EVIL),
            ("absolute, another host", 1, "GET http://evil.example{P} HTTP/1.1\r\n"
             "Host: x.example\r\n\r\n"),
            ("absolute, with a user", 0, "GET http://x@evil.example{P} HTTP/1.1"
             "\r\nHost: x.example\r\n\r\n" + EVIL),
            ("absolute, no host", 0, "GET http://{P} HTTP/1.1\r\nHost: x\r\n\r\n" +
             EVIL),
            ("another scheme", 0, "GET ftp://x{P} HTTP/1.1\r\nHost: x\r\n\r\n" +
             EVIL),
            ("a path without a slash", 0, "GET x{P} HTTP/1.1\r\nHost: x\r\n\r\n" +
             EVIL),
            ("a fragment", 0, "GET {P}#{E} HTTP/1.1\r\nHost: x\r\n\r\n" + EVIL),
            ("CONNECT", 0, "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n" + EVIL),
            ("CONNECT with a path", 0, "CONNECT {P} HTTP/1.1\r\nHost: x\r\n\r\n" +
             EVIL),
            ("a star that is no OPTIONS", 0, "GET * HTTP/1.1\r\nHost: x\r\n\r\n" +
             EVIL),
            ("h2c", 1, GET + "Connection: Upgrade, HTTP2-Settings\r\n"
             "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n"
             "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + EVIL),
            ("HTTP/2 without a word", 0, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
             EVIL),
            ("an upgrade with a body", 1, POST + "Connection: Upgrade\r\n"
             "Upgrade: websocket\r\n" + LENGTH % len(EVIL) + "\r\n" + EVIL)]:
        yield what, most, data


def tails():
    """Requests in one piece that are what they seem, and no more."""
    n = len(EVIL)
    for what, most, data in [
            ("a request in a body", 1, POST + LENGTH % n + "\r\n" + EVIL),
            ("a request in a chunk", 1, chunks(f"{n:x}\r\n{EVIL}\r\n{END}")),
            ("a request in a GET's body", 1, GET + LENGTH % n + "\r\n" + EVIL),
            ("a request in a HEAD's body", 1, "HEAD" + GET[3:] + LENGTH % n +
             "\r\n" + EVIL),
            ("a request in many chunks", 1, chunks("".join(
                f"1\r\n{c}\r\n" for c in EVIL.replace("{E}", "/ev")) + END)),
            ("half a request in a body", 1, POST + LENGTH % 25 + "\r\n" +
             "GET {E} HTTP/1.1\r\nX: aaaa"),
            ("a body and half a request", 1, POST + LENGTH % 3 + "\r\nabc" +
             EVIL[:-2]),
            ("two requests", 2, GET + "\r\n" + GET + "\r\n"),
            ("behind Connection: close", 1, GET + "Connection: close\r\n\r\n" +
             EVIL),
            ("behind HTTP/1.0", 1, GET.replace("1.1", "1.0") + "\r\n" + EVIL),
            ("Expect, and the body at once", 1, POST +
             "Expect: 100-continue\r\n" + LENGTH % n + "\r\n" + EVIL),
            ("Expect what nobody knows", 1, POST + "Expect: wonders\r\n" +
             LENGTH % n + "\r\n" + EVIL),
            ("Connection names the length", 1, POST +
             "Connection: Content-Length\r\n" + LENGTH % n + "\r\n" + EVIL),
            ("Connection names chunks", 1, POST +
             "Connection: Transfer-Encoding\r\n" + CHUNKED +
             f"\r\n{n:x}\r\n{EVIL}\r\n{END}"),
            ("a short body", 0, POST + LENGTH % (n + 1) + "\r\n" + EVIL),
            ("chunks that never end", 0, chunks(f"{n:x}\r\n{EVIL}\r\n"))]:
        yield what, most, data


TRICKS = (lengths, length_and_chunks, obfuscated, chunk_sizes, extensions, lines,
          targets, tails)
