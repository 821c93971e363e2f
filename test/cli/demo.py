#!/usr/bin/env python3
"""demo.py BIDE: `bide demo` with a short timetable. Whatever is asserted here
follows from what the policies are, not from how fast the machine is."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import urllib.request

import tap

BIDE = os.path.join(tap.START, sys.argv[1])
NAMES = ["naive", "exponential", "full-jitter", "budget+breaker"]


def start(*args, **more):
    return subprocess.Popen([BIDE, "demo", *args], env=tap.environment(**more),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def get(url, path):
    with urllib.request.urlopen(url + path, timeout=10) as answer:
        return answer.read().decode()


def refused(port):
    """Whether nobody listens there."""
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) != 0


def origins(pid):
    """The ports of loopback that a process listens on."""
    inodes = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            link = os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue
        if link.startswith("socket:"):
            inodes.add(link[8:-1])
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table][1:]
    return [int(row[1].split(":")[1], 16) for row in rows
            if row[3] == "0A" and row[9] in inodes]


def hostile(ports):
    """What no client of a fleet sends: the servers must outlive it."""
    for port in ports:
        for text in (b"\x00\xff" * 4000, b"GET / HTTP/1.1\r\n\r\n",
                     b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx",
                     b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 50, b"GET"):
            try:
                with socket.create_connection(("127.0.0.1", port), 5) as s:
                    s.sendall(text)
            except OSError:
                pass  # it hung up before it was told all


def as_json():
    p = start("--json", "--seconds", "6", "--listen", "127.0.0.1:0")
    line = p.stderr.readline()
    url = re.search(r"http://[\d.]+:\d+", line)
    tap.case("where the dashboard is is told on stderr", url is not None, line)
    url = url[0]
    state = json.loads(get(url, "/api/state"))
    tap.case("/api/state answers meanwhile, with the four fleets",
             [d["name"] for d in state["deps"]] == NAMES, state)
    tap.case("so does the page", "<html" in get(url, "/").lower())
    tap.case("and /metrics", 'dep="budget+breaker"' in get(url, "/metrics"))
    ports = origins(p.pid)
    tap.case("four origins and a dashboard listen", len(ports) == 5, ports)
    admin = int(url.rsplit(":", 1)[1])
    hostile(port for port in ports if port != admin)
    out, err = p.communicate(timeout=60)
    tap.case("it ends by itself, with 0", p.returncode == 0 and not err,
             (p.returncode, err))
    tap.case("nothing is left that listens", all(refused(n) for n in ports))
    return json.loads(out)


def figures(d):
    fleets = {f["name"]: f for f in d["fleets"]}
    tap.case("the figures of four fleets", list(fleets) == NAMES, d)
    tap.case("of the whole timetable", d["seconds"] == 6 and not d["interrupted"])
    for f in d["fleets"]:
        ended = f["succeeded"] + f["failed"]
        tap.case(f"{f['name']}: its figures agree",
                 0 < ended <= f["calls"]
                 and f["calls"] - ended <= d["clients_of_each"]
                 and abs(f["amplification"] - f["attempts"] / f["calls"]) < 0.001
                 and abs(f["goodput_per_s"] - f["succeeded"] / 6) < 0.01
                 and f["peak_load_per_s"] > 0, f)
    naive, best = fleets["naive"], fleets["budget+breaker"]
    tap.case("at once costs more attempts than a budget and a breaker allow",
             naive["amplification"] > 1.5 > best["amplification"], (naive, best))
    tap.case("every policy that waits lies between",
             all(best["amplification"] < fleets[n]["amplification"]
                 < naive["amplification"] for n in NAMES[1:3]), fleets)
    tap.case("retries at once peak the highest",
             naive["peak_load_per_s"] == max(f["peak_load_per_s"]
                                             for f in d["fleets"]), fleets)
    tap.case("the sentence is made from these figures",
             f"{naive['amplification']:.1f} attempts" in d["seen"]
             and f"{best['peak_load_per_s']:.0f} requests/s" in d["seen"],
             d["seen"])


def as_text():
    code, out, err = tap.run([BIDE, "demo", "--seconds", "4", "--no-dashboard"])
    lines = out.splitlines()
    rows = [line for line in lines if re.match(r" *\d+\.\ds  \w", line)]
    tap.case("without a terminal: a line now and then",
             code == 0 and not err and len(rows) == 15, out)
    phases = [row.split()[1] for row in rows]
    tap.case("the timetable is kept", re.fullmatch(
        "(healthy )+(hangs )?(errors )+(loads )+(healthy ?)+", " ".join(phases)),
        phases)
    table = {line.split()[0]: line for line in lines[lines.index(rows[-1]):]
             if line.split() and line.split()[0] in NAMES}
    tap.case("then the table", list(table) == NAMES and "per call" in out, out)
    tap.case("no colours, and no line over 80 columns", "\033" not in out
             and max(len(line) for line in lines) <= 80, out)
    tap.case("no dashboard", "http" not in out)


def interrupted():
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        p = start("--seconds", "30", "--no-dashboard")
        p.stdout.readline()
        p.send_signal(s)
        out, err = p.communicate(timeout=20)
        tap.case(f"{s.name} ends it early with the table so far",
                 p.returncode == 130 and not err and "peak load" in out
                 and "before the outage did" in out, (p.returncode, out, err))
    p = start("--seconds", "4", "--no-dashboard", "--keep")
    text, after = "", False
    for line in p.stdout:
        text += line
        after = "recovered" in text and re.match(r" *\d+\.\ds  \w", line)
        if after:
            break
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=20)
    tap.case("--keep goes on after the table, until it is interrupted",
             after and p.returncode == 0 and not err, (p.returncode, text, err))
    p = start("--seconds", "4", "--no-dashboard")
    p.stdout.close()
    err = p.stderr.read()
    tap.case("an output that is closed ends it",
             p.wait(timeout=20) == 2 and "cannot write" in err, err)


def on_terminal(columns, **more):
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([BIDE, "demo", "-s4", "--no-dashboard"],
                         env=tap.environment(**{"TERM": "xterm", **more}), stdin=slave,
                         stdout=slave, stderr=slave)
    os.close(slave)
    text = b""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            text += os.read(master, 65536)
        except OSError:
            break
    code = p.wait(timeout=10)
    os.close(master)
    return code, text.decode().replace("\r\n", "\n")


def widest(text):
    plain = re.sub("\033\\[[0-9;]*[a-zA-Z]|\r", "", text)
    return max(len(line) for line in plain.splitlines())


def terminal():
    code, text = on_terminal(80)
    tap.case("on a terminal it is drawn, over and over in place",
             code == 0 and text.count("\033[8A") > 10, text[-2000:])
    tap.case("it fits 80 columns", widest(text) <= 80, widest(text))
    tap.case("curves, colours and the table",
             "█" in text and "\033[31m" in text and "recovered" in text)
    code, text = on_terminal(40, LC_ALL="C", NO_COLOR="1")
    tap.case("it fits 40 columns", code == 0 and widest(text) <= 40, text[-2000:])
    tap.case("NO_COLOR and ASCII are heeded",
             "\033[31m" not in text and text.isascii())
    code, text = on_terminal(80, TERM="dumb")
    tap.case("on a dumb terminal: lines", code == 0 and "\033" not in text, text)


def mistakes():
    for args, words in (
            (["--seconds", "3"], "from 4 to 3600"),
            (["--seconds", "3601"], "from 4 to 3600"),
            (["--seconds", "nan"], "from 4 to 3600"),
            (["--seconds", "5x"], "from 4 to 3600"),
            (["--seconds", ""], "from 4 to 3600"),
            (["--no-dashboard", "--open"], "exclude each other"),
            (["--no-dashboard", "--listen", "127.0.0.1:0"], "exclude each other"),
            (["--kep"], "--keep"),
            (["now"], "now")):
        code, out, err = tap.run([BIDE, "demo", *args])
        tap.case(f"{' '.join(args)} is a mistake",
                 code == 2 and not out and words in err, (code, out, err))
    with socket.create_server(("127.0.0.1", 0)) as s:
        taken = f"127.0.0.1:{s.getsockname()[1]}"
        for listen, words in ((taken, "in use"), ("nonsense", "nonsense"),
                              ("0.0.0.0:0", "loopback")):
            code, out, err = tap.run([BIDE, "demo", "--listen", listen])
            tap.case(f"--listen {listen.split(':')[0]}: it cannot, and says why",
                     code == 1 and not out and words in err, (code, out, err))
    code, out, err = tap.run(["/bin/sh", "-c", 'ulimit -n 200; exec "$0" demo',
                              BIDE])
    tap.case("too few files that may be open: told", code == 1
             and "ulimit" in err, (code, out, err))


figures(as_json())
as_text()
interrupted()
terminal()
mistakes()
tap.finish()
