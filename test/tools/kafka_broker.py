#!/usr/bin/env python3
"""A broker of Kafka for tests: topics in memory, and a coordinator of groups as Kafka's own
has it (KIP-62), which librdkafka's mock does not: there a group forms by a timer, offsets are
refused meanwhile, and several members may abort it. It prints where it listens, and does what
it reads, each answered with "ok":

    queue NAME PARTITIONS        makes the topics of a queue
    set TOPIC NAME VALUE         a setting of a topic; of the broker, if TOPIC is `-`
    crash, start                 it goes away with all connections, and comes back with its data
    drop API N                   the next N such requests are done, and not answered
    foreign NAME                 writes messages as others would
    large NAME BYTES             and one with so large a body
    ancient NAME                 and one without a time
    group NAME                   answers "ok STATE MEMBERS"
    beats NAME                   answers "ok GENERATION", and how often its members were heard
    refuse NAME [TOPIC]          its next commit is taken for one of a generation before; with a
                                 TOPIC, the next after something was written there
    late NAME                    answers "ok", and how many commits were refused because their
                                 member had joined again before they came
    ends TOPIC                   answers "ok" and where each partition ends
    grow TOPIC PARTITIONS        it has so many from now on
    clock SECONDS                its clock is so far from this machine's

It ends with its input. Versions of requests are the oldest that have what clients need."""
import asyncio
import bisect
import itertools
import struct
import sys
import time

OK, TOO_LARGE, NO_TOPIC, OUT_OF_RANGE = 0, 10, 3, 1
BAD_GENERATION, UNKNOWN_MEMBER, REBALANCING, EXISTS = 22, 25, 27, 36
OUT_OF_ORDER, UNSUPPORTED = 45, 35
SUFFIXES = ("", ".retry.10s", ".retry.1m", ".retry.10m", ".retry.1h", ".retry.long", ".dead")
DEFAULTS = {"cleanup.policy": "delete", "retention.ms": "1209600000", "retention.bytes": "-1",
            "message.timestamp.type": "CreateTime", "min.insync.replicas": "1",
            "max.message.bytes": "1048588"}
BROKER = {"auto.create.topics.enable": "false", "offsets.retention.minutes": "20160",
          "offset.metadata.max.bytes": "4096"}


# ===== reading and writing =====

class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value, = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def raw(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def text(self):
        n = self.take("h")
        return None if n < 0 else self.raw(n).decode()

    def bytes(self):
        n = self.take("i")
        return None if n < 0 else self.raw(n)

    def list(self, read):
        n = self.take("i")
        return None if n < 0 else [read(self) for _ in range(n)]


def text(value):
    if value is None:
        return struct.pack(">h", -1)
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def blob(data):
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def several(items):
    items = list(items)
    return struct.pack(">i", len(items)) + b"".join(items)


def by_topic(r, read):
    """[topic [partition...]] as requests have it."""
    return r.list(lambda r: (r.text(), r.list(read)))


def answer_by_topic(topics, one):
    return several(text(name) + several(one(name, item) for item in items)
                   for name, items in topics)


# ===== topics =====

def crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 0x82F63B78 if n & 1 else n >> 1
        table.append(n)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


AHEAD_S = [0]  # of its clock


def now_ms():
    return int((time.time() + AHEAD_S[0]) * 1000)


class Partition:
    def __init__(self, topic):
        self.topic, self.end = topic, 0
        self.bases, self.batches = [], []
        self.last = {}  # producer, epoch: [(sequence, count, offset)], as many as Kafka's

    def append(self, data):
        """(error, offset, time)"""
        if len(data) > int(self.topic.settings["max.message.bytes"]):
            return TOO_LARGE, -1, -1
        producer, epoch, sequence, count = struct.unpack_from(">qhii", data, 43)
        seen = self.last.setdefault((producer, epoch), []) if producer >= 0 else []
        for was, _, offset in seen:
            if was == sequence:
                return OK, offset, -1
        if seen and seen[-1][0] + seen[-1][1] != sequence:
            return OUT_OF_ORDER, -1, -1
        base, stamp = self.end, -1
        batch = bytearray(data)
        struct.pack_into(">q", batch, 0, base)
        if self.topic.settings["message.timestamp.type"] == "LogAppendTime":
            stamp = now_ms()
            attributes, = struct.unpack_from(">h", batch, 21)
            struct.pack_into(">h", batch, 21, attributes | 8)
            struct.pack_into(">q", batch, 35, stamp)
            struct.pack_into(">I", batch, 17, crc32c(batch[21:]))
        self.bases.append(base)
        self.batches.append(bytes(batch))
        self.end += count
        seen.append((sequence, count, base))
        del seen[:-5]
        return OK, base, stamp

    def read(self, offset, most):
        """All batches from the one with `offset` on: one at least, then `most` bytes."""
        found, size = [], 0
        for i in range(max(bisect.bisect_right(self.bases, offset) - 1, 0), len(self.bases)):
            if found and size + len(self.batches[i]) > most:
                break
            found.append(self.batches[i])
            size += len(self.batches[i])
        return b"".join(found) if offset < self.end else b""


class Topic:
    def __init__(self, partitions, settings=()):
        self.settings = {**DEFAULTS, **dict(settings)}
        self.partitions = [Partition(self) for _ in range(partitions)]

    def size(self):
        return sum(p.end for p in self.partitions)


def varint(n):
    n = n << 1 ^ n >> 63
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def batch_of(value, key=None, headers=(), stamp=None):
    """A record as a foreign producer writes it."""
    def part(data):
        return varint(-1) if data is None else varint(len(data)) + data
    record = b"\0" + varint(0) + varint(0) + part(key) + part(value) + varint(len(headers)) \
        + b"".join(part(n) + part(v) for n, v in headers)
    record = varint(len(record)) + record
    stamp = now_ms() if stamp is None else stamp
    tail = struct.pack(">hiqqqhii", 0, 0, stamp, stamp, -1, -1, -1, 1) + record
    return struct.pack(">qiibI", 0, len(tail) + 9, -1, 2, crc32c(tail)) + tail


# ===== groups =====

class Member:
    def __init__(self, name):
        self.id, self.seen = name, time.monotonic()
        self.session, self.limit, self.protocols = 10, 60, []
        self.joining = self.syncing = None  # futures of their answers
        self.assignment = b""


class Group:
    """Empty, PreparingRebalance, CompletingRebalance or Stable, as Kafka's."""
    names = itertools.count(1)

    def __init__(self):
        self.state, self.generation, self.members = "Empty", 0, {}
        self.leader = self.protocol = None
        self.offsets = {}
        self.until = 0  # how long a rebalance waits for members
        self.beats = 0
        self.refuses = None  # whether the next commit is refused; None: no
        self.late = 0  # commits of members that had joined again by then

    def prepare(self):
        if self.state == "PreparingRebalance":
            return
        for m in self.members.values():
            if m.syncing:
                self.reply(m, "syncing", (REBALANCING, b""))
        self.state = "PreparingRebalance"
        self.until = time.monotonic() + max([m.limit for m in self.members.values()] or [0])

    @staticmethod
    def reply(member, what, value):
        future = getattr(member, what)
        setattr(member, what, None)
        if future and not future.done():
            future.set_result(value)

    def go_on(self):
        """All have joined, or time is over: who has not is no member any more."""
        if self.state != "PreparingRebalance":
            return
        missing = [m for m in self.members.values() if not m.joining]
        if missing and time.monotonic() < self.until:
            return
        for m in missing:
            del self.members[m.id]
        self.generation += 1
        if not self.members:
            self.state = "Empty"
            return
        self.state = "CompletingRebalance"
        if self.leader not in self.members:
            self.leader = next(iter(self.members))
        self.protocol = self.members[self.leader].protocols[0][0]
        everybody = [(m.id, dict(m.protocols).get(self.protocol, b""))
                     for m in self.members.values()]
        for m in self.members.values():
            m.seen = time.monotonic()
            m.assignment = b""
            self.reply(m, "joining", (OK, m.id, everybody if m.id == self.leader else []))

    def remove(self, name):
        gone = self.members.pop(name, None)
        if gone is None:
            return UNKNOWN_MEMBER
        self.reply(gone, "joining", (UNKNOWN_MEMBER, "", []))
        self.reply(gone, "syncing", (UNKNOWN_MEMBER, b""))
        if self.state in ("Stable", "CompletingRebalance"):
            self.prepare()
        self.go_on()
        return OK

    def tick(self):
        now = time.monotonic()
        for m in list(self.members.values()):
            if not m.joining and m.seen + m.session < now:
                self.remove(m.id)
        self.go_on()

    def check(self, name, generation):
        """Of heartbeats, commits and syncs."""
        if name not in self.members:
            return UNKNOWN_MEMBER
        if generation != self.generation:
            return BAD_GENERATION
        self.members[name].seen = time.monotonic()
        return OK

    async def join(self, name, session, limit, protocols):
        if name and name not in self.members:
            return UNKNOWN_MEMBER, "", []
        fresh = not name
        name = name or f"member-{next(self.names)}"
        m = self.members.setdefault(name, Member(name))
        changed = fresh or m.protocols != protocols or name == self.leader
        m.session, m.limit, m.protocols = session / 1000, limit / 1000, protocols
        m.seen = time.monotonic()
        if not changed and self.state == "Stable":
            return OK, name, []
        self.reply(m, "joining", (REBALANCING, name, []))  # asked twice
        m.joining = asyncio.get_running_loop().create_future()
        wait = m.joining
        self.prepare()
        self.go_on()
        return await wait

    async def sync(self, name, generation, assignments):
        error = self.check(name, generation)
        if error or self.state == "PreparingRebalance":
            return error or REBALANCING, b""
        m = self.members[name]
        if self.state == "Stable":
            return OK, m.assignment
        m.syncing = asyncio.get_running_loop().create_future()
        wait = m.syncing
        if name == self.leader:
            for other, assignment in assignments:
                if other in self.members:
                    self.members[other].assignment = assignment
            self.state = "Stable"
            for other in self.members.values():
                self.reply(other, "syncing", (OK, other.assignment))
        return await wait


# ===== requests =====

class Broker:
    def __init__(self):
        self.topics, self.groups, self.settings = {}, {}, dict(BROKER)
        self.server, self.port, self.writers = None, 0, set()
        self.producers = itertools.count(1)
        self.written = asyncio.Event()
        self.dropping = {}

    def partition(self, topic, index):
        t = self.topics.get(topic)
        return t.partitions[index] if t and 0 <= index < len(t.partitions) else None

    def group(self, name):
        return self.groups.setdefault(name, Group())

    async def produce(self, r):
        r.text(), r.take("h"), r.take("i")

        def one(name, item):
            p = self.partition(name, item[0])
            error, offset, stamp = p.append(item[1]) if p else (NO_TOPIC, -1, -1)
            return struct.pack(">ihqq", item[0], error, offset, stamp)
        topics = by_topic(r, lambda r: (r.take("i"), r.bytes()))
        body = answer_by_topic(topics, one) + struct.pack(">i", 0)
        self.written.set()
        self.written = asyncio.Event()
        return body

    async def fetch(self, r):
        _, wait, least, most = (r.take("i") for _ in range(4))
        r.take("b")
        topics = by_topic(r, lambda r: (r.take("i"), r.take("q"), r.take("i")))
        end, size, refused = time.monotonic() + wait / 1000, 0, False

        def one(name, item):
            nonlocal size, refused
            p = self.partition(name, item[0])
            error = NO_TOPIC if not p else OUT_OF_RANGE if not 0 <= item[1] <= p.end else OK
            refused = refused or error
            data = p.read(item[1], item[2]) if not error and size < most else b""
            size += len(data)
            end = p.end if p else -1
            return struct.pack(">ihqqi", item[0], error, end, end, 0) + blob(data)
        while True:
            written = self.written
            size = 0
            body = answer_by_topic(topics, one)
            left = end - time.monotonic()
            if size >= least or refused or left <= 0:
                return struct.pack(">i", 0) + body
            try:
                await asyncio.wait_for(written.wait(), left)
            except asyncio.TimeoutError:
                pass

    async def list_offsets(self, r):
        r.take("i")

        def one(name, item):
            p = self.partition(name, item[0])
            offset = -1 if not p else 0 if item[1] == -2 else p.end
            return struct.pack(">ihqq", item[0], OK if p else NO_TOPIC, -1, offset)
        return answer_by_topic(by_topic(r, lambda r: (r.take("i"), r.take("q"))), one)

    async def metadata(self, r):
        names = r.list(Reader.text)
        create = r.take("?") and self.settings["auto.create.topics.enable"] == "true"
        for name in names or []:
            if create and name not in self.topics:
                self.topics[name] = Topic(1)

        def one(name):
            t = self.topics.get(name)
            return struct.pack(">h", OK if t else NO_TOPIC) + text(name) + b"\0" + several(
                struct.pack(">hiiiiii", OK, i, 1, 1, 1, 1, 1)
                for i in range(len(t.partitions) if t else 0))
        return struct.pack(">i", 0) + several([struct.pack(">i", 1) + text("127.0.0.1")
                                               + struct.pack(">i", self.port) + text(None)]) \
            + text("test") + struct.pack(">i", 1) \
            + several(map(one, list(self.topics) if names is None else names))

    async def commit(self, r):
        group, generation, member = self.group(r.text()), r.take("i"), r.text()
        r.take("q")
        topics = by_topic(r, lambda r: (r.take("i"), r.take("q"), r.text()))
        error = group.check(member, generation)
        group.late += error == BAD_GENERATION
        if not error and group.refuses and group.refuses():
            error, group.refuses = BAD_GENERATION, None
        if not error and group.state == "CompletingRebalance":
            error = REBALANCING

        def one(name, item):
            wrong = error or (OK if self.partition(name, item[0]) else NO_TOPIC)
            if len(item[2] or "") > int(self.settings["offset.metadata.max.bytes"]):
                wrong = 12
            if not wrong:
                group.offsets[name, item[0]] = item[1:]
            return struct.pack(">ih", item[0], wrong)
        return answer_by_topic(topics, one)

    async def committed(self, r):
        group = self.group(r.text())

        def one(name, index):
            offset, about = group.offsets.get((name, index), (-1, ""))
            return struct.pack(">iq", index, offset) + text(about) + struct.pack(">h", OK)
        return answer_by_topic(by_topic(r, lambda r: r.take("i")), one)

    async def coordinator(self, r):
        return struct.pack(">hi", OK, 1) + text("127.0.0.1") + struct.pack(">i", self.port)

    async def join(self, r):
        group, session, limit, member = self.group(r.text()), r.take("i"), r.take("i"), r.text()
        r.text()
        protocols = r.list(lambda r: (r.text(), r.bytes()))
        error, name, everybody = await group.join(member, session, limit, protocols)
        return struct.pack(">hi", error, group.generation) + text(group.protocol or "") \
            + text(group.leader or "") + text(name) \
            + several(text(m) + blob(about) for m, about in everybody)

    async def heartbeat(self, r):
        group, generation, member = self.group(r.text()), r.take("i"), r.text()
        error = group.check(member, generation)
        group.beats += not error
        if not error and group.state == "PreparingRebalance":
            error = REBALANCING
        return struct.pack(">h", error)

    async def leave(self, r):
        return struct.pack(">h", self.group(r.text()).remove(r.text()))

    async def sync(self, r):
        group, generation, member = self.group(r.text()), r.take("i"), r.text()
        given = r.list(lambda r: (r.text(), r.bytes()))
        error, assignment = await group.sync(member, generation, given)
        return struct.pack(">h", error) + blob(assignment)

    async def describe_groups(self, r):
        def one(name):
            g = self.groups.get(name) or Group()
            return struct.pack(">h", OK) + text(name) + text(g.state) + text("consumer") \
                + text(g.protocol or "") \
                + several(text(m) + text("bide") + text("/127.0.0.1") + blob(b"") + blob(b"")
                          for m in g.members)
        return several(map(one, r.list(Reader.text)))

    async def list_groups(self, r):
        return struct.pack(">h", OK) + several(text(g) + text("consumer") for g in self.groups)

    async def create_topics(self, r):
        def read(r):
            name, n = r.text(), r.take("i")
            r.take("h")
            r.list(lambda r: (r.take("i"), r.list(lambda r: r.take("i"))))
            return name, n, r.list(lambda r: (r.text(), r.text()))
        answer = []
        for name, n, settings in r.list(read):
            error = EXISTS if name in self.topics else OK
            if not error:
                self.topics[name] = Topic(n, settings)
            answer.append(text(name) + struct.pack(">h", error) + text(None))
        return several(answer)

    async def describe_configs(self, r):
        def one(item):
            kind, name, _ = item
            t = self.topics.get(name)
            found = self.settings if kind == 4 else t.settings if t else {}
            return struct.pack(">h", OK if found else NO_TOPIC) + text(None) \
                + struct.pack(">b", kind) + text(name) \
                + several(text(n) + text(v) + b"\0\0\0" for n, v in found.items())
        asked = r.list(lambda r: (r.take("b"), r.text(), r.list(Reader.text)))
        return struct.pack(">i", 0) + several(map(one, asked))

    async def init_producer(self, r):
        return struct.pack(">ihqh", 0, OK, next(self.producers), 0)

    APIS = {0: ("produce", 3), 1: ("fetch", 4), 2: ("list_offsets", 1), 3: ("metadata", 4),
            8: ("commit", 2), 9: ("committed", 1), 10: ("coordinator", 0), 11: ("join", 1),
            12: ("heartbeat", 0), 13: ("leave", 0), 14: ("sync", 0),
            15: ("describe_groups", 0), 16: ("list_groups", 0), 18: ("versions", 0),
            19: ("create_topics", 1), 22: ("init_producer", 0), 32: ("describe_configs", 0)}

    def versions(self, error):
        return struct.pack(">h", error) + several(
            struct.pack(">hhh", api, 0, most) for api, (_, most) in sorted(self.APIS.items()))

    async def answer(self, request):
        """The response's body; None: there is none."""
        r = Reader(request)
        api, version = r.take("h"), r.take("h")
        r.take("i"), r.text()
        if api == 18:
            return self.versions(OK if version == 0 else UNSUPPORTED)
        name, known = self.APIS[api]
        if version != known:
            raise RuntimeError(f"version {version} of {name}")
        body = await getattr(self, name)(r)
        if self.dropping.get(name, 0) > 0:
            self.dropping[name] -= 1
            return None
        return body

    # ----- connections -----

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            while True:
                size, = struct.unpack(">i", await reader.readexactly(4))
                request = await reader.readexactly(size)
                body = await self.answer(request)
                if body is None:
                    break
                writer.write(struct.pack(">i", len(body) + 4) + request[4:8] + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]
        for group in self.groups.values():
            for m in group.members.values():
                m.seen = time.monotonic()

    async def crash(self):
        self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()
        for group in self.groups.values():
            for m in group.members.values():
                m.joining = m.syncing = None

    async def tick(self):
        while True:
            await asyncio.sleep(0.05)
            if self.server.is_serving():
                for group in self.groups.values():
                    group.tick()

    # ----- what tests ask for -----

    def put(self, queue, *batch, **more):
        p = min(self.topics[queue].partitions, key=lambda p: p.end)
        error, _, _ = p.append(batch_of(*batch, **more))
        if error:
            raise RuntimeError(f"error {error}")
        self.written.set()
        self.written = asyncio.Event()

    def foreign(self, queue):
        self.put(queue, b"plain")
        self.put(queue, b"full", b"customer", ((b"bide-id", b"foreign-7"),
                                               (b"bide-priority", b"99"), (b"type", b"email")))
        self.put(queue, b"odd", b"k" * 300, ((b"bide-id", b"line\nbreak"),
                                             (b"an odd name!", b"7")))

    def queue(self, name, partitions):
        for suffix in SUFFIXES:
            about = {} if not suffix else {"message.timestamp.type": "LogAppendTime",
                                           "max.message.bytes": "1114124"}
            if suffix == ".dead":
                about["retention.ms"] = "-1"
            self.topics.setdefault(name + suffix, Topic(partitions, about))

    async def do(self, verb, *words):
        if verb in ("crash", "start"):
            await getattr(self, verb)()
        elif verb == "queue":
            self.queue(words[0], int(words[1]))
        elif verb == "set":
            about = self.settings if words[0] == "-" else self.topics[words[0]].settings
            about[words[1]] = words[2]
        elif verb == "drop":
            self.dropping[words[0]] = int(words[1])
        elif verb == "foreign":
            self.foreign(words[0])
        elif verb == "large":
            self.put(words[0], b"x" * int(words[1]))
        elif verb == "ancient":
            self.put(words[0], b"ancient", stamp=-1)
        elif verb == "grow":
            t = self.topics[words[0]]
            t.partitions += [Partition(t) for _ in range(int(words[1]) - len(t.partitions))]
        elif verb == "beats":
            g = self.group(words[0])
            return f"{g.generation} {g.beats}"
        elif verb == "refuse":
            topic = self.topics[words[1]] if len(words) > 1 else None
            before = topic and topic.size()
            self.group(words[0]).refuses = lambda: not topic or topic.size() > before
        elif verb == "late":
            return str(self.group(words[0]).late)
        elif verb == "ends":
            return " ".join(str(p.end) for p in self.topics[words[0]].partitions)
        elif verb == "clock":
            AHEAD_S[0] = int(words[0])
        elif verb == "group":
            g = self.group(words[0])
            return f"{g.state} {len(g.members)}"
        else:
            raise RuntimeError("unknown: " + verb)
        return ""


async def main():
    broker = Broker()
    await broker.start()
    print(f"127.0.0.1:{broker.port}", flush=True)
    ticks = asyncio.ensure_future(broker.tick())
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        try:
            said = await broker.do(*line.split())
            print(f"ok {said}".strip(), flush=True)
        except Exception as e:  # whoever asked says where
            print(f"failed: {type(e).__name__}: {e}", flush=True)
    ticks.cancel()


asyncio.run(main())
