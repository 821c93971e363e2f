"""An SQS whose clock can be moved: what AWS documents about time, and no more.

    with stub.Stub() as s:
        s.advance(900)            # seconds
        s.skip()                  # to the moment when the next message is shown

Delays of 15 min at most, and none of a message on a FIFO queue; a message that was received
is hidden for 12 h at most, all in all; retention; groups; repetitions within 5 minutes. What
a client gets wrong there, it is told with AWS's own errors."""
import email.utils
import http.server
import json
import threading
import time
import uuid


class Refused(Exception):
    """The type of the error, and its text."""


class Message:
    def __init__(self, entry, now, shown):
        self.id = str(uuid.uuid4())
        self.body = entry["MessageBody"]
        self.attributes = entry.get("MessageAttributes", {})
        self.system = entry.get("MessageSystemAttributes", {})
        self.group = entry.get("MessageGroupId")
        self.sent, self.shown = now, shown
        self.received = self.first = self.handle = None
        self.count = 0

    def hidden(self, now):
        return self.shown > now

    def seen(self, now):
        system = {"SentTimestamp": str(int(self.sent * 1000)),
                  "ApproximateReceiveCount": str(self.count),
                  "ApproximateFirstReceiveTimestamp": str(int(self.first * 1000))}
        system.update({name: a["StringValue"] for name, a in self.system.items()})
        if self.group:
            system["MessageGroupId"] = self.group
        return {"MessageId": self.id, "ReceiptHandle": self.handle, "Body": self.body,
                "Attributes": system, "MessageAttributes": self.attributes}


class Queue:
    def __init__(self, name, attributes):
        self.name, self.fifo = name, name.endswith(".fifo")
        self.attributes = {"MessageRetentionPeriod": "345600", "VisibilityTimeout": "30",
                           "MaximumMessageSize": "262144", "DelaySeconds": "0", **attributes}
        self.messages, self.once = [], {}

    def forget(self, now):
        kept = float(self.attributes["MessageRetentionPeriod"])
        self.messages = [m for m in self.messages if m.sent + kept > now]

    def send(self, entry, now):
        delay = int(entry.get("DelaySeconds", 0))
        if not 0 <= delay <= 900 or self.fifo and "DelaySeconds" in entry:
            raise Refused("InvalidParameterValue", "DelaySeconds")
        label = entry.get("MessageDeduplicationId")
        if self.fifo and (not label or not entry.get("MessageGroupId")):
            raise Refused("MissingParameter", "MessageGroupId, MessageDeduplicationId")
        if self.fifo and label in self.once and now - self.once[label][0] < 300:
            return self.once[label][1]
        m = Message(entry, now, now + delay)
        self.messages.append(m)
        self.once[label] = (now, m.id)
        return m.id

    def receive(self, most, hidden, now):
        self.forget(now)
        blocked, got = set(), []
        for m in self.messages:
            if len(got) == most:
                break
            if m.hidden(now) or m.group in blocked:
                blocked.add(m.group if self.fifo else m.id)
                continue
            m.count += 1
            m.received, m.first = now, m.first or now
            m.handle, m.shown = str(uuid.uuid4()), now + hidden
            got.append(m.seen(now))
        return got

    def held(self, handle, now):
        self.forget(now)
        for m in self.messages:
            if m.handle == handle:
                if not m.hidden(now) and self.fifo:
                    raise Refused("ReceiptHandleIsInvalid", "it has expired")
                return m
        raise Refused("ReceiptHandleIsInvalid", handle)

    def hide(self, entry, now):
        m, seconds = self.held(entry["ReceiptHandle"], now), entry["VisibilityTimeout"]
        if not m.hidden(now):
            raise Refused("MessageNotInflight", m.id)
        if not 0 <= seconds <= 43200 or now + seconds - m.received > 43200:
            raise Refused("InvalidParameterValue", "Total VisibilityTimeout is beyond 43200")
        m.shown = now + seconds

    def delete(self, entry, now):
        m = self.held(entry["ReceiptHandle"], now)
        self.messages.remove(m)


class Stub:
    """self.url is what `--broker` takes."""

    def __init__(self):
        self.queues, self.lock = {}, threading.RLock()
        self.ahead = 0.0
        self.failing = {}   # action: how often it fails, without having done anything
        self.denied = None  # an action that the account may not do
        self.received = 0   # messages handed out
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body at once: else each answer takes 40 ms

            def date_time_string(self, timestamp=None):
                return email.utils.formatdate(stub.now(), usegmt=True)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                action = self.headers["X-Amz-Target"].partition(".")[2]
                try:
                    status, answer = 200, stub.act(action, body)
                except Refused as e:
                    status, answer = 400, {"__type": "com.amazonaws.sqs#" + e.args[0],
                                           "message": e.args[1]}
                except InterruptedError:
                    status, answer = 500, {"__type": "InternalFailure", "message": "asked to"}
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"sqs+http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    # ===== time =====

    def now(self):
        return time.time() + self.ahead

    def advance(self, seconds):
        with self.lock:
            self.ahead += seconds

    def skip(self):
        """To when the next is shown; gives the seconds, or None."""
        with self.lock:
            now = self.now()
            shown = [m.shown for q in self.queues.values() for m in q.messages
                     if m.shown > now]
            if not shown:
                return None
            seconds = min(shown) - now + 0.01
            self.advance(seconds)
            return seconds

    # ===== requests =====

    def act(self, action, body):
        with self.lock:
            if self.failing.get(action, 0) > 0:
                self.failing[action] -= 1
                raise InterruptedError
        if action == self.denied:
            raise Refused("AccessDenied", "not authorized to perform: sqs:" + action)
        if action == "ReceiveMessage":
            return self.receive(body)
        with self.lock:
            return getattr(self, "do_" + action)(body, self.now())

    def queue(self, body):
        return self.queues[body["QueueUrl"].rpartition("/")[2]]

    def receive(self, body):
        end = time.monotonic() + body.get("WaitTimeSeconds", 0)
        while True:
            with self.lock:
                q = self.queue(body)
                got = q.receive(body.get("MaxNumberOfMessages", 1), body.get(
                    "VisibilityTimeout", 30), self.now())
                self.received += len(got)
            if got or time.monotonic() >= end:
                return {"Messages": got}
            time.sleep(0.01)

    def do_CreateQueue(self, body, _):
        name = body["QueueName"]
        self.queues.setdefault(name, Queue(name, body.get("Attributes", {})))
        return {"QueueUrl": "http://sqs/1/" + name}

    def do_GetQueueUrl(self, body, _):
        if body["QueueName"] not in self.queues:
            raise Refused("QueueDoesNotExist", body["QueueName"])
        return {"QueueUrl": "http://sqs/1/" + body["QueueName"]}

    def do_ListQueues(self, body, _):
        return {"QueueUrls": ["http://sqs/1/" + name for name in sorted(self.queues)
                              if name.startswith(body.get("QueueNamePrefix", ""))]}

    def do_GetQueueAttributes(self, body, now):
        q = self.queue(body)
        q.forget(now)
        kinds = [("Delayed" if m.hidden(now) and not m.count else "NotVisible"
                  if m.hidden(now) else "") for m in q.messages]
        return {"Attributes": {**q.attributes, **{
            "ApproximateNumberOfMessages" + kind: str(kinds.count(kind))
            for kind in ("", "NotVisible", "Delayed")}}}

    def batch(self, body, verb):
        good, bad = [], []
        for entry in body["Entries"]:
            try:
                good.append({"Id": entry["Id"], "MessageId": verb(entry)})
            except Refused as e:
                bad.append({"Id": entry["Id"], "SenderFault": True, "Code": e.args[0],
                            "Message": e.args[1]})
        return {"Successful": good, "Failed": bad}

    def do_SendMessageBatch(self, body, now):
        return self.batch(body, lambda e: self.queue(body).send(e, now))

    def do_DeleteMessageBatch(self, body, now):
        return self.batch(body, lambda e: self.queue(body).delete(e, now))

    def do_ChangeMessageVisibilityBatch(self, body, now):
        return self.batch(body, lambda e: self.queue(body).hide(e, now))
