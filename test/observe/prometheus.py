#!/usr/bin/env python3
"""promtool takes the metrics, the alerts and their tests; what the page of
documentation, the alerts and the dashboard name is there, and all that is there is
on the page: test/observe/prometheus.py TOOL"""
import json
import os
import re
import subprocess
import sys

from tap import case, finish

HERE = os.path.dirname(os.path.abspath(__file__))
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
case("promtool test rules of a worker", *promtool("test", "rules", "worker_test.yml"))

families = dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics.decode(), re.M))
programs_own = {"bide_connections", "bide_spans_dropped_total"}
page = dict(re.findall(r"^\| `(bide_\w+)` \| (\w+) \|", read("metrics.md"), re.M))
case("docs/metrics.md lists every metric, with its kind",
     page == {k: v for k, v in families.items() if k not in programs_own},
     (page, families))


of_the_sidecar = set(re.findall(r"`(bide_store_\w+)`", read("idempotency.md")))


def unknown(text):
    """Names of metrics in a text that are not written by the tool, nor the sidecar's."""
    known = set(families) | of_the_sidecar
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


def labels_of(name):
    """{label: its values}, as the tool writes them."""
    found = {"instance": set(), "job": set()}
    for line in metrics.decode().splitlines():
        if line.startswith(name + "{"):
            for label, value in re.findall(r'(\w+)="((?:[^"\\\\]|\\\\.)*)"', line):
                found.setdefault(label, set()).add(value)
    return found


def wrong_labels(expr):
    """Labels that a query asks for, or values of them, that are nowhere."""
    for name, inside in re.findall(r"(bide_\w+)\{([^}]*)\}", expr):
        there = labels_of(name)
        for label, how, value in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', inside):
            if label not in there:
                yield name, label
            elif not value.startswith("$"):
                yield from ((name, label, v) for v in value.split("|")
                            if v not in there[label])


def wrong_legend(target):
    """Labels in a legend that the result of its query does not have."""
    by = re.search(r"\bby \(([^)]*)\)", target["expr"])
    name = re.search(r"bide_\w+", target["expr"]).group()
    have = set(re.split(r",\s*", by.group(1))) if by else set(labels_of(name))
    return set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", ""))) - have


for what, queries in (("dashboard", exprs), ("alerts", re.findall(
        r"^(?:\s+expr: .*|\s{10,}.*bide_.*)$", read("prometheus", "alerts.yml"), re.M))):
    wrong = [w for q in queries for w in wrong_labels(q)]
    case(f"labels and their values in the {what} are there", len(queries) > 5
         and not wrong, wrong)
wrong = [(t["legendFormat"], w) for p in dashboard["panels"] for t in p["targets"]
         if (w := wrong_legend(t))]
case("and those in its legends", not wrong, wrong)

# The dashboard's queries are valid: as rules, with Grafana's variables filled in.
rules = {"groups": [{"name": "g", "rules": [
    {"record": f"r{i}", "expr": e.replace("$__rate_interval", "1m")}
    for i, e in enumerate(exprs)]}]}
ok, said = promtool("check", "rules", "/dev/stdin",
                    input=json.dumps(rules).encode())
case("the dashboard's queries are valid", ok, said)

# So are those of the page: a block of its own, or a line of text.
page_text = read("metrics.md")
shown = [" ".join(block.split()) for block in
         re.findall(r"^\n((?: {4,}.*\n)+)", page_text, re.M) if "bide_" in block]
shown += [q for q in re.findall(r"`([^`\n]+)`", page_text) if "(bide_" in q]
rules["groups"][0]["rules"] = [{"record": f"r{i}", "expr": e}
                               for i, e in enumerate(shown)]
ok, said = promtool("check", "rules", "/dev/stdin",
                    input=json.dumps(rules).encode())
case("the queries in docs/metrics.md are valid", ok and len(shown) >= 4,
     f"{said}\n{shown}")
wrong = [w for q in shown for w in wrong_labels(q)]
case("and so are their labels", not wrong and not unknown(" ".join(shown)), wrong)
ids = [p["id"] for p in dashboard["panels"]]
case("the dashboard's panels have ids of their own", len(ids) == len(set(ids)))
finish()
