#!/usr/bin/env python3
"""policy_man.py BIDE: writes the options into man/bide-policy.5.scd.

They come from `bide check --reference`, so from the one table in lib/options.c:
each option that the reference lists gets its paragraph, in the reference's order.
What stands before the first and behind the last of them stays as it is."""
import os
import re
import subprocess
import sys
import textwrap

MAN = os.path.join(os.path.dirname(__file__), "..", "man", "bide-policy.5.scd")
ROW = re.compile(r"^\| `([a-z_.]+)` \| \w+ \| `([^`]*)` \| (.*?) \| (.*?) \|$")
BLOCK = re.compile(r"^\*[a-z_.]+\*\n(?:\t.*\n)+\n?", re.M)


def emphasized(text):
    """`code` as scdoc has it inside a paragraph."""
    return re.sub(r"`([^`]*)`", lambda m: f"_{m[1].replace('_', chr(92) + '_')}_",
                  text)


def paragraph(key, default, takes, text):
    line = emphasized(f"{text} Expected: {takes}. Default: {default}.")
    body = textwrap.wrap(line, 76, break_long_words=False, break_on_hyphens=False)
    return f"*{key}*\n" + "".join(f"\t{part}\n" for part in body) + "\n"


def main():
    bide = sys.argv[1]
    page = subprocess.run([bide, "check", "--reference"], check=True,
                          capture_output=True, text=True).stdout
    page = page.split("\n## Options\n")[1].split("\n## ")[0]
    rows = [m.groups() for m in map(ROW.match, page.splitlines()) if m]
    with open(MAN, encoding="utf-8") as f:
        man = f.read()
    section = man.index("\n# OPTIONS\n")
    ours = list(BLOCK.finditer(man, section, man.index("\n# ", section + 3)))
    new = "".join(paragraph(*row) for row in rows)
    man = man[:ours[0].start()] + new + man[ours[-1].end():]
    with open(MAN, "w", encoding="utf-8") as f:
        f.write(man)


if __name__ == "__main__":
    main()
