#!/usr/bin/env python3
"""Every source file begins with a comment that says what it is for; where that names
the file, or any comment another one of ours, there is a file of that name."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ["include", "lib", "run", "curl", "base", "config", "store", "net", "observe", "proxy",
         "queue", "replay", "sim", "cmd", "test", "fuzz", "bench", "examples"]
OPENING = re.compile(r"/\*[\s*]*((?:[\w-]+/)*\w+\.[ch]:)?(.*?)\*/", re.S)
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(/\*.*?\*/|//[^\n]*)', re.S)
NAMED = re.compile(r"(?<![\w<./*-])(?:[\w-]+/)*[a-z0-9_]+\.[ch]\b")


def endings(paths):
    """All that a path may be called by: net/buf.c, buf.c."""
    return {"/".join(p.parts[i:]) for p in paths for i in range(len(p.parts))}


def generated():
    """Files that only the build makes."""
    text = "".join(p.read_text() for p in ROOT.glob("*/meson.build"))
    return set(re.findall(r"'(\w+\.[ch])'", text))


def mistakes(path, text, known):
    opening = OPENING.match(text)
    if not opening or len(opening[2].split()) < 3 or "clang-format" in opening[2]:
        yield 1, "does not begin with a comment that says what it is for"
    elif opening[1] and opening[1][:-1] not in endings([path]):
        yield 1, f"calls itself {opening[1][:-1]}"
    for comment in COMMENT.finditer(text):
        for name in NAMED.finditer(comment[1] or ""):
            if name[0] not in known:
                line = text.count("\n", 0, comment.start(1) + name.start()) + 1
                yield line, f"there is no {name[0]}"


def main():
    paths = [p.relative_to(ROOT) for room in ROOMS for p in (ROOT / room).rglob("*.[ch]")]
    known = endings(paths) | generated()
    found = [f"{path}:{line}: {what}" for path in sorted(paths)
             for line, what in mistakes(path, (ROOT / path).read_text(), known)]
    print("\n".join(found + [f"{len(paths)} files, {len(found)} mistakes"]))
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
