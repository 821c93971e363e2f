#!/usr/bin/env python3
"""Turns the built dashboard into C: scripts/embed.py PAGE.html OUT.c

The content security policy is made here as well. It names the hash of each script
and style in the page, so that these run and nothing else does; a page that would
load something from elsewhere is refused."""
import base64
import hashlib
import re
import sys


def hashes(page, tag):
    """What CSP calls the inline elements of this kind."""
    found = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", page, re.S)
    if not found:
        sys.exit(f"{sys.argv[1]}: no <{tag}> in it: was it built by `npm run build`?")
    return " ".join("'sha256-" + base64.b64encode(
        hashlib.sha256(text.encode()).digest()).decode() + "'" for text in found)


def check(page):
    outside = re.search(r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=(?!"data:)\S*""",
                        page)
    if outside:
        sys.exit(f"{sys.argv[1]}: loads something: {outside.group(0)}")


def c_bytes(data):
    for at in range(0, len(data), 24):
        yield "    " + "".join(f"{b}," for b in data[at:at + 24])


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        page = f.read()
    check(page)
    policy = "; ".join([
        "default-src 'none'",
        f"script-src {hashes(page, 'script')}",
        f"style-src {hashes(page, 'style')}",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ])
    data = page.encode()
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        print("/* Made by scripts/embed.py of web/dist/index.html. */", file=out)
        print('#include "page.h"\n', file=out)
        print("const char bide__page[] = {", file=out)
        for line in c_bytes(data):  # as char: those over 127 are negative
            print(re.sub(r"\b(1[3-9]\d|12[89]|2\d\d)\b",
                         lambda m: str(int(m.group()) - 256), line), file=out)
        print("    0\n};", file=out)
        print(f"const size_t bide__page_len = {len(data)};", file=out)
        print("const char bide__page_headers[] =", file=out)
        print(f'    "Content-Security-Policy: {policy}\\r\\n"', file=out)
        print('    "X-Frame-Options: DENY\\r\\n"', file=out)
        print('    "Permissions-Policy: camera=(), geolocation=(), microphone=()\\r\\n"', file=out)
        print('    "Cross-Origin-Opener-Policy: same-origin\\r\\n";', file=out)


main()
