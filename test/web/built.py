#!/usr/bin/env python3
"""The page in the tree is what its sources make: test/web/built.py"""
import os
import re
import subprocess
import tempfile

import npm
from tap import case, finish

HERE = os.path.dirname(os.path.abspath(__file__))
WEB = os.path.abspath(os.path.join(HERE, "..", "..", "web"))


def run(*command):
    p = subprocess.run(["npx", "--no-install", *command], cwd=WEB,
                       capture_output=True, timeout=200, check=False)
    return p.returncode == 0, (p.stdout + p.stderr).decode()


npm.install(WEB, "vite")
case("the types are right", *run("tsc", "--noEmit"))
with tempfile.TemporaryDirectory() as out:
    case("it builds", *run("vite", "build", "--outDir", out, "--emptyOutDir"))
    files = os.listdir(out)
    case("into one file", files == ["index.html"], files)
    with open(os.path.join(out, "index.html"), "rb") as f:
        built = f.read()
with open(os.path.join(WEB, "dist", "index.html"), "rb") as f:
    kept = f.read()
case("which is the one in the tree", built == kept,
     f"{len(built)} bytes were built, {len(kept)} are in web/dist: "
     "run `npm run build` in web/ and commit it")
with open(os.path.join(WEB, "src", "words.ts"), encoding="utf-8") as f:
    words = f.read()
with open(os.path.join(WEB, "..", "include", "bide", "call.h"), encoding="utf-8") as f:
    reasons = re.findall(r'X\(BIDE_BECAUSE_\w+,\s*"(\w+)"', f.read())
missing = [r for r in reasons if not re.search(rf"^  {r}: {{", words, re.M)]
case("the page has words for every reason of the engine",
     len(reasons) > 20 and not missing, missing)
finish()
