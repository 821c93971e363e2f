#!/usr/bin/env python3
"""completions.py BIDE [--check]: writes completions/bide.bash and completions/_bide.

Commands and flags come from `bide --help` and `bide COMMAND --help`, so from the
tables of flags in cmd/; presets, scenarios and choices from the program as well. What
words a flag takes is below, where --help does not say it: a new flag is completed
without a line here. With --check nothing is written, and what differs is an error."""
import difflib
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
METHODS = "GET HEAD OPTIONS TRACE PUT DELETE POST PATCH"
GRPC = """OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND
ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED
OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED"""
FIGURES = """goodput success failures unfinished attempts amplification deepest mean p50
p99 p999 timed queue_wait utilisation duplicates peak wasted recover stuck overloaded
all_back hedges"""
# (command or "", flag): the words that it takes.
WORDS = {
    ("run", "--stdin"): "auto replay inherit null",
    ("run", "--output"): "all prefix last success",
    ("run", "--until"): "success failure",
    ("run", "--signal"): "TERM INT HUP QUIT KILL USR1 USR2",
    ("run", "--attempts"): "unlimited",
    ("fetch", "--attempts"): "unlimited",
    ("fetch", "--request"): METHODS,
    ("fetch", "--continue-at"): "-",
    ("fetch", "--hedge"): "p95 50ms",
    ("fetch", "--idempotency-key"): "auto",
    ("fetch", "--tell"): "private all nobody",
    ("explain", "--method"): METHODS,
    ("explain", "--status"): "200 400 404 408 409 425 429 500 501 502 503 504",
    ("explain", "--error"): "dns no_host connect reset timeout tls url malformed "
                            "local cancelled upload connection_wait too_long "
                            "refused_stream other GOAWAY CANCEL INTERNAL_ERROR",
    ("explain", "--sent"): "yes no",
    ("explain", "--grpc"): GRPC,
    ("explain", "--breaker"): "closed open",
    ("schedule", "--after"): "any throttled conflict timeout",
    ("replay", "--log"): "common combined envoy istio haproxy json",
    ("sim", "--metric"): FIGURES,
    ("", "--jitter"): "none full equal decorrelated proportional",
    ("", "--nested"): "pass retry",
}
# Arguments that name a file, by what --help calls them; and flags that take one
# under another name.
FILES = re.compile(r"\b(FILE|DIR|PATH)\b")
FILE_FLAGS = {("fetch", "--cert"), ("fetch", "--key"), ("fetch", "--cacert"),
              ("fetch", "--unix-socket"), ("fetch", "--cookie")}
# May be given again, though --help need not say so of what is curl's.
REPEATED = {("fetch", "--" + name) for name in (
    "data", "data-binary", "data-raw", "data-urlencode", "form", "form-string",
    "cookie", "output", "url", "resolve")}
# What stands behind the flags, for zsh.
OPERANDS = {
    "run": "'(-):command:_command_names -e' '*::arguments:_normal'",
    "fetch": "'*:URL:_urls'",
    "check": "'*:policy file:_files'",
    "replay": "'*:script or log:_files'",
    "export": "'*:policy file:_files'",
    "import": "'*:file:_files'",
    "store": "'1:command:(ls show purge)' '2:key:'",
    "sim": "'*:scenario:{ compadd -- $scenarios stability selftest; _files }'",
}


def said(bide, *args):
    return subprocess.run([bide, *args], capture_output=True, text=True, check=True,
                          env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1",
                               "LC_ALL": "C.UTF-8"}).stdout


class Flag:
    def __init__(self, command, short, name, argument, text):
        self.short, self.name, self.argument = short, name, argument
        self.text = re.split(r";|\. |: | \(", text, maxsplit=1)[0].strip()
        if self.text.count(" ") < 2 or self.text.startswith("as in "):
            self.text = text
        self.repeated = bool(re.search(r"repeated|given again", text)
                             or (command, name) in REPEATED)
        self.words = WORDS.get((command, name)) or WORDS.get(("", name))
        self.file = not self.words and argument and (
            FILES.search(argument) or (command, name) in FILE_FLAGS)

    def zsh(self):
        text = self.text.replace("'", "'\\''")
        text = re.sub(r"([\[\]:])", r"\\\1", text)
        end = ""
        if self.argument:
            what = re.sub(r"[^A-Za-z=. ]+", " ", self.argument).strip().lower()
            what = {"d": "duration", "n": "number"}.get(what, what)
            action = ("_files" if self.file else
                      f"({' '.join(self.words.split())})" if self.words else "")
            end = f":{what}:{action}"
        name = f"--{self.name[2:]}" + ("=" if self.argument else "")
        star = "*" if self.repeated else ""
        if not self.short:
            return f"'{star}{name}[{text}]{end}'"
        group = "'*'" if star else f"'({self.short} {self.name})'"
        short = self.short + ("+" if self.argument else "")
        return f"{group}{{{short},{name}}}'[{text}]{end}'"


def flags(bide, command):
    """The flags of a command, in the order of its --help."""
    found = []
    page = said(bide, command, "--help").split("\nOptions:\n")[1]
    for line in page.splitlines():
        m = re.match(r"  (-\w)?,?\s*(--[a-z0-9-]+(?:\.\d)?)(?: (\S.*?))?(?:  +(\S.*))?$", line)
        if m and line[:28].strip():
            short, name, rest, text = m.groups()
            found.append([short, name, rest, text or ""])
        elif line.startswith(" " * 28) and found:
            found[-1][3] += " " + line.strip()
        elif line and not line.startswith(" "):
            break
    return [Flag(command, *row) for row in found]


def wrap(words, indent):
    lines, line = [], ""
    for word in words:
        if line and len(indent) + len(line) + len(word) + 1 > 80:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return ("\n" + indent).join(lines + [line])


def bash(commands, policy, facts):
    def case(of, labels, body):
        return f"    {' | '.join(of + label for label in labels)})\n        {body}\n        ;;\n"

    lists = values = takes = ""
    shared = commands["schedule"]
    for name, all_flags in commands.items():
        own = [f.name for f in all_flags if f.name not in policy]
        has = any(f.name in policy for f in all_flags)
        words = own[:-1] + (["$_bide_policy_flags"] if has else []) + own[-1:]
        lists += (f"    {name})\n        echo \"{wrap(words, ' ' * 12)}\"\n"
                  "        ;;\n")
        for f in all_flags:
            if f.name in policy and (name, f.name) not in WORDS:
                continue
            labels = [x for x in (f.name, f.short) if x]
            if f.file:
                values += case(name, labels, "echo FILE")
            elif f.words:
                values += case(name, labels, f"echo \"{wrap(f.words.split(), ' ' * 12)}\"")
            elif f.argument:
                takes += case(name, labels, "return 0")
    for f in shared:
        labels = [x for x in (f.name, f.short) if x]
        if f.name not in policy:
            continue
        if f.file:
            values += case("*", labels, "echo FILE")
        elif f.words:
            values += case("*", labels, f"echo \"{wrap(f.words.split(), ' ' * 12)}\"")
        elif f.argument:
            takes += case("*", labels, "return 0")
    return BASH.format(policy=wrap(sorted(policy, key=list(policy).index), "    "),
                       scenarios=wrap(facts["scenarios"], "    "), lists=lists,
                       values=values, takes=takes, commands=" ".join(commands))


def zsh(commands, policy, facts, texts):
    shared = commands["schedule"]
    rows = "".join(f"    {f.zsh()}\n" for f in shared if f.name in policy)
    bodies = ""
    for name, all_flags in commands.items():
        own = [f.zsh() for f in all_flags
               if f.name != "--help" and f.name not in policy]
        more = "$policy" if any(f.name in policy for f in all_flags) else ""
        last = " ".join(x for x in (more, "$help", OPERANDS.get(name, "")) if x)
        lines = " \\\n        ".join(["_arguments -s" + (" -S" if name == "run" else "")]
                                    + own + [last])
        bodies += f"_bide_{name}() {{\n    {lines}\n}}\n\n"
    described = "".join(f"    '{name}:{text}'\n" for name, text in texts)
    return ZSH.format(policy=rows, bodies=bodies, commands=described,
                      scenarios=" ".join(facts["scenarios"]))


HEAD = """# Written by scripts/completions.py from `bide --help` and `bide COMMAND --help`: change
# the tables of flags in cmd/, or that script, and run it again.
"""

BASH = "# bash completion for bide(1).\n" + HEAD + """
_bide_policy_flags='{policy}'

_bide_scenarios='{scenarios}'

_bide_flags() {{
    case $1 in
{lists}    *) echo "--help --version" ;;
    esac
}}

# The words that an option takes; "FILE" for a file, nothing if anything goes.
_bide_values() {{
    case $1$2 in
    sim--print)
        echo "$_bide_scenarios"
        ;;
{values}    esac
}}

# Options that take a value of their own making: nothing to offer.
_bide_takes_value() {{
    case $2$1 in
{takes}    esac
    return 1
}}

# Behind `--` stands a command with arguments of its own.
_bide_run_command() {{
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${{COMP_WORDS[i]}}" = -- ] || continue
        if ((i + 1 == COMP_CWORD)); then
            COMPREPLY=($(compgen -c -- "$cur"))
        else
            COMPREPLY=($(compgen -f -- "$cur"))
        fi
        return 0
    done
    return 1
}}

_bide() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}
    local commands='{commands} help'
    local command=${{COMP_WORDS[1]}} values

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$commands --help --version" -- "$cur"))
        return
    fi
    if [ "$command" = help ]; then
        COMPREPLY=($(compgen -W "$commands" -- "$cur"))
        return
    fi
    if [ "$command" = run ] && _bide_run_command; then
        return
    fi
    values=$(_bide_values "$command" "$prev")
    if [ "$values" = FILE ]; then
        COMPREPLY=($(compgen -f -- "$cur"))
    elif [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$cur"))
    elif _bide_takes_value "$prev" "$command"; then
        return
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$(_bide_flags "$command")" -- "$cur"))
    elif [ "$command" = sim ]; then
        COMPREPLY=($(compgen -W "$_bide_scenarios stability selftest" -- "$cur")
            $(compgen -f -- "$cur"))
    elif [ "$command" = store ]; then
        COMPREPLY=($(compgen -W "ls show purge" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}}

complete -o filenames -F _bide bide
"""

ZSH = "#compdef bide\n# zsh completion for bide(1).\n" + HEAD + """
local -a scenarios
scenarios=({scenarios})
local -a policy
policy=(
{policy})
local -a help
help=('(-h --help)'{{-h,--help}}'[show the options]')

{bodies}local -a commands
commands=(
{commands}    'help:show the options of a command'
)

if ((CURRENT == 2)); then
    _describe command commands
    _arguments '--version[show the version]' '--help[show the commands]'
elif [[ $words[2] == help ]]; then
    _describe command commands
elif (($+functions[_bide_$words[2]])); then
    shift words
    ((CURRENT--))
    _bide_$words[1]
fi
"""


def pages(bide):
    """{file name: what is to be in it}"""
    texts = re.findall(r"^  (\w+) +(\S.*)$", said(bide, "--help").split("Options:")[0],
                       re.M)
    reference = said(bide, "check", "--reference")
    presets = re.findall(r"^\| `([\w-]+)`", reference.split("\n## Presets\n")[1]
                         .split("\n## ")[0], re.M)
    WORDS[("", "--preset")] = " ".join(presets)
    for command, flag in (("export", "--to"), ("import", "--from")):
        page = said(bide, command, "--help").split("\nOptions:\n")[1]
        line = re.search(rf"{flag} SYSTEM +(.*(?:\n {{28}}.*)*)", page).group(1)
        WORDS[(command, flag)] = " ".join(w for w in re.findall(r"[a-z][a-z-]*", line)
                                          if w != "or")
    facts = {"scenarios": re.findall(r"^  ?([a-z][\w-]+)  ", said(bide, "sim", "--list"),
                                     re.M)}
    WORDS[("sim", "--print")] = " ".join(facts["scenarios"])
    commands = {name: flags(bide, name) for name, _ in texts}
    schedule = [f.name for f in commands["schedule"]]
    first = schedule.index("--policy")
    policy = dict.fromkeys(n for n in schedule[first:] if n != "--help")
    return {"bide.bash": bash(commands, policy, facts),
            "_bide": zsh(commands, policy, facts, texts)}


def main():
    differs = False
    for name, text in pages(sys.argv[1]).items():
        path = os.path.join(ROOT, "completions", name)
        with open(path, encoding="utf-8") as f:
            there = f.read()
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        elif there != text:
            differs = True
            print("".join(difflib.unified_diff(there.splitlines(True),
                                               text.splitlines(True), name,
                                               "as it would be written")))
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
