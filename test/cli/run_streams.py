#!/usr/bin/env python3
"""run_streams.py BIDE: what goes in and comes out, byte for byte, however much it
is, and what a command finds open."""
import hashlib
import os
import resource
import socket
import subprocess
import tempfile

import run_tools as t
import tap

MB = 1 << 20
ALL_BYTES = bytes(range(256)) * 300
BIG = 100 * MB
# Data by the megabyte, without an interpreter's help
BIG_COMMAND = f"yes 0123456789abcde | head -c {BIG}"
BIG_SUM = hashlib.sha256(b"0123456789abcde\n" * (BIG // 16)).hexdigest()


def outputs():
    both = "echo out $BIDE_ATTEMPT; echo err $BIDE_ATTEMPT >&2; "
    third = both + "[ $BIDE_ATTEMPT = 3 ]"
    never = both + "exit 1"
    for mode, script, out, err in [
            ("all", third, "out 1\nout 2\nout 3\n", "err 1\nerr 2\nerr 3\n"),
            ("last", third, "out 3\n", "err 3\n"),
            ("success", third, "out 3\n", "err 3\n"),
            ("last", never, "out 4\n", "err 4\n"),
            ("success", never, "", "")]:
        t.same(f"{mode}: {script[-10:]}", t.run(f"-q --attempts 4 -o {mode}",
                                                t.sh(script))[1:],
               (out.encode(), err.encode()))
    code, out, err = t.run("-q --attempts 4 -o prefix", t.sh(third))
    t.same("prefix: a success is untouched", (code, out), (0, b"out 3\n"))
    t.same("prefix: failures", sorted(err.decode().splitlines()),
           ["[1/4] err 1", "[1/4] out 1", "[2/4] err 2", "[2/4] out 2",
            "[3/4] err 3"])
    code, out, err = t.run("-q -o prefix --attempts 1", t.sh(never))
    t.same("prefix: a failure", (code, out, err),
           (1, b"", b"[1/1] err 1\n[1/1] out 1\n"))
    _, out, err = t.run("-q -o prefix --attempts 2",
                        t.sh("printf 'a\\nb'; printf 'c\\n\\nd' >&2; exit 1"))
    t.same("prefix: lines without an end get one", err.decode(),
           "[1/2] c\n[1/2] \n[1/2] d\n[1/2] a\n[1/2] b\n"
           "[2/2] c\n[2/2] \n[2/2] d\n[2/2] a\n[2/2] b\n")


def exact():
    with tempfile.NamedTemporaryFile() as f:
        f.write(ALL_BYTES)
        f.flush()
        for args in ("-o all", "-o last", "-o success", "-o prefix",
                     "--retry-if never", "-o last --stop-if never"):
            t.same(f"{args}: every byte",
                   t.run(args, "--", "cat", f.name), (0, ALL_BYTES, b""))
        t.same("every byte, the third time", t.run(
            "-q -o last", t.sh(f"cat {f.name}; [ $BIDE_ATTEMPT = 3 ]")),
            (0, ALL_BYTES, b""))
        t.same("replay: every byte", t.run(
            "-q -o last", t.sh("cat; [ $BIDE_ATTEMPT = 3 ]"),
            stdin=ALL_BYTES), (0, ALL_BYTES, b""))
    t.same("nothing is nothing", t.run("-o last", "true"), (0, b"", b""))


def limited():
    """A hundred megabytes must not need a hundred megabytes."""
    resource.setrlimit(resource.RLIMIT_DATA, (48 * MB, 48 * MB))


def measured(*args, stdin=None):
    """Runs with little memory; gives exit code and a sum of the output."""
    with tempfile.TemporaryDirectory() as d:
        san = "BIDE_TEST_NO_LIMIT" in os.environ or any(
            name.endswith("SAN_OPTIONS") for name in os.environ)
        p = subprocess.Popen(t.command(*args), stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL,
                             stdin=stdin or subprocess.DEVNULL,
                             env=tap.environment(TMPDIR=d),
                             preexec_fn=None if san else limited)
        digest = hashlib.sha256()
        while piece := p.stdout.read(MB):
            digest.update(piece)
        left = os.listdir(d)
        return p.wait(), digest.hexdigest(), left


def huge():
    for args in ("-o all", "--retry-if never", "-o last", "-o prefix"):
        t.same(f"{args}: 100 MB out", measured(args, t.sh(BIG_COMMAND)),
               (0, BIG_SUM, []))
    t.same("last: 100 MB out, the second time", measured(
        "-o last", t.sh(BIG_COMMAND + "; [ $BIDE_ATTEMPT = 2 ]")),
        (0, BIG_SUM, []))
    with subprocess.Popen(["sh", "-c", BIG_COMMAND],
                          stdout=subprocess.PIPE) as source:
        t.same("replay: 100 MB in, three times", measured(
            "-o last", t.sh("cat; [ $BIDE_ATTEMPT = 3 ]"),
            stdin=source.stdout), (0, BIG_SUM, []))


def inputs():
    cat = "cat; [ $BIDE_ATTEMPT = 3 ]"
    t.same("replay: a pipe", t.run("-q", t.sh(cat), stdin=b"abc\n"),
           (0, b"abc\n" * 3, b""))
    t.same("replay: an empty pipe", t.run("-q", t.sh(cat), stdin=b""),
           (0, b"", b""))
    t.same("replay: a part, then all of it", t.run(
        "-q", t.sh("[ $BIDE_ATTEMPT = 2 ] && exec cat; head -c 1; exit 1"),
        stdin=b"abc" * 100000), (0, b"a" + b"abc" * 100000, b""))
    t.same("replay: a command that does not read",
           t.run("-q", t.sh("exit 3"), stdin=b"abc" * MB)[0], 3)
    with tempfile.TemporaryFile() as f:
        f.write(b"skipped\nabc\n")
        f.flush()
        f.seek(8)
        t.same("replay: a file, from where it stands", subprocess.run(
            t.command("-q", t.sh(cat)), stdin=f, capture_output=True,
            env=tap.environment(), check=False).stdout, b"abc\n" * 3)
        f.seek(8)
        t.same("inherit: a file", subprocess.run(
            t.command("-q --stdin inherit", t.sh(cat)), stdin=f,
            capture_output=True, env=tap.environment(),
            check=False).stdout, b"abc\n")
    t.same("inherit: a pipe", t.run("-q --stdin inherit", t.sh(cat),
                                    stdin=b"abc\n"), (0, b"abc\n", b""))
    t.same("null", t.run("-q --stdin null", t.sh(cat), stdin=b"abc\n"),
           (0, b"", b""))
    # streamed: an answer comes before the input has ended
    p = subprocess.Popen(t.command("--", "cat"), stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, env=tap.environment())
    p.stdin.write(b"ping\n")
    p.stdin.flush()
    t.same("replay: passed on as it comes", p.stdout.readline(), b"ping\n")
    p.stdin.close()
    t.same("replay: ends when the input does", p.wait(), 0)
    # what cannot be kept is still passed on, but not replayed
    code, out, err = t.run("-v", t.sh("cat; exit 1"), stdin=b"x" * (3 * MB),
                           env={"TMPDIR": "/nonexistent"})
    t.same("no room to keep it: passed on once", (code, len(out)),
           (1, 3 * MB))
    tap.case("no room to keep it: told", b"could not be kept" in err, err)
    code, out, err = t.run("-o last", t.sh("head -c 3000000 /dev/zero"),
                           env={"TMPDIR": "/nonexistent"})
    tap.case("output that cannot be kept: told",
             code == 125 and b"cannot keep the output" in err, err)


def shell(script, stdin=None, **more):
    """A script with @B for `bide run`; its output."""
    run = " ".join(t.command("-q"))
    return subprocess.run(["sh", "-c", script.replace("@B", run)], input=stdin,
                          capture_output=True, env=tap.environment(),
                          timeout=100, check=False, **more).stdout


def only_what_it_took():
    """A pipe is left as the command left it: for the loop around us, for the
    shell that reads its script there, for whoever reads it next."""
    t.same("a loop that reads from a pipe", shell(
        "seq 5 | while read -r l; do @B -- echo $l; done"),
        b"1\n2\n3\n4\n5\n")
    t.same("... whose command fails and is run again", shell(
        "seq 3 | while read -r l; do "
        "@B -- sh -c 'echo $1; [ $BIDE_ATTEMPT = 2 ]' sh $l; done"),
        b"1\n1\n2\n2\n3\n3\n")
    script = "@B -- echo a\necho b\n@B -- echo c\necho d\n".replace(
        "@B", " ".join(t.command("-q")))
    t.same("a script that is piped into a shell", subprocess.run(
        ["sh"], input=script.encode(), capture_output=True, check=False,
        env=tap.environment()).stdout, b"a\nb\nc\nd\n")
    for n in (1, 4095, 4096, 4097, 70000):
        t.same(f"a command that takes {n} bytes, three times", shell(
            f"{{ @B -- sh -c 'head -c {n} | wc -c; [ $BIDE_ATTEMPT = 3 ]'; "
            "wc -c; }", stdin=b"x" * 100000),
            f"{n}\n{n}\n{n}\n{100000 - n}\n".encode())
    t.same("the second attempt takes more than the first", shell(
        "{ @B -- sh -c 'head -c 10$BIDE_ATTEMPT | wc -c; "
        "[ $BIDE_ATTEMPT = 2 ]'; wc -c; }", stdin=b"x" * 1000),
        b"101\n102\n898\n")
    t.same("the second attempt takes less: what was taken is gone", shell(
        "{ @B -- sh -c 'head -c $((300 - BIDE_ATTEMPT * 100)) | wc -c; "
        "[ $BIDE_ATTEMPT = 2 ]'; wc -c; }", stdin=b"x" * 1000),
        b"200\n100\n800\n")
    t.same("a command that closes its input and goes on", shell(
        "{ @B -- sh -c 'read -r x; exec <&-; echo $x'; cat; }",
        stdin=b"one\ntwo\n"), b"one\ntwo\n")
    t.same("what comes in pieces", shell(
        "{ printf a; sleep .1; printf b; sleep .1; printf c; } | "
        "{ @B -- head -c 2; cat; }"), b"abc")
    ours, theirs = socket.socketpair()
    theirs.sendall(b"one\ntwo\n")
    theirs.shutdown(socket.SHUT_WR)
    p = subprocess.run(t.command("-q", t.sh(
        "head -c 4; [ $BIDE_ATTEMPT = 2 ]")), stdin=ours, capture_output=True,
        env=tap.environment(), check=False)
    t.same("a socket: replayed, and no more taken",
           (p.stdout, ours.recv(100)), (b"one\none\n", b"two\n"))
    ours.close()
    theirs.close()
    with tempfile.TemporaryFile() as f:
        f.write(b"one\ntwo\n")
        f.seek(0)
        p = subprocess.run(t.command("-q", t.sh(
            "head -c 4; [ $BIDE_ATTEMPT = 2 ]")), stdin=f,
            capture_output=True, env=tap.environment(), check=False)
        t.same("a file: rewound, and left where the command left it",
               (p.stdout, os.lseek(f.fileno(), 0, os.SEEK_CUR)),
               (b"one\none\n", 4))
    _, _, err = t.run("-v --attempts 2", t.sh("head -c 3; exit 1"),
                      stdin=b"abcdef")
    tap.case("-v says what is replayed",
             b"with the same 3 bytes of standard input\n" in err, err)
    _, _, err = t.run("-v --attempts 2", t.sh("exit 1"), stdin=b"abcdef")
    tap.case("-v says nothing of what was not read",
             b"standard input" not in err, err)


def files():
    """What is open in the command, and what is closed."""
    listing = t.sh("exec ls /proc/self/fd")
    for args in ("", "-o last", "--retry-if x", "--stdin replay",
                 "--log-file /dev/null", "--json", "-k open"):
        with tempfile.TemporaryDirectory() as d:
            _, out, err = t.run(args, listing, stdin=b"x",
                                env={"XDG_RUNTIME_DIR": d})
        t.same(f"{args or 'default'}: the command has three files",
               out.split(), [b"0", b"1", b"2", b"3"])  # 3 is ls's own
    reader, writer = os.pipe()
    t.same("what we were given is passed on", t.run(
        t.sh(f"echo x >&{writer}"), pass_fds=[writer])[0], 0)
    os.close(reader)
    os.close(writer)
    for fd in range(3):
        script = f"[ ! -e /proc/self/fd/{fd} ]"
        for mode in ("all", "last"):
            if mode == "last" and fd:
                continue  # it is a pipe then, that nobody passes on
            code = subprocess.run(
                ["sh", "-c", f'exec "$@" {fd}>&-', "sh",
                 *t.command(f"-o {mode}", "--", t.sh(script)[1:])],
                env=tap.environment(), stdin=subprocess.DEVNULL, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            t.same(f"{fd} closed stays closed ({mode})", code.returncode, 0)
        code = subprocess.run(
            ["sh", "-c", f'exec "$@" {fd}>&-', "sh",
             *t.command("-o prefix", t.sh("echo a; echo b >&2; exit 4"))],
            env=tap.environment(), stdin=subprocess.DEVNULL, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        t.same(f"{fd} closed: it runs", code.returncode, 4)
    code = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh",
         *t.command("-o last --retry-if x --stdin replay",
                    t.sh("echo x; exit 4"))],
        env=tap.environment(), check=False)
    t.same("all closed: it runs", code.returncode, 4)


def readers_that_leave():
    for args in ("-o all", "--retry-if never", "-o last"):
        code = subprocess.run(
            ["bash", "-c", '"$@" | head -c 10; echo ${PIPESTATUS[0]}', "bash",
             *t.command("-q", args, t.sh("yes | head -c 10000000"))],
            env=tap.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, check=False)
        tap.case(f"{args}: nobody reads any more",
                 code.stdout.startswith(b"y\ny\ny\ny\ny\n"), code)
    code = subprocess.run(
        ["bash", "-c", '"$@" | true; echo ${PIPESTATUS[0]}', "bash",
         *t.command("-q", "--", "yes")],
        env=tap.environment(), stdin=subprocess.DEVNULL, capture_output=True,
        check=False)
    t.same("killed by PIPE, and not run again", code.stdout, b"141\n")


def torn_apart():
    """A word on one stream, with something on the other amid it."""
    p = subprocess.Popen(
        t.command("-q --stdin inherit --retry-if temporary", t.sh(
            "[ $BIDE_ATTEMPT = 2 ] && exec echo again; printf tem; read -r x; "
            "printf noise >&2; read -r x; echo porary; exit 5")),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=tap.environment())
    out = p.stdout.read(3)
    p.stdin.write(b"\n")
    p.stdin.flush()
    err = p.stderr.read(5)
    rest, _ = p.communicate(b"\n")
    t.same("an expression sees each stream by itself", (out, err, rest),
           (b"tem", b"noise", b"porary\nagain\n"))


def left_behind():
    """A process that keeps the output open does not keep us for ever."""
    code, out, _ = t.run("-o last --kill-after 50ms",
                         t.sh("sleep 60 & echo done; exit 0"))
    t.same("somebody holds the output open", (code, out), (0, b"done\n"))
    code, out, _ = t.run("-o last --kill-after 30s",
                         t.sh("(sleep .1; echo late) & echo early"))
    t.same("output that comes late is waited for", (code, out),
           (0, b"early\nlate\n"))


def main():
    outputs()
    exact()
    inputs()
    only_what_it_took()
    files()
    readers_that_leave()
    torn_apart()
    left_behind()
    huge()
    tap.finish()


main()
