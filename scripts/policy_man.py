#!/usr/bin/env python3
"""policy_man.py BIDE: writes presets, options and the keys of the programs' sections into
man/bide-policy.5.scd.

They come from `bide check --reference`, so from the tables in lib/options.c,
lib/preset.c and config/: each option that the reference lists gets its
paragraph, in the reference's order. The rest of the page stays as it is."""
import os
import re
import subprocess
import sys
import textwrap

MAN = os.path.join(os.path.dirname(__file__), "..", "man", "bide-policy.5.scd")
ROW = re.compile(r"^\| `([a-z_.]+)` \| \w+ \| `([^`]*)` \| (.*?) \| (.*?) \|$")
KEY_ROW = re.compile(r"^\| `([a-z_0-9]+)` \| \w+ \| ([^|]*?) ?\| (.*?) \| (.*?) \|$")
BLOCK = re.compile(r"^\*[a-z_.]+\*\n(?:\t.*\n)+\n?", re.M)


def emphasized(text):
    """`code` as scdoc has it inside a paragraph."""
    return re.sub(r"`([^`]*)`", lambda m: f"_{m[1].replace('_', chr(92) + '_')}_",
                  text)


def paragraph(key, default, takes, text):
    line = emphasized(f"{text} Expected: {takes}. Default: {default}.")
    body = textwrap.wrap(line, 76, break_long_words=False, break_on_hyphens=False)
    return f"*{key}*\n" + "".join(f"\t{part}\n" for part in body) + "\n"


def escaped(text):
    """Text of the reference as scdoc takes it: code in italics, signs as they are."""
    text = re.sub(r"\\\|", "|", text)
    parts = re.split(r"`([^`]*)`", text)
    return "".join(re.sub(r"([\\*_])", r"\\\1", part) if i % 2 == 0 else
                   "_" + re.sub(r"([\\*_])", r"\\\1", part) + "_"
                   for i, part in enumerate(parts))


def filled(text, indent="\t"):
    body = textwrap.wrap(text, 78, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{indent}{part}\n" for part in body)


def presets(page):
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \|$",
                      page.split("\n## Presets\n")[1].split("\n## ")[0], re.M)
    return "".join(f"*{name}*\n{filled(escaped(text))}\n" for name, text in rows)


ABOUT = {
    "store": "Which operations were done, for _idempotency_ of a route: a URL, or these "
             "keys. docs/store.md describes it.",
    "fleet": "One budget and one breaker picture for all instances. docs/fleet.md "
             "describes it.",
    "proxy": "Keys of a list are written with _[]_, and NAME stands for a name "
             "of your own. docs/proxy.md describes what the sidecar does.",
    "worker": "What *bide-worker*(1) does with _-c_, and where *bide-enqueue*(1) puts "
              "messages. Flags go before it. A file with this section needs no "
              "_policies_.",
}


def keys(page, top):
    """A paragraph for each key, under the name that it has from the top."""
    out = filled(ABOUT[top], "")
    sections = re.findall(rf"^### `({top}[^`]*)`\n(.*?)(?=^##)", page + "\n##",
                          re.S | re.M)
    for name, body in sections:
        for line in body.splitlines():
            m = KEY_ROW.match(line)
            if not m or m[3] == "see below":
                continue
            key, default, takes, text = m.groups()
            default = re.sub(r"^`([^`]*)`$", r"\1", default)
            end = " Required." if default == "required" else \
                f" Default: {escaped(default)}." if default else ""
            label = escaped(f"{name}.{key}")
            out += f"\n*{label}*\n" + filled(
                f"{escaped(text)} Expected: {escaped(takes)}.{end}")
    return out + "\n"


def section(man, title, text):
    """The page with the body of a section replaced."""
    start = man.index(f"\n# {title}\n") + len(title) + 5
    return man[:start] + text + man[man.index("\n# ", start) + 1:]


def main():
    bide = sys.argv[1]
    page = subprocess.run([bide, "check", "--reference"], check=True,
                          capture_output=True, text=True).stdout
    options = page.split("\n## Options\n")[1].split("\n## ")[0]
    rows = [m.groups() for m in map(ROW.match, options.splitlines()) if m]
    with open(MAN, encoding="utf-8") as f:
        man = f.read()
    man = section(man, "PRESETS", presets(page))
    for top in ABOUT:
        man = section(man, top.upper(), keys(page, top))
    at = man.index("\n# OPTIONS\n")
    ours = list(BLOCK.finditer(man, at, man.index("\n# ", at + 3)))
    new = "".join(paragraph(*row) for row in rows)
    man = man[:ours[0].start()] + new + man[ours[-1].end():]
    with open(MAN, "w", encoding="utf-8") as f:
        f.write(man)


if __name__ == "__main__":
    main()
