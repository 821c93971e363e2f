#!/usr/bin/env python3
"""Writes files as C, for a program to carry in itself, to standard output:

    embed.py dashboard INDEX.html       observe/admin/page.h
    embed.py report PAGE.css PAGE.js    sim/report/parts.h
    embed.py scenarios FILE.yaml...     sim/scenario/builtin_table.h
    embed.py schema SCHEMA.sql          store/postgresql/schema.h
    embed.py text HEADER NAME FILE      any text, as NAME of HEADER

Of a page's scripts it also says the hash, which the page's content security policy
names: no other script runs in it."""
import base64
import hashlib
import os
import re
import sys


def array(name, data, storage=""):
    """Numbers, not a string: C promises room for 4095 characters only. A byte over
    127 is written as a character, whose sign is that of the compiler's char."""
    print(f"{storage}const char {name}[] = {{")
    for at in range(0, len(data), 20):
        print("    " + "".join(f"{b}," if b < 128 else f"'\\{b:o}',"
                               for b in data[at:at + 20]))
    print("    0\n};\n")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def digest(text):
    """What a content security policy calls it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text).digest()).decode()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def hashes(path, page, tag):
    found = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>".encode(), page, re.S)
    if not found:
        sys.exit(f"{path}: no <{tag}> in it: was it built by `npm run build`?")
    return " ".join(f"'{digest(text)}'" for text in found)


def dashboard(path):
    page = read(path)
    outside = re.search(
        rb"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=(?!"data:)\S*""", page)
    if outside:
        sys.exit(f"{path}: loads something: {outside.group(0).decode()}")
    policy = "; ".join([
        "default-src 'none'",
        f"script-src {hashes(path, page, 'script')}",
        f"style-src {hashes(path, page, 'style')}",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ])
    headers = [
        f"Content-Security-Policy: {policy}",
        "X-Frame-Options: DENY",
        "Permissions-Policy: camera=(), geolocation=(), microphone=()",
        "Cross-Origin-Opener-Policy: same-origin",
    ]
    print('#include "observe/admin/page.h"\n')
    array("bide__page", page)
    print("const size_t bide__page_len = sizeof bide__page - 1;\n")
    array("bide__page_headers", "".join(h + "\r\n" for h in headers).encode())


def report(*paths):
    style, script = (read(path) for path in paths)
    for path, text in zip(paths, (style, script)):
        if b"</" in text:
            sys.exit(f"{path}: `</` would end the element that it stands in")
    print('#include "sim/report/parts.h"\n')
    array("page_style", style)
    array("page_script", script)
    array("page_script_hash", digest(script).encode())


def scenarios(*paths):
    """A scenario has its file's name; its sentence is the first line, a comment."""
    texts = [read(path) for path in paths]
    print('#include "sim/scenario/builtin_table.h"\n')
    for i, text in enumerate(texts):
        array(f"text_{i}", text, "static ")
    print("const struct sim_builtin sim_builtin_table[] = {")
    for i, (path, text) in enumerate(zip(paths, texts)):
        name = os.path.basename(path).removesuffix(".yaml")
        sentence = text.decode().splitlines()[0].removeprefix("#").strip()
        print(f"    {{ {quoted(name)}, {quoted(sentence)},\n"
              f"      text_{i}, sizeof text_{i} - 1 }},")
    print(f"}};\n\nconst size_t sim_builtin_count = {len(paths)};")


def schema(path):
    print('#include "store/postgresql/schema.h"\n')
    array("pg_store_schema", read(path))


def text(header, name, path):
    print(f'#include "{header}"\n')
    array(name, read(path))


KINDS = {"dashboard": dashboard, "report": report, "scenarios": scenarios,
         "schema": schema, "text": text}

if len(sys.argv) < 3 or sys.argv[1] not in KINDS:
    sys.exit(__doc__)
print("/* Made by scripts/embed.py. */")
KINDS[sys.argv[1]](*sys.argv[2:])
