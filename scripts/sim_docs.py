#!/usr/bin/env python3
"""What docs/simulator.md and docs/scenarios.md quote is what bide prints.

    sim_docs.py BIDE            writes the quoted output and the pictures anew
    sim_docs.py BIDE --check    says what is out of date (exit 1)

A block to be filled stands behind a marker; the words after the colon are the
rows of the table that are kept, none keep all lines:

    <!-- bide sim metastable: success recovers -->
    ```
    $ bide sim metastable
    ...
    ```

Blocks of YAML that begin with `version: 1` must pass `bide check`. Pictures are
those of scripts/pictures.sh: docs/pictures/NAME.svg for every scenario.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ["docs/simulator.md", "docs/scenarios.md", "man/bide-scenario.5.scd"]
BLOCK = re.compile(r"<!-- (bide sim[^:\n]*?)(?:: ([^\n]*?))? -->\n```\n.*?\n```\n",
                   re.S)
YAML = re.compile(r"```(?:yaml)?\n(version: 1\n.*?)```\n", re.S)


def run(bide, args):
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return subprocess.run([bide] + args, capture_output=True, text=True, env=env,
                          stdin=subprocess.DEVNULL)


def kept(text, rows):
    """The head of the table and those of its rows; the rest is left out."""
    lines = []
    for block in text.split("\n\n"):
        head, *body = block.split("\n")
        if not head.startswith("   ") or not body:
            continue
        # Rows of a fleet or a service are indented under its name.
        chosen = [l for l in body if l.split() and l[0] != " " and
                  l.split()[0] in rows]
        lines += ([""] if lines else []) + [head] + chosen
    return "\n".join(lines)


class Docs:
    def __init__(self, bide, check, tmp):
        self.bide, self.check, self.tmp, self.stale = bide, check, tmp, 0

    def made(self, name):
        return os.path.join(self.tmp, name + ".svg")

    def update(self, path, text, what):
        full = os.path.join(ROOT, path)
        old = open(full).read() if os.path.exists(full) else None
        if old == text:
            return
        if not self.check:
            with open(full, "w") as f:
                f.write(text)
            return
        print(f"{what} is out of date: scripts/sim_docs.py writes it anew")
        self.stale += 1

    def block(self, match):
        command, rows = match.group(1), match.group(2)
        args = shlex.split(command)[1:] + ["--no-progress"]
        if len(args) == 3:  # a whole scenario: its picture on the way
            args += ["--svg", self.made(args[1])]
        p = run(self.bide, args)
        if p.returncode not in (0, 1):
            sys.exit(f"{command}: {p.stderr}")
        out = kept(p.stdout, rows.split()) if rows else p.stdout.rstrip()
        out = "\n".join(l.rstrip() for l in out.split("\n"))
        colon = f": {rows}" if rows else ""
        return f"<!-- {command}{colon} -->\n```\n$ {command}\n{out}\n```\n"

    def page(self, path):
        text = open(os.path.join(ROOT, path)).read()
        self.update(path, BLOCK.sub(self.block, text), path)
        for yaml in YAML.findall(text):
            p = subprocess.run([self.bide, "check", "-"], input=yaml, text=True,
                               capture_output=True)
            if p.returncode:
                print(f"{path}: {p.stderr}{p.stdout}")
                self.stale += 1

    def pictures(self):
        for file in sorted(os.listdir(os.path.join(ROOT, "sim/scenario/builtin"))):
            name = file.replace(".yaml", "")
            if not os.path.exists(self.made(name)):
                sys.exit(f"no page shows `bide sim {name}`")
            path = f"docs/pictures/{name}.svg"
            self.update(path, open(self.made(name)).read(), path)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        docs = Docs(os.path.abspath(sys.argv[1]), "--check" in sys.argv[2:], tmp)
        for page in PAGES:
            docs.page(page)
        docs.pictures()
    return 1 if docs.stale else 0


if __name__ == "__main__":
    sys.exit(main())
