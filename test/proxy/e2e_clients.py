#!/usr/bin/env python3
"""e2e_clients.py BIDE: clients that people use, in front of a real nginx: curl, wrk,
Node's fetch, Python's http.client; plain and with TLS on both sides."""
import hashlib
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess

import certificate
import sidecar
from parts import PATIENCE, Nginx, has_nginx, proxied, run, tap
from sidecar import OPEN, Sidecar, config

BIG = bytes(i * i % 251 for i in range(3 << 20))
SUM = hashlib.sha256(BIG).hexdigest()


def command(*words, **more):
    """Exit code, what was printed, what was complained of."""
    p = subprocess.run(words, capture_output=True, timeout=60, check=False,
                       env=tap.environment(), **more)
    return p.returncode, p.stdout, p.stderr.decode()


def have(program):
    if shutil.which(program):
        return True
    print(f"ok {tap.count + 1} - {program} # SKIP it is not installed")
    tap.count += 1
    return False


def curl():
    if not have("curl"):
        return
    with proxied(nginx.port) as p:
        url = f"http://127.0.0.1:{p.port}"
        code, out, err = command("curl", "-sS", url + "/big")
        tap.case("curl: a file of 3 MB", code == 0 and
                 hashlib.sha256(out).hexdigest() == SUM, (code, len(out), err))
        code, out, err = command("curl", "-sS", "-r", "100-199", url + "/big")
        tap.case("curl: a range of it", out == BIG[100:200], (code, err))
        code, out, err = command("curl", "-sS", "-I", url + "/big")
        tap.case("curl: its head", b"Content-Length: 3145728" in out, out)
        tag = re.search(rb"ETag: (\S+)", out, re.I)[1].decode()
        code, out, err = command("curl", "-sS", "-o", os.devnull, "-w",
                                 "%{http_code}", "-H", f"If-None-Match: {tag}",
                                 url + "/big")
        tap.case("curl: 304 for what it has", out == b"304", out)
        code, out, err = command("curl", "-sS", "--compressed", "-w",
                                 " %{num_connects}", url + "/echo/1",
                                 url + "/echo/2", url + "/echo/3")
        tap.case("curl: three on one connection", out.count(b"GET /echo/") == 3
                 and out.endswith(b" 0") and b"1.1 bide-" in out, out)
        code, out, err = command("curl", "-sS", "--http1.0", url + "/echo/old")
        tap.case("curl: HTTP/1.0", b"GET /echo/old" in out, (out, err))
        code, out, err = command("curl", "-sS", "-x", url,
                                 "http://name.example/echo/proxied")
        tap.case("curl: as a forward proxy, absolute-form",
                 b"GET /echo/proxied name.example" in out, (out, err))
        code, out, err = command("curl", "-sS", "--next", "-H",
                                 "Expect: 100-continue", "-T", "-", "-o",
                                 os.devnull, "-w", "%{http_code}", url + "/sink",
                                 input=BIG)
        tap.case("curl: a chunked upload of 3 MB, after 100 Continue",
                 code == 0 and out == b"204", (code, out, err))
        code, out, err = command("curl", "-sS", "-D", "-", url + "/503")
        tap.case("curl: nginx's own 503 after four attempts",
                 b"X-Bide-Attempts: 4" in out and
                 b"X-Bide-Reason: attempts" in out and b"nginx" in out, out)


FETCH = """
const base = process.argv[2];
const {createHash} = require('crypto');
(async () => {
  const out = {};
  const many = await Promise.all(Array.from({length: 200}, async (_, i) => {
    const r = await fetch(base + '/echo/' + i);
    return (await r.text()).startsWith('GET /echo/' + i + ' ');
  }));
  out.many = many.every(x => x);
  let r = await fetch(base + '/big');
  out.big = createHash('sha256').update(Buffer.from(await r.arrayBuffer()))
    .digest('hex');
  r = await fetch(base + '/sink', {method: 'POST', body: 'x'.repeat(200000)});
  out.post = r.status;
  r = await fetch(base + '/503');
  out.failed = [r.status, r.headers.get('x-bide-attempts'),
                r.headers.get('x-bide-reason')];
  await r.text();
  const abort = new AbortController();
  try {
    r = await fetch(base + '/big', {signal: abort.signal});
    await r.body.getReader().read();
    abort.abort();
    out.aborted = true;
  } catch (e) { out.aborted = String(e); }
  console.log(JSON.stringify(out));
})();
"""


def node():
    if not have("node"):
        return
    file = os.path.join(sidecar.work.name, "fetch.js")
    with open(file, "w", encoding="utf-8") as f:
        f.write(FETCH)
    with proxied(nginx.port) as p:
        code, out, err = command("node", file, f"http://127.0.0.1:{p.port}")
        got = json.loads(out) if code == 0 else {}
        tap.case("fetch: 200 at once, each its own answer", got.get("many"),
                 (code, out, err))
        tap.case("fetch: a file of 3 MB", got.get("big") == SUM, got)
        tap.case("fetch: an upload", got.get("post") == 204, got)
        tap.case("fetch: a failure and its reason",
                 got.get("failed") == [503, "4", "attempts"], got)
        tap.case("fetch: one that is aborted, and the sidecar lives",
                 got.get("aborted") is True and p.request(path="/echo")[0] == 200,
                 got)


def python():
    with proxied(nginx.port) as p:
        c = http.client.HTTPConnection("127.0.0.1", p.port, timeout=PATIENCE)
        good = 0
        for i in range(300):
            c.request("GET", f"/echo/{i}")
            r = c.getresponse()
            good += r.read().startswith(b"GET /echo/%d " % i)
        tap.case("http.client: 300 on one connection, each its own answer",
                 good == 300, good)
        c.request("PUT", "/sink", iter([b"x" * 1000] * 300),
                  encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        r = c.getresponse()
        r.read()
        tap.case("http.client: a chunked upload", r.status == 204, r.status)
        c.request("GET", "/big")
        r = c.getresponse()
        tap.case("http.client: a file of 3 MB",
                 hashlib.sha256(r.read()).hexdigest() == SUM)


def wrk():
    if not have("wrk"):
        return
    with proxied(nginx.port, log=True) as p:
        code, out, err = command("wrk", "-t1", "-c20", "-d1s",
                                 f"http://127.0.0.1:{p.port}/echo")
        text = out.decode()
        done = int(re.search(r"(\d+) requests in", text)[1])
        tap.case("wrk: a second of load, and no error", code == 0 and done > 100
                 and "Non-2xx" not in text and "Socket errors" not in text, text)
        _, log = p.stop()
        # wrk leaves with requests in flight, one for each connection at most.
        odd = [x for x in log if x["status"] != 200]
        tap.case("wrk: each request has its line in the log",
                 done <= len(log) <= done + 20 and len(odd) <= 20 and
                 all(x["reason"] == "cancelled" for x in odd),
                 (done, len(log), odd[:3]))


def pem(name):
    return os.path.join(sidecar.work.name, name)


def certificates():
    """An authority, and what it vouches for: us and nginx as `localhost`."""
    here = sidecar.work.name
    for ca in ("ca", "stranger"):
        certificate.authority(here, ca)
    for name, ca in (("us", "ca"), ("origin", "ca"), ("fake", "stranger")):
        certificate.issue(here, name, ca, "DNS:localhost")


def tls():
    if not have("openssl") or not have("curl"):
        return
    certificates()
    good = Nginx(certificate=pem("origin"))
    fake = Nginx(certificate=pem("fake"))
    for n in (good, fake):
        n.file("big", BIG)
    for what, n, options, status in [
            ("a certificate of our authority", good, f"ca: {pem('ca.pem')}", 200),
            ("a stranger's certificate", fake, f"ca: {pem('ca.pem')}", 502),
            ("the system's authorities", good, "verify: true", 502),
            ("another name", good,
             f"ca: {pem('ca.pem')}, server_name: other.example", 502),
            ("no questions", fake, "verify: false", 200)]:
        text = config([1], OPEN, upstream=f", tls: {{ {options} }}",
                      more=f"  tls: {{ certificate: {pem('us.pem')}, "
                      f"key: {pem('us.key')} }}\n")
        text = text.replace("http://127.0.0.1:1",
                            f"https://localhost:{n.tls_port}")
        p = Sidecar(text)
        url = f"https://localhost:{p.port}"
        code, out, err = command(
            "curl", "-sS", "-o", os.devnull, "-D", "-", "--cacert",
            pem("ca.pem"), url + "/echo")
        tap.case(f"TLS on both sides, and {what}: {status}",
                 code == 0 and out.startswith(b"HTTP/2 %d" % status),
                 (code, out, err))
        if status == 502:
            tap.case("which no retry would mend", b"x-bide-attempts: 1" in out
                     and b"x-bide-reason: permanent" in out, out)
        else:
            code, out, err = command("curl", "-sS", "--cacert", pem("ca.pem"),
                                     url + "/big")
            tap.case("and 3 MB through it", code == 0 and
                     hashlib.sha256(out).hexdigest() == SUM, (code, err))
        code, _, err = command("curl", "-sS", "--cacert", pem("stranger.pem"),
                               url + "/echo")
        tap.case("a client that does not know us is free to leave", code == 60,
                 (code, err))
        context = ssl.create_default_context(cafile=pem("ca.pem"))
        context.set_alpn_protocols(["http/1.1", "h2"])
        c = http.client.HTTPSConnection("localhost", p.port, context=context,
                                        timeout=PATIENCE)
        c.connect()
        tap.case("of http/1.1 and h2 it chooses h2",
                 c.sock.selected_alpn_protocol() == "h2")
        c.close()
        sidecar.ended(f"TLS with {what}", p, "certificate is not accepted")
    good.stop()
    fake.stop()


if not has_nginx():
    print("1..0 # SKIP there is no nginx")
    raise SystemExit(0)
nginx = Nginx()
nginx.file("big", BIG)
try:
    run(curl, node, python, wrk, tls)
finally:
    nginx.stop()
