#!/usr/bin/env python3
"""Every manual page comes out of groff without a warning and without losing a word.

A line that begins with an apostrophe or a dot is a request to troff: it is dropped
without a sound. So the words of each source, with the markup of scdoc taken off, are
looked for in the page as a terminal shows it. Needs scdoc and groff. (Section 3 is
checked by man3.sh.)"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Lines end where they end: no hyphens in words.
GROFF = ["groff", "-ww", "-t", "-Kutf8", "-Tutf8", "-mandoc", "-rLL=2000n",
         "-rHY=0", "-P-cbou"]


def words(text):
    return collections.Counter(re.findall(r"[A-Za-z0-9]+", text))


def plain(source):
    """A source of scdoc without the signs that are markup."""
    lines = [line for line in source.splitlines()[1:] if not line.startswith(";")]
    return re.sub(r"\\(.)", r"\1", "\n".join(lines))


def shown(page):
    """(the page as a terminal shows it, what groff has to say)"""
    p = subprocess.run(GROFF, input=page, capture_output=True, check=False)
    return p.stdout.decode(), p.stderr.decode()


def rendered(path):
    with open(path, "rb") as source:
        p = subprocess.run(["scdoc"], stdin=source, capture_output=True, check=False)
    return p.stdout, p.stderr.decode()


def check_scdoc(path):
    page, complaint = rendered(path)
    text, warnings = shown(page)
    lost = words(plain(path.read_text())) - words(text)
    if complaint or warnings:
        yield f"{path.name}: {complaint}{warnings}"
    if lost:
        yield f"{path.name}: lost in the page: {' '.join(sorted(lost))}"


def self_test():
    """The test can fail: a line like the one that bide-sim(1) once lost is found."""
    with tempfile.NamedTemporaryFile("w", suffix=".scd") as f:
        f.write("x(1)\n\n# NAME\n\nx - y\n\n\tfirst++\n'with bide'.success\n")
        f.flush()
        if not list(check_scdoc(pathlib.Path(f.name))):
            yield "a lost line was not found"


def main():
    missing = [tool for tool in ("scdoc", "groff") if not shutil.which(tool)]
    if missing:
        print("skipped: there is no " + ", no ".join(missing))
        return 77
    sources = sorted((ROOT / "man").glob("*.scd"))
    found = list(self_test())
    for path in sources:
        found += check_scdoc(path)
    print("\n".join(found + [f"{len(sources)} pages, {len(found)} findings"]))
    return 1 if found or len(sources) < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
