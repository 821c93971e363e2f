#!/usr/bin/env python3
"""Who may use whom: the rooms of the tree, held by its includes.

    rooms.py            check: what is wrong, one line each; exit code 1
    rooms.py --picture  docs/rooms.svg, written to standard output

A file may include headers of its own room and of the rooms that the table names for
it. Beside that: includes are written from the root, no headers include each other in
a circle, a header declares functions of one or two files, no build file chooses files
by how their names begin, and no folder holds more than 50 files."""
import collections
import os
import re
import subprocess
import sys

# room: the rooms it may use. The order is that of the picture, from the ground up.
ROOMS = {
    "include": [],
    "lib": ["include"],
    "run": ["include", "lib", "base"],
    "curl": ["include", "lib", "base", "run"],
    "base": ["include", "lib"],
    "config": ["include", "lib", "base"],
    "store": ["include", "lib", "base", "run", "config"],
    "net": ["include", "lib", "base", "run"],
    "observe": ["include", "lib", "base", "run", "config", "net"],
    "proxy": ["include", "lib", "base", "run", "config", "net", "observe", "store"],
    "queue": ["include", "lib", "base", "run", "curl", "config", "net", "observe", "store"],
    "replay": ["include", "lib", "base", "config"],
    "sim": ["include", "lib", "base", "config"],
}
ROOMS["cmd"] = list(ROOMS)
MOST_FILES = 50
# Files whose functions a header may declare: its own, and one more. The published
# headers, include/bide, are exempt: they are cut as their readers need them, not as
# the library's files are.
MOST_DEFINERS = 2
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
                           check=True, capture_output=True, text=True).stdout.split()
    return [n for n in names if n.split("/")[0] in ROOMS and os.path.exists(n)]


def read(name):
    with open(name, encoding="utf-8") as f:
        return f.read()


def resolve(name, target):
    """The file that an include means, or None if it is not in the tree."""
    if target.startswith("bide/"):
        target = "include/" + target
    elif name.startswith("include/bide/"):
        target = "include/bide/" + target
    return target if os.path.exists(target) else None


def includes_of(files, complaints):
    """file: the headers it includes."""
    edges = {}
    for name in files:
        edges[name] = []
        for target in INCLUDE.findall(read(name)):
            to = resolve(name, target)
            if to:
                edges[name].append(to)
            else:
                complaints.append(f'{name}: "{target}" is not written from the root')
    return edges


def check_rooms(edges, complaints):
    for name, targets in edges.items():
        room = name.split("/")[0]
        for to in targets:
            other = to.split("/")[0]
            if other != room and other not in ROOMS[room]:
                complaints.append(f"{name}: {room} may not use {other} ({to})")


def check_circles(edges, complaints):
    state = {}

    def visit(name, path):
        state[name] = "open"
        for to in edges.get(name, []):
            if state.get(to) == "open":
                circle = path[path.index(to):] + [to]
                complaints.append("a circle: " + " -> ".join(circle))
            elif to not in state:
                visit(to, path + [to])
        state[name] = "done"

    for name in edges:
        if name not in state:
            visit(name, [name])


def check_folders(files, complaints):
    for folder, n in collections.Counter(map(os.path.dirname, files)).items():
        if n > MOST_FILES:
            complaints.append(f"{folder}/ holds {n} files, more than {MOST_FILES}")


# ===== what headers declare =====

ASIDE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
                   r"|^[ \t]*\#(?:\\\n|[^\n])*", re.S | re.M)
# name(, or MACRO(name) if a macro writes the whole declaration.
CALLABLE = re.compile(r"(?:^\s*[A-Z_]+\()?\b(\w+)\s*[()]")


def statements(name):
    """What stands outside of all braces: (text, whether a body follows)."""
    text, depth = "", 0
    for c in ASIDE.sub(" ", read(name)):
        if c == "{":
            if depth == 0:
                yield text, True
                text = ""
            depth += 1
        elif c == "}":
            depth -= 1
        elif c == ";" and depth == 0:
            yield text, False
            text = ""
        elif depth == 0:
            text += c


def functions(name, defined):
    """The functions with external linkage that a file defines, or declares."""
    for text, body in statements(name):
        words = text.split()
        if body == defined and words and not {"static", "typedef"} & set(words):
            found = CALLABLE.search(text)
            if found and "=" not in text:
                yield found[1]


def check_headers(files, complaints):
    definer = {}
    for name in files:
        if name.endswith(".c"):
            for function in functions(name, True):
                definer.setdefault((name.split("/")[0], function), name)
    for name in files:
        room = name.split("/")[0]
        if not name.endswith(".h") or room == "include":
            continue
        found = {definer[room, f] for f in functions(name, False) if (room, f) in definer}
        if len(found) > MOST_DEFINERS:
            complaints.append(f"{name} declares what {len(found)} files define: "
                              + ", ".join(sorted(found)))


def check_builds(complaints):
    """A list of sources names files; none is chosen by how its name begins."""
    names = subprocess.run(["git", "ls-files", "*meson.build"], check=True,
                           capture_output=True, text=True).stdout.split()
    for name in names:
        if re.search(r"\bstartswith\s*\((?!'/')", read(name)):
            complaints.append(f"{name} chooses by how names begin")


# ===== the picture =====

# Where each room stands: row from the ground up, column.
PLACES = {
    "include": (0, 1.5), "lib": (1, 1.5), "base": (2, 1.5),
    "run": (3, 0), "config": (4, 2.5), "store": (5, 0),
    "curl": (6, 0), "net": (4, 1), "replay": (5, 2), "sim": (5, 3),
    "observe": (5, 1), "proxy": (6, 1), "queue": (6, 2), "cmd": (7, 1.5),
}
TOP = 7
ABOUT = {
    "include": "the API", "lib": "the engine", "base": "JSON, dates, text, lists",
    "run": "blocking runner, timers", "config": "policy files",
    "store": "Redis, fleets, records",
    "curl": "libcurl", "net": "loop, TLS, HTTP", "replay": "scripts and logs",
    "sim": "the simulator", "observe": "metrics, traces, admin",
    "proxy": "the sidecar", "queue": "brokers, the worker", "cmd": "the commands of bide",
}
WIDE, HIGH, ACROSS, DOWN = 150, 44, 180, 84


def corner(room):
    row, column = PLACES[room]
    return 20 + column * ACROSS, 20 + (TOP - row) * DOWN


def implied(a, b, pairs):
    """Whether a reaches b through a third: such lines would only clutter."""
    seen, todo = set(), [to for from_, to in pairs if from_ == a and to != b]
    while todo:
        room = todo.pop()
        if room == b:
            return True
        if room not in seen:
            seen.add(room)
            todo += [to for from_, to in pairs if from_ == room]
    return False


def picture():
    pairs = [(a, b) for a in ROOMS for b in ROOMS[a]]
    width, height = 40 + 3 * ACROSS + WIDE, 40 + TOP * DOWN + HIGH
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
          f'width="{width}" height="{height}" font-family="sans-serif">')
    print('<title>Which room may use which; lines that follow from others are left '
          'out</title>')
    print('<defs><marker id="uses" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" '
          'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#8a94a6"/>'
          '</marker></defs>')
    print(f'<rect width="{width}" height="{height}" fill="#fff"/>')
    for a, b in sorted(pairs):
        if implied(a, b, pairs):
            continue
        (x, y), (u, v) = corner(a), corner(b)
        x, y, u, v = x + WIDE / 2, y + HIGH, u + WIDE / 2, v - 6
        bend = (v - y) / 2 if v - y < DOWN else DOWN / 2
        print(f'<path d="M{x:g} {y:g} C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}" '
              'stroke="#8a94a6" stroke-width="1.5" fill="none" '
              'marker-end="url(#uses)"/>')
    for room in PLACES:
        x, y = corner(room)
        print(f'<rect x="{x:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="6" '
              'fill="#eef3fb" stroke="#34507c"/>')
        middle = x + WIDE / 2
        print(f'<text x="{middle:g}" y="{y + 19:g}" text-anchor="middle" '
              f'font-size="14" font-weight="600" fill="#14233d">{room}</text>')
        print(f'<text x="{middle:g}" y="{y + 35:g}" text-anchor="middle" '
              f'font-size="11" fill="#44546e">{ABOUT[room]}</text>')
    print("</svg>")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if "--picture" in sys.argv[1:]:
        picture()
        return
    complaints = []
    files = sources()
    edges = includes_of(files, complaints)
    check_rooms(edges, complaints)
    check_circles(edges, complaints)
    check_folders(files, complaints)
    check_headers(files, complaints)
    check_builds(complaints)
    for line in complaints:
        print(line)
    if complaints:
        sys.exit(1)
    print(f"{len(files)} files in {len(ROOMS)} rooms: no circle, no one above its place")


main()
