#!/usr/bin/env python3
"""promtool takes the metrics, the alerts and their tests; what the page of
documentation, the alerts and the dashboard name is there, and all that is there is
on the page: test/observe/prometheus.py TOOL"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from tap import case, finish  # noqa: E402

TOOL = os.path.abspath(sys.argv[1])
DOCS = os.path.join(HERE, "..", "..", "docs")


def read(*path):
    with open(os.path.join(DOCS, *path), encoding="utf-8") as f:
        return f.read()


def promtool(*args, **more):
    p = subprocess.run(["promtool", *args], capture_output=True, timeout=60,
                       cwd=os.path.join(DOCS, "prometheus"), **more)
    return p.returncode == 0, (p.stdout + p.stderr).decode()


metrics = subprocess.run([TOOL, "metrics"], capture_output=True, timeout=60).stdout
ok, said = promtool("check", "metrics", input=metrics)
case("promtool check metrics is clean", ok and not said.strip(), said)
case("promtool check rules", *promtool("check", "rules", "alerts.yml"))
case("promtool test rules", *promtool("test", "rules", "alerts_test.yml"))

families = dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics.decode(), re.M))
programs_own = {"bide_connections", "bide_spans_dropped_total"}
page = dict(re.findall(r"^\| `(bide_\w+)` \| (\w+) \|", read("metrics.md"), re.M))
case("docs/metrics.md lists every metric, with its kind",
     page == {k: v for k, v in families.items() if k not in programs_own},
     (page, families))


def unknown(text):
    """Names of metrics in a text that are not written by the tool."""
    known = set(families)
    for name, kind in families.items():
        if kind == "histogram":
            known |= {name + s for s in ("_bucket", "_sum", "_count")}
    return set(re.findall(r"\bbide_\w+", text)) - known


dashboard = json.loads(read("grafana", "bide.json"))
exprs = [t["expr"] for p in dashboard["panels"] for t in p["targets"]]
case("the alerts name metrics that are there",
     not unknown(read("prometheus", "alerts.yml")),
     unknown(read("prometheus", "alerts.yml")))
case("the dashboard names metrics that are there",
     len(exprs) > 15 and not unknown("\n".join(exprs)), unknown("\n".join(exprs)))

# The dashboard's queries are valid: as rules, with Grafana's variables filled in.
rules = {"groups": [{"name": "g", "rules": [
    {"record": f"r{i}", "expr": e.replace("$__rate_interval", "1m")}
    for i, e in enumerate(exprs)]}]}
ok, said = promtool("check", "rules", "/dev/stdin",
                    input=json.dumps(rules).encode())
case("the dashboard's queries are valid", ok, said)
ids = [p["id"] for p in dashboard["panels"]]
case("the dashboard's panels have ids of their own", len(ids) == len(set(ids)))
finish()
