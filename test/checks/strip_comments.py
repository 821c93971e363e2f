#!/usr/bin/env python3
"""Print C files as `path:line:text` without comments and string contents.

The checks grep for words; a word in a comment or a message is not a use."""
import re
import sys

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def blank(match):
    text = match.group(0)
    if text[0] in "\"'":
        return text[0] * 2
    return " " + "\n" * text.count("\n")


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
        source = f.read()
    # An include names its header in quotes: keep those lines whole.
    lines = TOKEN.sub(blank, source).split("\n")
    for number, (raw, text) in enumerate(zip(source.split("\n"), lines), 1):
        if re.match(r"\s*#\s*include\b", raw):
            text = raw
        print(f"{path}:{number}:{text}")
