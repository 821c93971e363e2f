#!/usr/bin/env python3
"""The commands that README.md shows work as they stand, and in the files that the
other pages show `bide check` finds nothing: readme.py BIDE"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import tap

ROOT = os.path.dirname(os.path.dirname(tap.HERE))
BIN = os.path.dirname(os.path.abspath(sys.argv[1]))
SECTIONS = ["Try it", "Policy files and commands"]


def commands(text, section):
    """The lines of its first block that run `bide`, without their comments."""
    block = text.split(f"\n## {section}\n")[1].split("```\n")[1]
    return [re.sub(r"\s+# .*", "", line) for line in block.splitlines()
            if line.startswith("bide ")]


def files(text):
    """Whole files among the blocks of a page."""
    return [block for block in re.findall(r"^```\w*\n(.*?)^```", text, re.S | re.M)
            if block.startswith("version:")]


def read(path):
    with open(path, encoding="utf-8") as page:
        return page.read()


readme = read(os.path.join(ROOT, "README.md"))
with tempfile.TemporaryDirectory() as folder:
    os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
    env = tap.environment(PATH=BIN + ":" + os.environ["PATH"])
    for section in SECTIONS:
        found = commands(readme, section)
        tap.case(f"{section}: there are commands", found)
        for command in found:
            p = subprocess.run(["sh", "-c", command], cwd=folder, env=env,
                               stdin=subprocess.DEVNULL, capture_output=True,
                               check=False)
            # 1 is "no": `bide explain` stops. 2 would be a mistake.
            no = command.startswith("bide explain") and p.returncode == 1
            tap.case(command, p.returncode == 0 or no, p.stderr.decode())

shown = 0
for path in sorted(glob.glob(ROOT + "/docs/*.md") + glob.glob(ROOT + "/man/*.scd")):
    for text in files(read(path)):
        p = subprocess.run([os.path.join(BIN, "bide"), "check", "-"],
                           input=text.encode(), capture_output=True, check=False)
        tap.case(f"a file in {os.path.relpath(path, ROOT)}", p.returncode == 0,
                 (p.stdout + p.stderr).decode())
        shown += 1
tap.case("pages show files", shown > 3)
tap.finish()
