#!/usr/bin/env python3
"""checked.py BIDE: whatever `bide import` writes passes `bide check`: without a
mistake, and without options that do nothing, routes that are never reached,
upstreams that are never used. What remains are warnings about what the source
itself says (no deadline, no budget, no breaker)."""
import json
import os
import subprocess
import sys

import tap

BIDE = os.path.abspath(sys.argv[1])
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
SOURCES = {
    "grpc": ["service.json", "hedge.json"],
    "istio": ["mesh.yaml", "list.yaml", "nowhere.yaml"],
    "envoy": ["envoy.yaml"],
}
PRESETS = ["service", "patient", "sre", "aws-standard", "aws-2026", "grpc", "envoy",
           "finagle"]
OURS = {"L015", "L016", "L017", "L021"}  # what an importer could have avoided


def run(*arguments, stdin=""):
    return subprocess.run([BIDE, *arguments], input=stdin, text=True,
                          capture_output=True)


def passes(name, written):
    found = run("check", "--json", "-", stdin=written)
    try:
        findings = json.loads(found.stdout)
    except ValueError:
        findings = None
    findings = findings and findings["findings"]
    bad = [f for f in findings or []
           if f["severity"] == "mistake" or f["code"] in OURS]
    for f in bad:
        print("#", f["code"], f["message"])
    tap.case(name, findings is not None and found.returncode in (0, 1) and not bad)


for system, files in SOURCES.items():
    for file in files:
        read = run("import", "--from", system, os.path.join(DATA, file))
        tap.case(f"{file} is read", read.returncode == 0)
        passes(f"what becomes of {file} passes", read.stdout)
for system in SOURCES:
    for preset in PRESETS:
        there = run("export", "--to", system, "--preset", preset, "--host", "h").stdout
        back = run("import", "--from", system, "-", stdin=there)
        passes(f"{preset} by way of {system} passes", back.stdout)
tap.finish()
