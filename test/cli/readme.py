#!/usr/bin/env python3
"""Every command that the README, docs/, the manual's EXAMPLES and --help show works as
it stands, and in the files that they show `bide check` finds nothing:

    readme.py BIDE

The commands are run in a folder that has what they name (stage() below), in a network
of its own. Those that cannot be run here are listed with the reason, and each line of
that list must be of use: a command that no page shows any more fails the test."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import session
import tap

ROOT = os.path.dirname(os.path.dirname(tap.HERE))
BIDE = os.path.abspath(sys.argv[1])
BIN = os.path.dirname(BIDE)
COMMAND = re.compile(r"(?:bide (?:run|fetch|proxy|check|explain|schedule|replay|sim|store|top|"
                     r"demo|worker|enqueue|export|import|help|--help)|curl|make|sudo|cc|scripts/\S+|kill|export|python3|meson|"
                     r"kubectl|mkdir|cd|promtool) ")

NOT_RUN = {
    r"^scripts/|^make |^sudo make|^meson ": "builds, installs or tests the "
    "project itself: `make test` is what runs this",
    r"^cc examples/": "needs an installed bide: checks.install and journeys.libcurl",
    r"^bide demo(?! --seconds)": "takes half a minute or never ends: cli.demo",
    r"^bide worker(?! ls)|bide enqueue": "runs until it is told to end, or fills a "
    "queue: queue.commands",
    r"https://example\.org": "needs the Internet: cli.fetch_* have servers",
    r"^kill %": "ends what the lines above it began, as the test does",
    r"^export PATH": "the test has set it",
    r"examples/grpc": "needs the port of the sidecar that runs here: proxy.e2e_grpc",
    r"^bide store": "needs records: cli.store makes some",
}
# What would take long: the same with fewer runs, or less time.
SHORTER = [
    (r"(bide sim (?!--list|--print|selftest)[^;|]*)$", r"\1 -n 1"),
    (r"selftest --row 13", "selftest --row 3"),
    (r"--seconds 10", "--seconds 4"),
    (r"/var/log/nginx/", ""),
    (r"--sarif \*\.yaml", "--sarif [no]*.yaml"),  # envoy.yaml is no policy file
    (r"--loads 50%\.\.100%:6 --triggers 1s,5s,20s", "--loads 50% --triggers 1s"),
    (r"=100/s\.\.450/s:8", "=100/s..450/s:2"),
    (r"(stability metastable)", r"\1 --loads 50%,90% --triggers 1s"),
]
# Exit codes other than 0 that are an answer and not an error.
ANSWERS = [(r"^bide explain|^bide check|--assert|--strict", {0, 1}),
           (r"--until failure", {1})]

FILES = {
    "bide.yaml": "version: 1\npolicies:\n  default: { attempts: 3, deadline: 10s,"
                 " attempt_timeout: 2s }\n  payments: { extends: default,"
                 " idempotency: { key: generate } }\n",
    "old.yaml": "version: 1\npolicies: { default: { attempts: 4 } }\n",
    "new.yaml": "version: 1\npolicies: { default: { attempts: 2 } }\n",
    "access.log": '10.0.0.1 - - [16/Nov/2026:07:40:00 +0000] "GET / HTTP/1.1" 503 1 '
                  '"-" "-"\n',
    "first.jsonl": '{"t": 0, "event": "begin", "call": "a", "results": '
                   '[{"status": 503}, {"status": 200}]}\n',
    "service_config.json": '{"methodConfig": [{"name": [{}], "timeout": "1s"}]}\n',
    "token.txt": "Authorization: Bearer x\n",
    "note.txt": "a note\n",
    "site/page": "hello\n",
    "site/big.iso": "hello\n" * 1000,
    "urls": "http://127.0.0.1:8888/page http://127.0.0.1:8888/big.iso\n",
    "bin/kubectl": "#!/bin/sh\ncat <<E\napiVersion: networking.istio.io/v1\n"
                   "kind: VirtualService\nmetadata: { name: a }\nspec:\n"
                   "  hosts: [a]\n  http: [ { timeout: 1s, route: "
                   "[ { destination: { host: a } } ] } ]\nE\n",
    "flaky-test": "#!/bin/sh\ntest $BIDE_ATTEMPT -lt 3\n",
    "server.py": """
import http.server
class H(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8888), lambda *a: H(*a, directory="site")
    ).serve_forever()
""",
}
FILES["policy.yaml"] = FILES["bide.yaml"]
FILES["incident.jsonl"] = FILES["first.jsonl"]
for _name in ("migrate", "bin/notify", "bin/apt-get", "bin/rsync", "bin/make"):
    FILES[_name] = "#!/bin/sh\nexit 0\n"


def read(path):
    with open(path, encoding="utf-8") as page:
        return page.read()


def stage(folder):
    """Puts them there; again, where a command has written over one."""
    for name, text in FILES.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)
    shutil.copy(os.path.join(ROOT, "test/translate/data/envoy.yaml"), folder)
    page = read(os.path.join(ROOT, "docs", "simulator.md"))
    with open(os.path.join(folder, "checkout.yaml"), "w", encoding="utf-8") as f:
        f.write(files(page)[0])


# ----- what the pages show -----

def files(text):
    """Whole files among the blocks of a page."""
    return [block for block in re.findall(r"^```\w*\n(.*?)^```", text, re.S | re.M)
            if block.startswith("version:")]


def blocks(text):
    """Blocks of commands: fenced without a language or with sh, or indented."""
    for fenced, plain in re.findall(r"^```(?:sh)?\n(.*?)^```|((?:^    .*\n)+)", text,
                                    re.S | re.M):
        lines = (fenced or plain).replace("\\\n", " ").splitlines()
        lines = [re.sub(r"^\$ ", "", line.strip()) for line in lines]
        found = [re.sub(r"\s{2,}# .*|\s# .*", "", re.sub(r" {2,}", " ", line))
                 for line in lines if COMMAND.match(line)
                 and not re.match(r"bide \w+: ", line)]
        if found:
            yield found


def of_manual(text):
    """EXAMPLES; a line of a crontab without its times."""
    for part in text.split("\n# EXAMPLES\n")[1:]:
        part = part.split("\n# ")[0]
        lines = [re.sub(r"\\(.)", r"\1", line)
                 for line in re.findall(r"^\t(.+)$", part, re.M)]
        for block in re.findall(r"^```\n(.*?)^```", part, re.S | re.M):
            lines += block.splitlines()
        for line in lines:
            line = re.sub(r"^\*(\S* ){5}(?=bide )", "", line)
            if COMMAND.match(line):
                yield line


def of_help():
    page = subprocess.run([BIDE, "--help"], capture_output=True, text=True,
                          check=True).stdout
    for command in re.findall(r"^  (\w+) ", page.split("Options:")[0], re.M):
        text = subprocess.run([BIDE, command, "--help"], capture_output=True,
                              text=True, check=True, env=tap.environment(
                                  COLUMNS="200")).stdout
        for line in text.split("\nExamples:\n")[1:]:
            yield from ((command, x.strip()) for x in line.splitlines()
                        if x.startswith("  "))


def everything():
    """[(page, command)], each command once for a page."""
    found = []
    for path in [ROOT + "/README.md", *sorted(glob.glob(ROOT + "/docs/*.md"))]:
        if not path.endswith("/proxy.md"):  # is a session: sidecar() below
            found += [(os.path.basename(path), line)
                      for block in blocks(read(path)) for line in block]
    for path in sorted(glob.glob(ROOT + "/man/*.scd")):
        found += [(os.path.basename(path)[:-4], line) for line in of_manual(read(path))]
    found += [(f"bide {command} --help", line) for command, line in of_help()]
    return list(dict.fromkeys(found))


# ----- running them -----

def run(shell, page, command):
    for pattern, instead in SHORTER:
        command = re.sub(pattern, instead, command)
    code, text = shell.run(command)
    answers = next((codes for pattern, codes in ANSWERS
                    if re.search(pattern, command)), {0})
    tap.case(f"{page}: {command}", code in answers, f"exit code {code}\n{text}")


def until(shell, command):
    shell.run(f"for i in $(seq 600); do {command} >/dev/null 2>&1 && break; "
              "sleep 0.1; done")


def commands(shell, folder):
    used, shown = set(), everything()
    shell.run("python3 server.py & url=http://127.0.0.1:8888/page")
    shell.run("bide proxy -c examples/proxy.yaml 2>/dev/null &")
    until(shell, "curl -s http://127.0.0.1:8888/page")
    until(shell, "curl -s http://127.0.0.1:9901/readyz")
    for page, command in shown:
        reason = next((p for p in NOT_RUN if re.search(p, command)), None)
        used.add(reason)
        if reason:
            tap.case(f"{page}: {command} # SKIP {NOT_RUN[reason]}", True)
        else:
            run(shell, page, command)
            stage(folder)
    tap.case("pages show commands", len(shown) > 60, shown)
    unused = set(NOT_RUN) - used - {r"^kill %"}
    tap.case("all that is not run is shown somewhere", not unused, unused)


def sidecar(folder, env, network):
    """docs/proxy.md: each block of commands, with the file above it."""
    text = read(os.path.join(ROOT, "docs", "proxy.md"))
    for n, part in enumerate(re.split(r"(?=^```yaml\nversion:)", text, flags=re.M)):
        for block in blocks(part):
            with session.Session(folder, env, network) as shell:
                if block[0].startswith("curl"):
                    with open(os.path.join(folder, "shown.yaml"), "w",
                              encoding="utf-8") as f:
                        f.write(files(part)[0])
                    shell.run("python3 -m http.server -d site 8000 2>/dev/null & "
                              "bide proxy -c shown.yaml 2>/dev/null &")
                    until(shell, "curl -s http://127.0.0.1:8080/")
                for line in block:
                    if not re.search("^kill %", line):
                        run(shell, f"proxy.md, {n}", line)
                    if line.startswith("bide proxy") and line.endswith("&"):
                        until(shell, "curl -s http://127.0.0.1:9901/readyz")


def shown_files():
    shown = 0
    for path in sorted(glob.glob(ROOT + "/docs/*.md") + glob.glob(ROOT + "/man/*.scd")):
        for text in files(read(path)):
            p = subprocess.run([BIDE, "check", "-"], input=text.encode(),
                               capture_output=True, check=False)
            tap.case(f"a file in {os.path.relpath(path, ROOT)}", p.returncode == 0,
                     (p.stdout + p.stderr).decode())
            shown += 1
    tap.case("pages show files", shown > 3)


def main():
    shown_files()
    network = session.own_network()
    if network is None:
        tap.case("commands # SKIP no network namespaces here", True)
        tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
        stage(folder)
        env = tap.environment(PATH=f"{folder}/bin:{BIN}:{os.environ['PATH']}",
                              HOME=folder, TMPDIR=folder, XDG_RUNTIME_DIR=folder)
        with session.Session(folder, env, network) as shell:
            commands(shell, folder)
        sidecar(folder, env, network)
    tap.finish()


main()
