#!/usr/bin/env python3
"""embed_page.py page.css page.js: the style and the script of the simulator's
report as C on standard output, and the script's hash, which the page's content
policy names: no other script runs in it."""
import base64
import hashlib
import sys


def array(name, data):
    """Numbers, not a string: C promises room for 4095 characters only."""
    print(f"const char {name}[] = {{")
    data += b"\0"
    for i in range(0, len(data), 20):
        print("    " + " ".join(f"{b}," for b in data[i : i + 20]))
    print("};\n")


def main():
    style, script = (open(name, "rb").read() for name in sys.argv[1:3])
    for text in (style, script):
        text.decode("ascii")  # a char may be signed
        assert b"</" not in text, "it would end the element that it stands in"
    digest = base64.b64encode(hashlib.sha256(script).digest())
    print("/* Made by scripts/embed_page.py. */")
    print('#include "page_parts.h"\n')
    array("page_style", style)
    array("page_script", script)
    array("page_script_hash", b"sha256-" + digest)


main()
