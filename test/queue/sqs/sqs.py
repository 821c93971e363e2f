#!/usr/bin/env python3
"""sqs.py BIDE MODULE: what only SQS has: signatures, credentials, throttling, keys on a
FIFO queue. In front of fauxqs, which checks nothing, is a proxy that computes every
signature itself, from AWS's description of Signature Version 4."""
import datetime
import hashlib
import hmac
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import fauxqs
import servers
import tap

fauxqs.prepare()
BIDE = os.path.join(tap.START, sys.argv[1])
KEY, SECRET, TOKEN = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCY", "a+token/with==signs"
MODULES = os.path.dirname(os.path.join(tap.START, sys.argv[2]))


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(secret, method, path, headers, signed, body, date, region):
    """By the book: canonical request, string to sign, derived key."""
    canonical = "\n".join([
        method, path, "",
        *(f"{name}:{re.sub(' +', ' ', headers[name].strip())}" for name in signed), "",
        ";".join(signed), hashlib.sha256(body).hexdigest()])
    scope = f"{date[:8]}/{region}/sqs/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (date[:8], region, "sqs", "aws4_request"):
        key = mac(key, part)
    return mac(key, text).hex()


class Proxy(http.server.BaseHTTPRequestHandler):
    """Answers 403 unless the signature is right; then asks fauxqs."""
    protocol_version = "HTTP/1.1"
    token = None         # the one that must be signed
    region = "us-east-1"
    trouble = []         # answers instead, for the next requests
    actions = []         # what was asked
    wrong = []           # what was wrong with a signature

    def answer(self, status, body, error=None):
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        if error:
            self.send_header("x-amzn-query-error", error + ";Sender")
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, kind):
        self.answer(status, json.dumps({"__type": "com.amazonaws.sqs#" + kind,
                                        "message": kind}).encode(), kind)

    def fault(self, body):
        """What is wrong with the signature; None if nothing is."""
        headers = {}
        for name, value in self.headers.items():
            headers[name.lower()] = value
        m = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/sqs/"
                         r"aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})",
                         headers.get("authorization", ""))
        if not m:
            return "no authorization: " + headers.get("authorization", "")
        key, day, region, signed, given = m.groups()
        signed = signed.split(";")
        date = headers.get("x-amz-date", "")
        now = datetime.datetime.now(datetime.timezone.utc)
        if key != KEY or region != self.region or not date.startswith(day):
            return f"scope {key} {region} {date}"
        stamp = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(
            tzinfo=datetime.timezone.utc)
        if abs((now - stamp).total_seconds()) > 300:
            return "date " + date
        if signed != sorted(signed) or "host" not in signed or "x-amz-target" not in signed:
            return f"signed headers {signed}"
        if headers.get("x-amz-security-token") != self.token:
            return "token"
        if self.token and "x-amz-security-token" not in signed:
            return "the token is not signed"
        right = signature(SECRET, self.command, self.path, headers, signed, body, date,
                          region)
        return None if hmac.compare_digest(right, given) else "signature"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        action = self.headers["X-Amz-Target"].partition(".")[2]
        fault = self.fault(body)
        Proxy.actions.append(action)
        if fault:
            Proxy.wrong.append(fault)
            return self.refuse(403, "InvalidClientTokenId" if fault.startswith("scope")
                               else "SignatureDoesNotMatch")
        if Proxy.trouble:
            status, kind = Proxy.trouble.pop(0)
            return self.refuse(status, kind)
        request = urllib.request.Request(
            behind.endpoint + "/", body, {"Content-Type": "application/x-amz-json-1.0",
                                          "X-Amz-Target": self.headers["X-Amz-Target"]})
        try:
            Few.ask(action, body)
            with urllib.request.urlopen(request, timeout=60) as r:
                answer = r.read()
            Few.answer(action, body, answer)
            self.answer(200, answer)
        except urllib.error.HTTPError as e:
            self.answer(e.code, e.read(), e.headers["x-amzn-query-error"])
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Few:
    """How many messages of the queue `few` somebody holds, or has asked for beside those."""
    lock, held, most = threading.Lock(), 0, 0

    @classmethod
    def ask(cls, action, body):
        if action == "ReceiveMessage" and json.loads(body)["QueueUrl"].endswith("/few"):
            with cls.lock:
                cls.most = max(cls.most, cls.held + json.loads(body)["MaxNumberOfMessages"])

    @classmethod
    def answer(cls, action, body, answer):
        if action not in ("ReceiveMessage", "DeleteMessageBatch") or \
                not json.loads(body)["QueueUrl"].endswith("/few"):
            return
        answer = json.loads(answer)
        with cls.lock:
            cls.held += len(answer.get("Messages") or []) - len(answer.get("Successful") or [])


class Metadata(http.server.BaseHTTPRequestHandler):
    """Of a container, and of an instance: IMDSv2."""
    asked = []

    def reply(self, text, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def keys(self):
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=6)
        return json.dumps({"AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": TOKEN,
                           "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ")})

    def do_PUT(self):
        Metadata.asked.append(self.path)
        self.reply("session-7")

    def do_GET(self):
        Metadata.asked.append(self.path)
        session = self.headers.get("X-aws-ec2-metadata-token")
        if self.path == "/container":
            good = self.headers.get("Authorization") == "let me in"
            self.reply(self.keys() if good else "no", 200 if good else 403)
        elif session != "session-7":
            self.reply("no", 401)
        elif self.path.endswith("/security-credentials/"):
            self.reply("role-1")
        else:
            self.reply(self.keys())

    def log_message(self, *_):
        pass


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def bide(*args, feed=None, limit=60, **env):
    p = subprocess.run([BIDE, *args], input=feed, capture_output=True, text=True,
                       timeout=limit, env=tap.environment(
                           **{"AWS_REGION": "us-east-1", "BIDE_MODULES": MODULES, **env}))
    return p.returncode, p.stdout + p.stderr


KEYS = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}


def signed(name, **env):
    """Whether a message goes in and out again, each request with a good signature."""
    Proxy.wrong.clear()
    code, text = bide("enqueue", "--broker", url, "--queue", name, "b\u00f6dy & <more>",
                      **env)
    if code == 0:
        code, more = bide("worker", "--broker", url, "--queue", name, "--until-empty", "--",
                          "sh", "-c", 'test "$(cat)" = "b\u00f6dy & <more>"', **env)
        text += more
    tap.case(name.replace("-", "_") + "_are_signed", code == 0 and not Proxy.wrong,
             f"{code} {text} {Proxy.wrong}")


def signatures():
    signed("requests", **KEYS)
    Proxy.token = TOKEN
    signed("session-tokens", AWS_SESSION_TOKEN=TOKEN, **KEYS)
    Proxy.token = None


def sources():
    folder = tempfile.mkdtemp(prefix="bide-sqs-")
    with open(os.path.join(folder, "credentials"), "w", encoding="utf-8") as f:
        f.write("[default]\naws_access_key_id = other\naws_secret_access_key = other\n"
                f"\n[work]\naws_access_key_id={KEY}\naws_secret_access_key = {SECRET}\n"
                f"aws_session_token = {TOKEN}\n")
    Proxy.token = TOKEN
    signed("keys-of-a-profile", AWS_SHARED_CREDENTIALS_FILE=folder + "/credentials",
           AWS_PROFILE="work")
    signed("keys-of-a-container",
           AWS_CONTAINER_CREDENTIALS_FULL_URI=f"http://127.0.0.1:{near.server_port}"
           "/container", AWS_CONTAINER_AUTHORIZATION_TOKEN="let me in")
    signed("keys-of-an-instance", **{
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{near.server_port}"})
    tap.case("instance_is_asked_with_a_session", "/latest/api/token" in Metadata.asked,
             Metadata.asked)
    Proxy.token = None


def refusals():
    bide("enqueue", "--broker", url, "--queue", "kept", "x", **KEYS)
    for name, keys in (("wrong_secret", {**KEYS, "AWS_SECRET_ACCESS_KEY": "wrong"}),
                       ("wrong_key", {**KEYS, "AWS_ACCESS_KEY_ID": "AKIDOTHER"}),
                       ("no_credentials", {})):
        Proxy.actions.clear()
        code, text = bide("worker", "--broker", url, "--queue", "kept", "--", "true", **keys)
        tap.case(name + "_is_refused_and_nothing_is_taken",
                 code == 2 and "ReceiveMessage" not in Proxy.actions
                 and ("credentials" in text or "Signature" in text
                      or "InvalidClientTokenId" in text), f"{code} {text}")
    for given, expected in ((["--broker", "sqs://Frankfurt"], "not a region"),
                            (["--broker", "sqs://eu-central-1/orders"], "12 digits"),
                            (["--broker", url, "--queue", "a.b"], ".fifo"),
                            (["--broker", url, "--queue", "kept", "--key", "k"],
                             "NAME.fifo"),
                            (["--broker", url, "--queue", "kept", "--priority", "3"],
                             "a queue for each")):
        code, text = bide("enqueue", *given, "x", **KEYS)
        tap.case(f"{expected}_is_said".replace(" ", "_"), code != 0 and expected in text,
                 f"{code} {text}")


def throttling():
    Proxy.trouble[:] = [(400, "RequestThrottled"), (503, "ServiceUnavailable")]
    code, text = bide("enqueue", "--broker", url, "--queue", "slow", "x", **KEYS)
    tap.case("throttled_requests_are_repeated", code == 0 and not Proxy.trouble,
             f"{code} {text} {Proxy.trouble}")


def findings():
    """Settings of the queue that lose messages are found out, with what to change."""
    def make(name, **attributes):
        made = behind.ask("CreateQueue", QueueName=name, Attributes=attributes)
        return made["QueueUrl"]

    def said(name, *more):
        return bide("worker", "--broker", url, "--queue", name, *more, "check", **KEYS)

    make("other")
    arn = behind.ask("GetQueueAttributes", QueueUrl=behind.queue("other"),
                     AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    for name, attributes, expected, loss in (
            ("as-it-comes", {}, "not used", False),
            ("redrives", {"RedrivePolicy": json.dumps(
                {"maxReceiveCount": 2, "deadLetterTargetArn": arn})},
             "maxReceiveCount to 100", True),
            ("forgets", {"MessageRetentionPeriod": "3600"},
             "MessageRetentionPeriod=1209600", True),
            ("delays", {"DelaySeconds": "60"}, "DelaySeconds=0", False),
            ("forgets-soon", {"MessageRetentionPeriod": "15000"},
             "MessageRetentionPeriod=1209600", True),
            ("four-days", {"MessageRetentionPeriod": "345600"},
             "MessageRetentionPeriod=1209600 is the most", False),
            ("forgets.fifo", {"FifoQueue": "true", "MessageRetentionPeriod": "50000"},
             "MessageRetentionPeriod=1209600", True),
            ("redrives.fifo", {"FifoQueue": "true", "RedrivePolicy": json.dumps(
                {"maxReceiveCount": 2, "deadLetterTargetArn": arn})},
             "maxReceiveCount", True)):
        make(name, **attributes)
        code, text = said(name)
        tap.case(f"check_{name}".replace("-", "_"), expected in text
                 and ("error: " in text) == loss, f"{code} {text}")
        if loss:
            code, text = bide("worker", "--broker", url, "--queue", name, "--", "true",
                              **KEYS)
            tap.case(f"worker_does_not_start_on_{name}", code == 2, f"{code} {text}")
    make("small")
    make("small-dead", MaximumMessageSize="1024")
    code, text = said("small")
    tap.case("check_dead_letters_fit", "error: " in text and "small-dead" in text, text)


def too_large():
    behind.ask("CreateQueue", QueueName="large",
               Attributes={"MaximumMessageSize": "65536"})
    code, text = bide("enqueue", "--broker", url, "--queue", "large", feed="x" * 65537,
                      **KEYS)
    tap.case("too_large_is_refused_with_the_limit", code != 0 and "49152" in text
             and "65536" in text, f"{code} {text}")


def too_late():
    """What waits longer than SQS keeps it would be lost."""
    behind.ask("CreateQueue", QueueName="short", Attributes={"MessageRetentionPeriod": "14400"})
    code, text = bide("enqueue", "--broker", url, "--queue", "short", "--delay", "3h10m", "x",
                      **KEYS)
    tap.case("a_delay_beyond_its_retention_is_refused", code == 2 and "--delay" in text
             and "10800 s" in text, f"{code} {text}")
    code, text = bide("enqueue", "--broker", url, "--queue", "short", "--delay", "2h50m", "x",
                      **KEYS)
    tap.case("a_shorter_one_is_queued", code == 0 and "1 later" in text, f"{code} {text}")


def dead_letters():
    """From the first attempt to the redrive, with what the handler said."""
    code, text = bide("enqueue", "--broker", url, "--queue", "dead", "--id", "order-7", "x",
                      **KEYS)
    tap.case("an_id_on_a_standard_queue_is_refused", code == 2 and "--id" in text,
             f"{code} {text}")
    behind.ask("SendMessage", QueueUrl=behind.queue("dead"), MessageBody="x",
               MessageAttributes={"bide.id": {"DataType": "String",
                                              "StringValue": "order-7"}})
    code, text = bide("worker", "--broker", url, "--queue", "dead", "--until-empty", "--",
                      "sh", "-c", "echo out of paper; exit 65", **KEYS)
    tap.case("permanent_failure_is_a_dead_letter", code == 1, f"{code} {text}")
    code, text = bide("worker", "show", "--broker", url, "--queue", "dead", "order-7",
                      **KEYS)
    tap.case("dead_letter_says_why", code == 0 and "out of paper" in text
             and "permanent" in text and "exit 65" in text, f"{code} {text}")
    code, text = bide("worker", "redrive", "--broker", url, "--queue", "dead", **KEYS)
    tap.case("dead_letter_is_brought_back", code == 0, f"{code} {text}")
    code, text = bide("worker", "--broker", url, "--queue", "dead", "--until-empty", "--",
                      "sh", "-c", 'test "$BIDE_MESSAGE_ID" = order-7', **KEYS)
    tap.case("and_is_done_then", code == 0, f"{code} {text}")


def redriving():
    """Ten first, and on only if most succeed: SQS shows nothing of what waits, so workers
    tell. Interrupted, it loses nothing."""
    def send(n):
        for i in range(n):
            behind.ask("SendMessage", QueueUrl=behind.queue("many"), MessageBody="x",
                       MessageAttributes={"bide.id": {"DataType": "String",
                                                      "StringValue": f"order-{i}"}})

    def counts():
        for name in ("many", "many-dead"):
            a = behind.ask("GetQueueAttributes", QueueUrl=behind.queue(name),
                           AttributeNames=["All"])["Attributes"]
            yield sum(int(a["ApproximateNumberOfMessages" + kind])
                      for kind in ("", "NotVisible", "Delayed"))

    def redrive(*more):
        return bide("worker", "redrive", "--broker", url, "--queue", "many", *more, **KEYS)

    with tempfile.TemporaryDirectory() as folder:
        behind.ask("CreateQueue", QueueName="many")
        send(40)
        bide("worker", "--broker", url, "--queue", "many", "--until-empty", "--", "sh",
             "-c", "exit 65", **KEYS)
        tap.case("forty_are_dead", list(counts()) == [0, 40], list(counts()))
        code, text = redrive("--dry-run")
        tap.case("dry_run_changes_nothing", code == 0 and "40 dead" in text
                 and list(counts()) == [0, 40], f"{code} {text}")
        code, text = redrive("--dry-run", "--reason", "crashed")
        tap.case("others_are_not_brought_back", "0 dead" in text, f"{code} {text}")
        p = worker("--queue", "many", "--", "sh", "-c",
                   f"echo $BIDE_MESSAGE_ID >>{folder}/seen; exit $(cat {folder}/exit)")
        with open(folder + "/exit", "w", encoding="utf-8") as f:
            f.write("65")
        code, text = redrive()
        tap.case("first_ten_that_fail_end_it", code == 1 and "30 stay dead" in text,
                 f"{code} {text}")
        servers.until("all are dead again", lambda: list(counts()) == [0, 40])
        with open(folder + "/seen", encoding="utf-8") as f:
            seen = f.read().split()
        tap.case("no_more_than_ten_were_tried", len(seen) == 10, seen)
        with open(folder + "/exit", "w", encoding="utf-8") as f:
            f.write("0")
        half = subprocess.Popen([BIDE, "worker", "redrive", "--broker", url, "--queue", "many"],
                                env=tap.environment(AWS_REGION="us-east-1",
                                                    BIDE_MODULES=MODULES, **KEYS),
                                stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in half.stderr:
            if line.startswith("brought back 1") and " of 40" in line:
                break
        half.kill()
        half.wait()

        def settled():
            alive, dead = counts()
            with open(folder + "/seen", encoding="utf-8") as f:
                done = len(set(f.read().split()[10:]))
            return alive == 0 and done + dead == 40

        servers.until("each is done or dead", settled)
        tap.case("interrupted_it_loses_nothing", 0 < list(counts())[1] < 40,
                 list(counts()))
        # what was hidden when it was killed is shown again in 5 minutes; not waited for here
        behind.ask("PurgeQueue", QueueUrl=behind.queue("many-dead"))
        p.send_signal(signal.SIGTERM)
        p.wait(30)
        with open(folder + "/seen", encoding="utf-8") as f:
            seen = f.read().split()[10:]
        tap.case("with_their_own_ids", len(set(seen)) == len(seen)
                 and set(seen) <= {f"order-{i}" for i in range(40)}, seen)


def never_more_than_are_free():
    """A receive is an attempt: no message waits in a worker while others could run it."""
    behind.ask("CreateQueue", QueueName="few")
    for i in range(40):
        behind.ask("SendMessage", QueueUrl=behind.queue("few"), MessageBody=str(i))
    code, text = bide("worker", "--broker", url, "--queue", "few", "--until-empty", "-n", "3",
                      "--base", "10ms", "--", "sh", "-c",
                      'n=$(cat); [ $BIDE_ATTEMPT = 2 ] || [ ${n%0} = $n ]', **KEYS)
    tap.case("never_more_in_hand_than_handlers_are_free", code == 0 and Few.held == 0
             and Few.most == 3, f"{code} {text} {Few.held} {Few.most}")


def worker(*args):
    return subprocess.Popen([BIDE, "worker", "--broker", url, *args], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env=tap.environment(
                                AWS_REGION="us-east-1", BIDE_MODULES=MODULES, **KEYS))


def idle():
    """An idle worker asks three times a minute, and is woken at once."""
    with tempfile.TemporaryDirectory() as folder:
        bide("enqueue", "--broker", url, "--queue", "idle", "first", **KEYS)
        p = worker("--queue", "idle", "--", "sh", "-c", f"cat >>{folder}/seen")
        servers.until("the first", lambda: os.path.exists(folder + "/seen"))
        time.sleep(2)
        Proxy.actions.clear()
        time.sleep(8)
        asked = list(Proxy.actions)
        tap.case("idle_worker_asks_rarely", len(asked) <= 3, asked)
        bide("enqueue", "--broker", url, "--queue", "idle", "second", **KEYS)
        begun = time.monotonic()
        servers.until("the second", lambda: os.path.getsize(folder + "/seen") == 11)
        tap.case("idle_worker_is_woken", time.monotonic() - begun < 15)
        p.send_signal(signal.SIGTERM)
        tap.case("idle_worker_stops_at_once", p.wait(20) == 0, p.stdout.read())


def keys():
    """In order, one at a time, also when the first one fails."""
    with tempfile.TemporaryDirectory() as folder:
        for n in range(4):
            bide("enqueue", "--broker", url, "--queue", "keys.fifo", "--key", "k 1", str(n),
                 **KEYS)
        code, text = bide(
            "worker", "--broker", url, "--queue", "keys.fifo", "--until-empty", "--base",
            "10ms", "--", "sh", "-c",
            f'n=$(cat); [ -e {folder}/busy ] && echo BESIDE >>{folder}/seen; '
            f'touch {folder}/busy; echo $n.$BIDE_ATTEMPT >>{folder}/seen; sleep 0.1; '
            f'rm {folder}/busy; [ $n$BIDE_ATTEMPT != 11 ]', **KEYS)
        with open(folder + "/seen", encoding="utf-8") as f:
            seen = f.read().split()
        tap.case("keyed_messages_keep_their_order",
                 code == 0 and seen == ["0.1", "1.1", "1.2", "2.1", "3.1"],
                 f"{code} {text} {seen}")


with fauxqs.Fauxqs() as behind:
    front, near = serve(Proxy), serve(Metadata)
    url = f"sqs+http://127.0.0.1:{front.server_port}"
    signatures()
    sources()
    refusals()
    throttling()
    findings()
    too_large()
    too_late()
    dead_letters()
    redriving()
    never_more_than_are_free()
    keys()
    idle()
tap.finish()
