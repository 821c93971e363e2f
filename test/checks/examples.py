#!/usr/bin/env python3
"""examples.py BUILD COMPILER...: compiles every example in a comment of a header.

In a comment, lines that are indented by four more than its text are C, and are
compiled with the header included. Lines that are indented by two more are
anything else: a table, a picture, YAML. There is no third kind.

An example is the body of a function; a `static` function in it stands before
that. `...` stands for statements, or at the end of an initializer for members.
Headers of ours that declare what it uses are included by themselves. Variables that
it does not declare, and functions that are the reader's, are declared out of sight:
in test/checks/examples/ROOM.h, in the section of its header.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ["include/bide", "lib", "run", "curl", "base", "config", "store", "net", "observe",
         "proxy", "queue", "replay", "sim", "cmd"]
NAMES = "test/checks/examples"
# Libraries whose headers ours include, where they are elsewhere than usual.
PACKAGES = subprocess.run(["pkg-config", "--cflags", "libpq"], capture_output=True,
                          text=True).stdout.split()
# What compiles is right enough: that a variable is set and not used again, or that
# a function whose body is `...` returns nothing, is what examples are like.
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Werror",
         "-Werror=implicit-function-declaration", "-Wno-unused",
         "-Wno-return-type", "-Wno-uninitialized", "-Wno-missing-braces",
         "-fno-builtin-log"]
# Available to all examples, whatever their header includes.
INCLUDES = ["bide/bide.h", "errno.h", "inttypes.h", "signal.h", "stdbool.h", "stddef.h", "stdint.h",
            "stdio.h", "stdlib.h", "string.h", "sys/socket.h", "time.h", "unistd.h"]
# What a header declares: functions, structs and enums with their members, macros.
DECLARES = re.compile(r"^(?:[A-Za-z_][^;{}=#\n]*?\b(\w+)\(|(?:struct|enum) (\w+) \{|"
                      r"#define (\w+))", re.M)

Block = collections.namedtuple("Block", "line indent text touched")

LEXEME = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)
STATEMENT = re.compile(r"(\w+\(.*|[\w *.>\[\]-]+ = .*|return .*);\s*(//.*)?$")
FUNCTION = re.compile(r"^static [^;={}]*\)\s*\{(?:[^\n]*\}$|.*?^\}$)", re.S | re.M)


def comment_lines(source):
    """Yields for each comment of several lines a list of (line, indent, text);
    an indent is how much further right than the comment's text a line begins."""
    for match in LEXEME.finditer(source):
        if not match[0].startswith("/*") or "\n" not in match[0]:
            continue
        begin = match.start()
        first = source.count("\n", 0, begin) + 1
        column = begin - (source.rfind("\n", 0, begin) + 1)
        rows = []
        for i, row in enumerate(match[0][:-2].split("\n")[1:], 1):
            bare = row.lstrip()
            if bare.startswith("*"):
                bare = bare[1:].lstrip()
                indent = row.index("*") + 1
                indent = len(row) - len(bare) - indent - 1
            else:
                indent = len(row) - len(bare) - column - 3
            rows.append((first + i, indent, bare.rstrip()))
        yield rows


def blocks_of(source):
    """The indented blocks in comments. What is indented alike and parted by blank
    lines only is one."""
    blocks = []
    for rows in comment_lines(source):
        run, last, prose = [], None, True
        for row in rows + [(0, 0, "")]:
            if row[2] and row[1] > 0:
                run.append(row)
                continue
            if run:
                indent = min(r[1] for r in run)
                text = {r[0]: " " * (r[1] - indent) + r[2] for r in run}
                touched = [run[0][0]] if prose else []
                touched += [row[0]] if row[2] else []
                if last and last.indent == indent:
                    last.text.update(text)
                    last.touched.extend(touched)
                else:
                    last = Block(run[0][0], indent, text, touched)
                    blocks.append(last)
                run = []
            prose = bool(row[2])
            if prose:
                last = None
    return blocks


def text_of(block):
    last = max(block.text)
    return "\n".join(block.text.get(n, "") for n in range(block.line, last + 1))


def fill_in(code):
    """`...` as C: an empty statement, or nothing at the end of an initializer. Where
    it stands for anything else it is left, and does not compile."""
    out, before = "", ""
    pattern = re.compile(LEXEME.pattern + r"|\.\.\.|\w+|\S|\s+", re.S)
    lexemes = pattern.findall(code)
    for i, lexeme in enumerate(lexemes):
        if lexeme == "..." and before in (";", "{", "}", ")", ":", "else", "do", ""):
            lexeme = ";  "
        elif lexeme == "..." and before == ",":
            after = next((x for x in lexemes[i + 1:] if not x.isspace()), "")
            lexeme = "" if after == "}" else lexeme
        if not lexeme.isspace() and not lexeme.startswith("//"):
            before = lexeme.strip()
        out += lexeme
    return out


def program(header, block, number):
    """The example as a function, and the functions it defines before that."""
    code = text_of(block)
    parts = []

    def outside(match):
        line = block.line + code.count("\n", 0, match.start())
        parts.append(f'#line {line} "{header}"\n{fill_in(match[0])}\n')
        return "\n" * match[0].count("\n")

    body = fill_in(FUNCTION.sub(outside, code))
    kind = "int" if re.search(r"\breturn\s+[^;\s]", body) else "void"
    parts.append(f"{kind} example_{number}(void);\n{kind} example_{number}(void)\n{{\n"
                 f'#line {block.line} "{header}"\n{body}\n}}\n')
    return "".join(parts)


def mistakes_of_form(header, blocks):
    for block in blocks:
        where = f"{header}:{block.line}"
        if block.indent not in (2, 4):
            yield (f"{where}: a block indented by {block.indent}: C is indented by "
                   f"four, all else by two")
        for line in block.touched if block.indent == 4 else []:
            yield f"{header}:{line}: a blank line parts C from text; or was it reflowed?"
        if block.indent == 2:
            for line, text in block.text.items():
                if STATEMENT.match(text.strip()):
                    yield f"{header}:{line}: C is indented by four: {text.strip()}"


def mistakes_of_names(header, names):
    """Declarations out of sight are for what is the reader's: a function of ours that
    is declared here would hide that it is gone."""
    prefix = "|".join(["bide_", "net_", "http1_", "sim_", pathlib.Path(header).stem + "_"])
    for name in re.findall(rf"\b((?:{prefix})\w+)\(", names):
        yield f"{header}: {name}() is declared for its examples; include its header instead"


def sections(path):
    """The declarations for a room's examples: header -> text."""
    found, header = {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.fullmatch(r"/\* (\S+\.h) \*/", line)
        if match:
            header = match[1]
            found[header] = f'#line {number} "{path.relative_to(ROOT)}"\n'
        if header:
            found[header] += line + "\n"
    return found


def index_of(sources):
    """Which headers declare a name: name -> headers."""
    index = collections.defaultdict(list)
    for header, source in sources.items():
        for match in DECLARES.finditer(re.sub(r"/\*.*?\*/", "", source, flags=re.S)):
            index[match[match.lastindex]].append(header)
    return index


def includes(header, code, names, index):
    """The header itself, and those that declare what its examples use; of several,
    one of its own room."""
    found = [header]
    text = code + names
    used = {m[m.lastindex] for m in re.finditer(
        r"\b(\w+)\(|\b(?:struct|enum) (\w+)|\b([A-Z][A-Z0-9_]+)\b", text)}
    used -= set(re.findall(r"\b(\w+)\(", names))
    used -= set(re.findall(r"\bstruct (\w+) \{", text))
    for name in sorted(used):
        declare = index.get(name, [])
        near = [h for h in declare if h.split("/")[0] == header.split("/")[0]]
        if declare and header not in declare:
            found.append((near or declare)[0])
    return [re.sub("^include/", "", h) for h in dict.fromkeys(found)]


def unit_of(header, source, names, index):
    """What is compiled for a header, or None where it shows no C; and its blocks."""
    blocks = blocks_of(source)
    examples = [b for b in blocks if b.indent == 4]
    if not examples:
        return None, blocks
    code = "\n".join(text_of(b) for b in examples)
    text = "".join(f'#include "{h}"\n' for h in includes(header, code, names, index))
    text += "".join(f"#include <{name}>\n" for name in INCLUDES) + names
    for number, block in enumerate(examples, 1):
        text += program(header, block, number)
    return text, blocks


def compile_unit(compiler, flags, text):
    """The compiler's complaints, or an empty string."""
    done = subprocess.run([*compiler, *FLAGS, *flags, "-x", "c", "-"], input=text,
                          capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, "LC_ALL": "C"})
    return done.stderr if done.returncode else ""


def flags_for(build):
    return ["-iquote", str(ROOT), "-iquote", str(build), "-I", str(ROOT / "include"),
            *PACKAGES]


def check(build, compiler):
    sources = {str(path.relative_to(ROOT)): path.read_text()
               for room in ROOMS for path in sorted((ROOT / room).rglob("*.h"))}
    names = {}
    for path in sorted((ROOT / NAMES).glob("*.h")):
        names.update(sections(path))
    index, failures, units, kinds = index_of(sources), [], {}, collections.Counter()
    for header, source in sources.items():
        text, blocks = unit_of(header, source, names.get(header, ""), index)
        kinds.update(b.indent for b in blocks)
        failures += mistakes_of_form(header, blocks)
        failures += mistakes_of_names(header, names.get(header, ""))
        if text:
            units[header] = text
    failures += [f"{NAMES}: {h} shows no C" for h in sorted(set(names) - set(units))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = pool.map(lambda unit: compile_unit(compiler, flags_for(build), unit),
                        units.values())
        for header, text in zip(units, said):
            if text:
                failures.append(f"{text}    (variables: {NAMES}/{header.split('/')[0]}.h, "
                                f"under /* {header} */)")
    for text in failures:
        print(text)
    print(f"{kinds[4]} examples compiled, in {len(units)} headers; "
          f"{kinds[2]} blocks indented by two: not C")
    return 1 if failures or not units else 0


if __name__ == "__main__":
    sys.exit(check(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]))
