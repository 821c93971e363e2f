"""The proxies that bench_proxy.py sets side by side: the same task for each, in its
own words. With TLS, all of them have OpenSSL, the same certificate (ECDSA, P-256) and
TLS 1.3, where the client's choice of cipher counts."""
import os
import random
import socket
import subprocess
import sys
import time

PROXY_CORE, OTHER_CORE = 0, 1

ORIGIN = """
worker_processes 1; daemon off; error_log stderr crit; pid origin.pid;
events {{ worker_connections 12000; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;
  uwsgi_temp_path u; scgi_temp_path s;
  server {{ listen 127.0.0.1:{origin} backlog=4096;
    location / {{ default_type text/plain; return 200 "{body}"; }} }}
}}
"""

NGINX = """
worker_processes 1; daemon off; error_log stderr crit; pid proxy.pid;
events {{ worker_connections 11000; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;
  uwsgi_temp_path u; scgi_temp_path s;
  upstream origin {{ server 127.0.0.1:{origin} max_fails=0;
    server 127.0.0.1:{origin} max_fails=0; keepalive 256;
    keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://origin; proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_next_upstream error timeout http_503;
      proxy_next_upstream_tries 4; }} }}
}}
"""

HAPROXY = """
global
  nbthread 1
  maxconn 11000
  no strict-limits
defaults
  mode http
  option http-keep-alive
  timeout connect 5s
  timeout client 600s
  timeout server 60s
  timeout http-keep-alive 600s
  retries 3
  retry-on conn-failure empty-response 503
  option redispatch
  http-reuse always
frontend in
  bind 127.0.0.1:{port} backlog 4096
  default_backend out
backend out
  server origin 127.0.0.1:{origin} pool-max-conn 256
"""

BIDE = """
version: 1
policies:
  default:
    attempts: 4
    attempt_timeout: 60s
proxy:
  listen: 127.0.0.1:{port}
  workers: 1
  access_log: off
  limits: {{ connections: 15000 }}
  timeouts: {{ idle: 600s }}
  routes:
    - {{ match: {{ path: / }}, upstream: origin, policy: default }}
  upstreams:
    origin: {{ endpoints: ["http://127.0.0.1:{origin}"] }}
"""

PROGRAMS = {"bide": ["{bide}", "proxy", "-c", "{conf}"],
            "haproxy": ["haproxy", "-db", "-f", "{conf}"],
            "nginx": ["nginx", "-p", "{path}", "-c", "{conf}"]}
# Added to the end of bide's section, as bench_observe.py does.
BIDE_TLS = "  tls: {{ certificate: {files}.pem, key: {files}.key }}\n"


def with_log(name, text):
    """The same with an access log in a file: HAProxy writes its standard output,
    which is one."""
    if name == "bide":
        return text.replace("access_log: off", "access_log: {path}/access.log")
    if name == "nginx":
        return text.replace("access_log off", "access_log {path}/access.log")
    return text.replace("global\n", "global\n  log stdout format raw local0\n"
                        ).replace("  mode http\n", "  mode http\n  log global\n"
                                  "  option httplog\n")


def with_tls(name, text):
    if name == "bide":
        return text + BIDE_TLS
    if name == "nginx":
        return text.replace("listen 127.0.0.1:{port} backlog=4096;", "listen "
                            "127.0.0.1:{port} ssl backlog=4096; "
                            "ssl_protocols TLSv1.3; ssl_certificate {files}.pem; "
                            "ssl_certificate_key {files}.key;")
    return text.replace("backlog 4096\n", "backlog 4096 ssl crt {files}.both "
                        "ssl-min-ver TLSv1.3\n")


def configuration(name, tls, log):
    text = {"bide": BIDE, "haproxy": HAPROXY, "nginx": NGINX}[name]
    if log:
        text = with_log(name, text)
    return with_tls(name, text) if tls else text


def certificate(directory):
    """A certificate and its key, apart and (for HAProxy) together: the path of
    them but for their endings."""
    files = os.path.join(directory, "bench")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                    files + ".key", "-out", files + ".pem"], check=True,
                   capture_output=True)
    with open(files + ".both", "wb") as both:
        for part in ".pem", ".key":
            with open(files + part, "rb") as f:
                both.write(f.read())
    return files


def cipher(port):
    """What a handshake agrees on."""
    out = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}"],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         check=False).stdout
    line = next((x for x in out.splitlines() if x.startswith("New, ")), "none")
    return line.replace("New, ", "").replace("Cipher is ", "")


def free_port():
    """Below those that the kernel gives to outgoing connections: one of them must
    not have taken it when a server is started on it again."""
    while True:
        port = random.randrange(12000, 30000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def start(command, cwd, port, core):
    process = subprocess.Popen(
        command, cwd=cwd, stdin=subprocess.DEVNULL,
        stdout=open(os.path.join(cwd, "log"), "ab"), stderr=subprocess.STDOUT,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    end = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                print(open(os.path.join(cwd, "log")).read()[-2000:])
                sys.exit(f"{command[0]} does not start")
            time.sleep(0.02)
