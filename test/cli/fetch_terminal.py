#!/usr/bin/env python3
"""fetch_terminal.py BIDE: a progress bar on a terminal and nowhere else, that
leaves nothing behind."""
import concurrent.futures
import os
import pty
import re
import subprocess
import tempfile

import fetch_tools as t
import ports
import tap

XTERM = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
WAITS = ["--set", "unreachable.wait=300ms"]
SLOW = "200;n=200000;pause=1500"  # long enough for a bar to be drawn


def on_terminal(*args, stdout=None, **more):
    """Runs `bide fetch` with stderr on a pseudo-terminal, and stdout there or
    elsewhere; gives what was printed there."""
    master, slave = pty.openpty()
    p = subprocess.Popen([t.BIDE, "fetch", *t.FAST, *args],
                         cwd=tempfile.mkdtemp(dir=t.work.name),
                         env=tap.environment(**more), stdin=subprocess.DEVNULL,
                         stdout=stdout or slave, stderr=slave)
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    code = p.wait(timeout=60)
    os.close(master)
    return code, text.decode().replace("\r\n", "\n")


def plain(text):
    return re.sub("\033\\[[0-9;]*m", "", text)


def shown(text):
    """What stays on the screen."""
    lines = []
    for line in plain(text).split("\n"):
        line = line.split("\r")[-1]
        lines.append(line.replace("\033[K", ""))
    return "\n".join(lines)


def drawn(text):
    """The bars that were drawn over each other."""
    return [x.replace("\033[K", "") for x in re.split("[\r\n]", plain(text))
            if "━" in x or "─" in x]


def in_file(fault):
    """A bar while standard output goes to a file."""
    with open(t.path("out"), "wb") as out:
        return on_terminal(fault.url(SLOW), stdout=out, **XTERM)


def start(fault):
    """They take their time, so they all run at once."""
    one = ["-o", "file", fault.url(SLOW)]
    runs = {
        "bar": (one, XTERM),
        "no colours": (one, dict(XTERM, NO_COLOR="1")),
        "ascii": (one, {"TERM": "xterm", "LC_ALL": "C"}),
        "several": (["-Z", "2", "-o", "f1", "-o", "f2", "-o", "f3",
                     fault.url(SLOW), fault.url("200"), fault.url("404")],
                    XTERM),
        "wait": (["--jitter", "none", "--base", "1500ms", "--cap", "1500ms",
                  "-o", "file", fault.url("503,200")], XTERM),
        "-s": (["-s", *one], XTERM),
        "-v": (["-v", *one], XTERM),
        "a dumb terminal": (one, {"TERM": "dumb"}),
        "output": ([fault.url(SLOW)], XTERM),
        "explain": (["--explain", "-o", "file", fault.url("503," + SLOW)],
                    XTERM),
    }
    for columns in (20, 40, 60, 80, 200):
        runs[columns] = (["-o", "a-file-with-a-rather-long-name",
                          fault.url(SLOW)], dict(XTERM, COLUMNS=str(columns)))
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        futures = {name: pool.submit(on_terminal, *args, **more)
                   for name, (args, more) in runs.items()}
        futures["file"] = pool.submit(in_file, fault)
        return {name: future.result() for name, future in futures.items()}


def bars(runs):
    code, text = runs["bar"]
    tap.case("a bar is drawn", code == 0 and any(
        re.search(r"^file  [━─]+  \d+ %  .* of 200 kB", b)
        for b in drawn(text)), text)
    tap.case("one line stays",
             re.fullmatch(r"file  200 kB in \S+\n", shown(text)), text)
    for columns in (20, 40, 60, 80, 200):
        found = drawn(runs[columns][1])
        tap.case(f"a bar fits {columns} columns",
                 found and max(map(len, found)) < columns, runs[columns][1])
    _, text = runs["no colours"]
    tap.case("without colours there is a bar too",
             drawn(text) and "\033[3" not in text, text)
    _, text = runs["ascii"]
    tap.case("in ASCII", "###" in text and text.isascii(), text)
    code, text = runs["several"]
    tap.case("one bar for all", code == 22 and any(
        re.search(r"[━─]+  2 of 3  .*1 failed", b) for b in drawn(text)), text)
    _, text = runs["wait"]
    tap.case("a wait is counted down",
             re.search(r"file  503: attempt 2 of 10 in [01]\.\ds", plain(text)),
             text)
    tap.case("more than one attempt is told", ", 2 attempts\n" in shown(text),
             text)


def no_bars(fault, runs):
    for name in ("-s", "-v", "a dumb terminal"):
        tap.case(f"none with {name}", "\033" not in runs[name][1],
                 runs[name][1])
    t.same("none when the answer goes to the terminal", runs["output"][1],
           t.body(200000).decode())
    _, text = runs["file"]
    tap.case("but when it goes to a file", drawn(text), text)
    t.same("... nothing stays", shown(text), "")
    t.same("... and the file is whole", t.read("out"), t.body(200000))
    code, out, err = t.fetch("-o file", fault.url(SLOW), env=XTERM)
    t.same("none in a pipe", (code, out, err), (0, b"", ""))
    _, text = runs["explain"]
    tap.case("--explain has colours on a terminal", "\033[33m" in text, text)
    tap.case("--explain and a bar do not mix", shown(text).startswith(
        "→ attempt 1 of 10 (first)\n← 503: transient\n  wait "), shown(text))


def waits():
    """curl ends where nobody listens, and this waits: whoever sits there is told why."""
    url = f"http://me:secret@127.0.0.1:{ports.free_port()}/?token=x"
    code, text = on_terminal(*WAITS, url, **XTERM)
    said = re.findall("bide fetch: http://127[^;]*: not connected; trying again.*", text)
    tap.case("a_wait_is_told_once", code == 75 and len(said) == 1 and
             "secret" not in said[0] and "token" not in said[0], (code, text))
    code, text = on_terminal(*WAITS, "-s", url, **XTERM)
    tap.case("but_not_with_s", code == 75 and text == "", (code, text))
    p = subprocess.run([t.BIDE, "fetch", *WAITS, url], stdin=subprocess.DEVNULL,
                       env=tap.environment(**XTERM), capture_output=True, check=False)
    tap.case("nor_elsewhere_than_on_a_terminal", b"trying again" not in p.stderr, p)


def main():
    waits()
    fault = t.Fault()
    runs = start(fault)
    bars(runs)
    no_bars(fault, runs)
    fault.stop()
    tap.finish()


main()
