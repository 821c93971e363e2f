#!/usr/bin/env python3
"""flags.py BIDE: what `--help` lists is in the man pages and the completions,
and they list nothing else."""
import os
import re
import sys

import tap

ROOT = os.path.join(tap.HERE, "..", "..")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def flags_of_help(text):
    """Both the long and the short ones."""
    return {flag
            for line in text.splitlines() if re.match(r" {2,6}-", line)
            for flag in re.findall(r"(?<!\S)--?[a-zA-Z][a-z0-9-]*(?:\.\d)?", line[:30])}


def flags_of_man(text):
    lines = [line for line in text.splitlines() if line.startswith("*-")]
    return set(re.findall(r"\*(--?[a-zA-Z][a-z0-9-]*(?:\.\d)?)\*", " ".join(lines)))


def bash_flags(text, command):
    """What _bide_flags says for a command."""
    policy = re.search(r"_bide_policy_flags='([^']*)'", text).group(1)
    body = re.search(rf"\n    {command}\)(.*?);;", text, re.S).group(1)
    return set(re.findall(r"--[a-z0-9-]+(?:\.\d)?", body.replace("$_bide_policy_flags",
                                                     policy)))


def zsh_flags(text, command):
    policy = re.search(r"policy=\((.*?)\n\)", text, re.S).group(1)
    body = re.search(rf"_bide_{command}\(\) {{(.*?)\n}}", text, re.S).group(1)
    body += policy if "$policy" in body else ""
    body = re.sub(r"\[[^]]*\]", "", body)
    return set(re.findall(r"--[a-z0-9-]+(?:\.\d)?", body)) | {"--help"}


def same(name, listed, known, exact=True):
    missing, extra = known - listed, listed - known if exact else set()
    tap.case(name, not missing and not extra,
             f"missing: {sorted(missing)}, too many: {sorted(extra)}")


def options(bide):
    """Every option, and its default, as `bide check --defaults` has them."""
    path, found = [], {}
    in_policy = False
    for line in tap.run([bide, "check", "--defaults"])[1].splitlines():
        match = re.match(r"( *)(\w+):(?: +([^#]+?))?(?: +#.*)?$", line)
        if not match or line.lstrip().startswith("#"):
            continue
        indent, key, value = len(match[1]), match[2], match[3]
        if key == "default" and indent == 2:
            in_policy = True
            continue
        if not in_policy or indent < 4:
            continue
        path = path[:(indent - 4) // 2] + [key]
        if value is not None:
            found[".".join(path)] = value
    return found


def policy_page(bide):
    """bide-policy(5) lists every option and its default, and no other."""
    page = read("man", "bide-policy.5.scd")
    page = page[page.index("# OPTIONS"):]
    page = page[:page.index("\n# ", 2)]
    listed = {m[1]: " ".join(m[2].split())
              for m in re.finditer(r"^\*([\w.]+)\*\n((?:\t.*\n)+)", page, re.M)}
    known = options(bide)
    tap.case("bide check --defaults lists options", len(known) > 40,
             str(known))
    same("bide-policy(5): options", set(listed), set(known))
    for key in sorted(set(listed) & set(known)):
        tap.case(f"bide-policy(5): default of {key}",
                 listed[key].endswith(f"Default: {known[key]}."),
                 f"expected {known[key]}\nfound    {listed[key]}")


COMPLETED = [
    ("ex", "explain export"),
    ("--v", "--version"),
    ("fetch --up", "--upload-file"),
    ("fetch --idem", "--idempotency-key"),
    ("fetch --idempotency-key ", "auto"),
    ("fetch -X P", "PUT POST PATCH"),
    ("fetch -d ", ""),
    ("fetch -T data/two", "data/two.yaml"),
    ("run --out", "--output"),
    ("run --output l", "last"),
    ("run -o s", "success"),
    ("run --stdin r", "replay"),
    ("run --until f", "failure"),
    ("run -s T", "TERM"),
    ("run --json --log", "--log-file"),
    ("fetch -i --outp", "--output --output-dir"),
    ("fetch -k -K data/two", "data/two.yaml"),
    ("run --retry-on ", ""),
    ("run -- cat data/two", "data/two.yaml"),
    ("help sch", "schedule"),
    ("explain --gr", "--grpc"),
    ("explain --grpc UNAV", "UNAVAILABLE"),
    ("explain --error re", "reset refused_stream"),
    ("explain --jitter f", "full"),
    ("schedule --dr", "--draws"),
    ("schedule --preset aws", "aws-standard aws-2026"),
    ("schedule --seed ", ""),
    ("export --to e", "envoy"),
    ("export --method ", ""),
    ("import --from ", "istio envoy grpc"),
    ("sim --rep", "--replications"),
    ("sim meta", "metastable"),
    ("sim se", "selftest"),
    ("sim data/si", "data/sim.yaml"),
    ("sim stability meta", "metastable"),
    ("sim --print thund", "thundering-herd"),
    ("sim --metric amp", "amplification"),
    ("sim --html data/two", "data/two.yaml"),
    ("sim --assert ", ""),
    ("check --sa", "--sarif"),
    ("schedule --policy data/two", "data/two.yaml"),
]


def completions():
    """What bash offers for a line that is being typed."""
    script = os.path.join(ROOT, "completions", "bide.bash")
    for line, expected in COMPLETED:
        code, out, err = tap.run([
            "/bin/bash", "-c",
            'source "$0"; COMP_WORDS=(bide "$@"); COMP_CWORD=$#; _bide; '
            'echo "${COMPREPLY[*]}"', script, *line.split(" ")])
        tap.case(f"bash completes {line}", out.strip() == expected and not err,
                 f"expected {expected}\nfound    {out}{err}")


def main():
    bide = sys.argv[1]
    bash, zsh = read("completions", "bide.bash"), read("completions", "_bide")
    _, page, _ = tap.run([bide, "--help"])
    commands = re.findall(r"^  (\w+) ", page, re.M)
    tap.case("bide --help lists commands", len(commands) >= 2, page)
    for command in commands:
        code, text, err = tap.run([bide, command, "--help"])
        tap.case(f"{command} --help", code == 0 and not err, text + err)
        tap.case(f"{command} --help tells the exit codes", "xit code" in text,
                 text)
        man = read("man", f"bide-{command}.1.scd")
        flags = flags_of_help(text)
        long = {f for f in flags if f.startswith("--")}
        same(f"{command}: man page", flags_of_man(man), flags)
        tap.case(f"{command}: man page tells the exit codes",
                 "# EXIT STATUS" in man and "\n*2*\n" in man)
        same(f"{command}: bash", bash_flags(bash, command), long)
        same(f"{command}: zsh", zsh_flags(zsh, command), long)
        tap.case(f"{command}: in bide(1)", f"*bide-{command}*(1)" in
                 read("man", "bide.1.scd"))
        for where, text in (("bash", bash), ("zsh", zsh)):
            tap.case(f"{command}: a command of {where}",
                     re.search(rf"\b{command}\b", text) is not None)
    code, out, err = tap.run([os.path.join(ROOT, "scripts", "completions.py"),
                              os.path.abspath(bide), "--check"])
    tap.case("completions are as scripts/completions.py writes them", code == 0,
             out + err)
    completions()
    if "check" in commands:
        policy_page(bide)
    tap.finish()


main()
