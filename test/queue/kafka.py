#!/usr/bin/env python3
"""kafka.py BIDE MODULE: what only Kafka has: partitions that move between workers while
handlers run, topics with limits, and records without a time. Handlers write what they do into
a file, and take a lock for their message: whoever finds it taken says so."""
import collections
import concurrent.futures
import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import servers
import tap

BIDE = os.path.join(tap.START, sys.argv[1])
MODULES = os.path.dirname(os.path.join(tap.START, sys.argv[2]))
GROUP = "bide.default"
SUFFIXES = (".retry.10s", ".retry.1m", ".retry.10m", ".retry.1h", ".retry.long", ".dead")

# A body of `wait` runs until the file `go` is there; `flaky` fails at its first attempt;
# `slow` does both. `grace` is a `wait` that succeeds when it is stopped.
HANDLER = r'''
body=$(head -c 100)
lock=$PLACE/lock.${BIDE_MESSAGE_KEY:-$BIDE_MESSAGE_ID}
say() { echo "$1 $WORKER $BIDE_MESSAGE_ID ${BIDE_MESSAGE_KEY:--} $BIDE_ATTEMPT $body" >>$PLACE/log; }
mkdir $lock 2>/dev/null || say parallel
trap 'case $body in grace*) say end; rmdir $lock; exit 0;; esac
say stopped; rmdir $lock; exit 1' TERM
say begin
case $body in
wait*|slow*|grace*) while [ ! -e $PLACE/go ]; do sleep 0.05; done;;
permanent*|plain|full|odd) say failed; rmdir $lock; [ -e $PLACE/go ] && exit 0; exit 65;;
esac
case $body in
flaky*|slow*) if [ $BIDE_ATTEMPT = 1 ]; then say failed; rmdir $lock; exit 1; fi;;
fails*|x*) say failed; rmdir $lock; [ -e $PLACE/go ] && exit 0; exit 1;;
esac
say end
rmdir $lock
'''


class Place:
    """A broker with a queue, workers, and what their handlers wrote."""

    def __init__(self, partitions, session=30):
        self.dir = tempfile.mkdtemp(prefix="bide-kafka-")
        self.kafka = servers.Kafka(session=session)
        self.partitions = partitions
        self.workers = []
        open(self.path("log"), "w").close()

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def __enter__(self):
        self.kafka.__enter__()
        self.kafka.queue("default", self.partitions)
        self.url = ["--broker", self.kafka.url]
        return self

    def __exit__(self, *how):
        for p in self.workers:
            if p.poll() is None:
                p.kill()
                p.wait()
        self.kafka.__exit__(*how)
        shutil.rmtree(self.dir, ignore_errors=True)

    def env(self, worker="-"):
        return tap.environment(BIDE_MODULES=MODULES, XDG_STATE_HOME=self.dir, PLACE=self.dir,
                               WORKER=worker)

    def worker(self, name, *options):
        p = subprocess.Popen([BIDE, "worker", *self.url, "--base", "20ms", "-n", "16", *options,
                              "--", "sh", "-c", HANDLER], env=self.env(name),
                             stdin=subprocess.DEVNULL, stderr=open(self.path(name), "ab"))
        self.workers.append(p)
        return p

    def worker_to(self, name, url, *options):
        p = subprocess.Popen([BIDE, "worker", *self.url, *options, "--to", url],
                             env=self.env(name), stdin=subprocess.DEVNULL,
                             stderr=open(self.path(name), "ab"))
        self.workers.append(p)
        return p

    def put(self, *bodies, key=None):
        subprocess.run([BIDE, "enqueue", *self.url, "--lines",
                        *(["--key", key] if key else [])],
                       input="".join(f"{b}\n" for b in bodies).encode(), env=self.env(),
                       check=True, capture_output=True)

    def bide(self, *command):
        return subprocess.run([BIDE, "worker", command[0], *self.url, *command[1:]],
                              env=self.env(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=servers.PATIENCE)

    def enqueue(self, *command, feed=b""):
        return subprocess.run([BIDE, "enqueue", *self.url, *command], env=self.env(),
                              input=feed, capture_output=True, timeout=servers.PATIENCE)

    def ends(self, topic):
        return [int(n) for n in self.kafka.tell("ends " + topic)]

    def counts(self):
        return json.loads(self.bide("ls", "--json", "--limit", "0").stdout)

    def said(self, verb=None, body=""):
        words = [line.split() for line in self.read("log").splitlines()]
        return [w for w in words if verb in (None, w[0]) and w[5].startswith(body)]

    def until(self, what, true):
        try:
            return servers.until(what, true)
        except TimeoutError:
            for name in sorted(os.listdir(self.dir)):
                if os.path.isfile(self.path(name)):
                    for line in self.read(name).splitlines():
                        print(f"# {name}: {line}")
            raise

    def group(self, said):
        self.until(f"the group: {said}",
                   lambda: " ".join(self.kafka.tell("group " + GROUP)) == said)

    def go(self):
        open(self.path("go"), "w").close()

    def drain(self):
        codes = []
        for p in self.workers:
            if p.poll() is None:
                p.send_signal(signal.SIGTERM)
        for p in self.workers:
            codes.append(p.wait(servers.PATIENCE))
        return codes


saying = threading.Lock()


def case(*said):
    with saying:
        tap.case(*said)


def once(said):
    return all(n == 1 for n in collections.Counter(w[2] for w in said).values())


def handlers_outlive_a_rebalance():
    """A worker joins while all partitions have handlers that take long: nothing starts over.
    Meanwhile their partitions go on, and when they have ended, some go to the other."""
    with Place(4) as p:
        p.worker("A")
        p.put(*(f"wait{i}" for i in range(8)))
        p.until("handlers", lambda: len(p.said("begin", "wait")) == 8)
        p.worker("B")
        p.group("Stable 2")
        p.put(*(f"quick{i}" for i in range(40)))
        p.until("what came after", lambda: len(p.said("end", "quick")) == 40)
        case("partitions that are asked for go on while handlers run",
             not p.said("end", "wait") and not p.said("stopped"), p.said("stopped"))
        p.go()
        p.until("the handlers' end", lambda: len(p.said("end", "wait")) == 8)
        more = 0
        while not any(w[1] == "B" for w in p.said("end")):
            p.put(*(f"more{i}" for i in range(more, more + 20)))
            more += 20
            p.until("the next", lambda: len(p.said("end", "more")) == more)
        case("then the new worker gets its share", True)
        case("no handler started over", once(p.said("begin")) and not p.said("parallel"),
             p.said())
        case("both workers drain", p.drain() == [0, 0])
        c = p.counts()
        case("nothing is left", c["waiting"] + c["later"] + c["running"] + c["dead"] == 0, c)


def group_that_waits_stops_handlers():
    """A third worker joins while the first still holds: the group cannot go on without the
    first, so its handlers are stopped, and start over elsewhere, never side by side."""
    with Place(4) as p:
        p.worker("A")
        p.put(*(f"{body}{i}" for i in range(8) for body in ("wait", "grace")))
        p.until("handlers", lambda: len(p.said("begin")) == 16)
        p.worker("B")
        p.group("Stable 2")
        p.worker("C")
        p.group("PreparingRebalance 3")
        p.until("handlers are stopped", lambda: p.said("stopped"))
        p.group("Stable 3")
        p.until("they start over", lambda: len(p.said("begin", "wait"))
                == 8 + len(p.said("stopped")))
        case("handlers start over elsewhere",
             any(w[1] != "A" for w in p.said("begin")), p.said())
        p.go()
        p.until("the end", lambda: len({w[2] for w in p.said("end")}) == 16)
        case("what succeeds all the same is done", once(p.said("begin", "grace")), p.said())
        case("never side by side", not p.said("parallel"), p.said("parallel"))
        case("and no attempt is lost", all(w[4] == "1" for w in p.said("begin")), p.said())
        case("each ends once", once(p.said("end")), p.said("end"))
        case("all workers drain", p.drain() == [0, 0, 0])


def what_is_done_stays_done():
    """The group refuses a commit, as it does when it comes behind a request to join: all
    partitions are lost, and come back with what ran there."""
    with Place(2) as p:
        p.worker("A")
        p.put(*(f"wait{i}" for i in range(4)))
        p.until("handlers", lambda: len(p.said("begin", "wait")) == 4)
        p.kafka.tell("refuse " + GROUP)
        p.put("quick")
        p.until("what came after", lambda: p.said("end", "quick"))
        case("handlers go on when partitions come back", len(p.said("begin", "wait")) == 4
             and not p.said("stopped"), p.said())
        p.kafka.tell("refuse " + GROUP)
        p.go()
        p.until("nothing is left", lambda: len(p.said("end")) >= 5 and not any(
            p.counts()[n] for n in ("waiting", "later", "running")))
        case("what is done does not start over", once(p.said("begin")), p.said())
        os.remove(p.path("go"))
        p.put("slow")
        p.until("its handler", lambda: p.said("begin", "slow"))
        p.kafka.tell(f"refuse {GROUP} default.retry.10s")
        p.go()
        p.until("nothing is left", lambda: p.said("end", "slow") and not any(
            p.counts()[n] for n in ("waiting", "later", "running")))
        case("nor what has its copy", [w[4] for w in p.said("begin", "slow")] == ["1", "2"],
             p.said())
        case("the worker drains", p.drain() == [0])
        case("nothing is dead", p.counts()["dead"] == 0)


def no_commit_is_behind_a_join():
    """A worker that is busy, while others come and go: each time it joins again, twice when
    it has to let go of something. A commit that came later than that would be refused, and
    all that it has be taken for lost."""
    with Place(4) as p:
        p.worker("A")
        fed, over = 0, threading.Event()

        def feed():
            nonlocal fed
            while not over.is_set():
                p.put(*(f"quick{fed + i}" for i in range(4)))
                fed += 4
                over.wait(0.05)  # now and then it has nothing to do, and joins at once
        feeding = threading.Thread(target=feed)
        feeding.start()
        try:
            for i in range(5):
                b = p.worker(f"B{i}")
                p.until("its share", lambda b=f"B{i}": any(w[1] == b for w in p.said("end")))
                b.send_signal(signal.SIGTERM)
                p.until("its end", lambda b=b: b.poll() is not None)
                p.group("Stable 1")
        finally:
            over.set()
            feeding.join()
        p.until("all of them", lambda: len({w[2] for w in p.said("end")}) == fed)
        case("no commit is behind a join", p.kafka.tell("late " + GROUP) == ["0"], p.read("A"))
        case("and nothing is done twice", once(p.said("begin")), p.read("A"))
        case("all drain", p.drain() == [0] * 6)


def worker_that_dies_is_replaced():
    """With several partitions, half of them with another worker that lives."""
    with Place(4, session=10) as p:
        a = p.worker("A")
        p.worker("B")
        p.group("Stable 2")
        p.put(*(f"wait{i}" for i in range(12)))
        p.until("handlers", lambda: len(p.said("begin", "wait")) == 12)
        of_a = {w[2] for w in p.said("begin") if w[1] == "A"}
        case("both have some", 0 < len(of_a) < 12, p.said())
        a.kill()
        a.wait()
        for name in os.listdir(p.dir):  # its handlers died with it, and left their locks
            if name.startswith("lock.") and name[5:] in of_a:
                with contextlib.suppress(OSError):
                    os.rmdir(p.path(name))
        p.until("they are rescued", lambda: f"rescued {len(of_a)} messages" in p.read("B"))
        p.go()  # those whose worker died run one by one, when nothing else does
        p.until("the end", lambda: len({w[2] for w in p.said("end")}) == 12)
        case("they run elsewhere", of_a <= {w[2] for w in p.said("end") if w[1] == "B"})
        mine = [w for w in p.said("begin") if w[1] == "B" and w[2] not in of_a]
        case("what the other ran is left alone", once(mine), mine)


def keys_stay_in_order():
    """Two workers, four partitions, and every third fails at first: its followers wait."""
    with Place(4) as p:
        p.worker("A")
        p.worker("B")
        p.group("Stable 2")
        for begin in range(0, 8, 2):
            for key in "abcdefgh":
                p.put(*(f"{'flaky' if i % 3 == 0 else 'fine'}-{key}-{i}"
                        for i in (begin, begin + 1)), key=key)
        p.until("all", lambda: len(p.said("end")) == 64)
        ended = collections.defaultdict(list)
        for w in p.said("end"):
            ended[w[3]].append(int(w[5].rsplit("-", 1)[1]))
        case("each key is in order", all(v == list(range(8)) for v in ended.values()), ended)
        case("of a key never two at once", not p.said("parallel"), p.said("parallel"))
        case("both workers had some", {w[1] for w in p.said("end")} == {"A", "B"}, p.said())


def what_is_too_large_is_dead_with_a_reason():
    with Place(1) as p:
        for topic in (".retry.10s", ".dead"):
            p.kafka.tell(f"set default{topic} max.message.bytes 1048588")
        p.kafka.tell("large default 1048400")
        p.put("fails", "quick")
        p.worker("A", "--attempts", "2")
        p.until("its end", lambda: p.counts()["dead"] == 2 and p.said("end", "quick"))
        reasons = p.counts()["dead_by_reason"]
        case("a record without room for a copy is dead after one attempt",
             reasons == {"too_large": 1, "attempts": 1}
             and len(p.said("begin", "x")) == 1, (reasons, p.said()))
        show = p.bide("show", "default-0-0").stdout
        case("its letter says where the record is", "default 0 0" in show, show)
        back = p.bide("redrive", "default-0-0")
        case("and cannot be redriven", back.returncode != 0
             and "default 0 0" in back.stderr, back)
        p.kafka.tell("set default.retry.10s max.message.bytes 1000000")
        p.kafka.tell("set default.dead max.message.bytes 1114124")
        p.kafka.tell("large default 1048300")
        p.until("its end", lambda: p.counts()["dead"] == 3)
        c = p.counts()
        case("where the dead letters have room, it is there as it was",
             c["dead_by_reason"].get("too_large") == 2, c)
        p.go()
        p.kafka.tell("set default max.message.bytes 1114124")
        back = p.bide("redrive", "default-0-3")
        case("and can be redriven", back.returncode == 0, back)
        p.until("its end", lambda: p.counts()["dead"] == 2)
        case("workers drain", p.drain() == [0])


def records_without_a_time_are_new():
    with Place(2) as p:
        p.kafka.tell("ancient default")
        c = p.counts()
        case("their age is not that of 1970", c["waiting"] == 1
             and c["oldest_ms"] < 3600000, c)
        p.worker("A", "--until-empty")
        p.until("its end", lambda: p.said("end", "ancient"))
        case("and they are handled", p.workers[0].wait(servers.PATIENCE) == 0)


def clock_of_a_new_worker_means_nothing():
    """What one worker has put off, the next one takes when it is due by the broker's clock:
    here an hour behind that of the workers, and then one that has gone on for an hour."""
    late = "--base", "10m", "--floor", "5m", "--factor", "1"
    for behind in (True, False):
        with Place(2) as p:
            p.kafka.tell(f"clock {-3600 if behind else 0}")
            p.worker("A", *late)
            p.put("flaky")
            p.until("its first attempt", lambda: p.said("failed", "flaky"))
            case("a worker puts it off, and drains", p.drain() == [0])
            p.kafka.tell(f"clock {-3600 if behind else 3600}")
            p.worker("B", *late)
            p.put("quick")
            p.until("what came after", lambda: p.said("end", "quick"))
            if not behind:
                p.until("its second attempt", lambda: p.said("end", "flaky"))
            case("the next worker drains", p.drain() == [0, 0])
            case(f"it has run {1 if behind else 2} times",
                 len(p.said("begin", "flaky")) == (1 if behind else 2), p.said())


def partitions_that_are_added_are_taken():
    """First of the queue's topic, which cannot work: the worker says what is missing."""
    with Place(2) as p:
        p.url[1] += "&topic.metadata.refresh.interval.ms=300"
        p.worker("A")
        p.put("quick0")
        p.until("its end", lambda: p.said("end", "quick0"))
        p.kafka.tell("grow default 4")
        p.until("what to do", lambda: "default.retry.10s has 2 partitions, default has 4: "
                "kafka-topics --alter" in p.read("A"))
        for topic in SUFFIXES:
            p.kafka.tell(f"grow default{topic} 4")
        for key in "0145":  # one for each partition
            p.put(f"flaky{key}", key=key)
        p.until("the others", lambda: len(p.said("end", "flaky")) == 4)
        case("all partitions are used, and all of them handled",
             all(n > 0 for n in p.ends("default")), p.ends("default"))
        case("the worker drains", p.drain() == [0])


def redriven_go_where_others_of_their_key_are():
    """A producer may choose partitions by another rule than bide."""
    with Place(4) as p:
        p.kafka.tell("foreign default")
        p.worker("A")
        p.until("they are dead", lambda: p.counts()["dead"] == 3)
        before = p.ends("default")
        p.go()
        back = p.bide("redrive")
        case("they are brought back", back.returncode == 0, back)
        case("each into its partition", p.ends("default") == [2 * n for n in before],
             (before, p.ends("default")))


def what_cannot_be_kept_is_not_queued():
    with Place(1) as p:
        p.kafka.tell("set default.retry.long retention.ms 14400000")
        r = p.enqueue("--delay", "3h", "late")
        case("a delay longer than the topic keeps it is refused", r.returncode != 0
             and b"retention.ms" in r.stderr and b"14400 s" in r.stderr, r)
        case("and not queued", p.ends("default.retry.long") == [0])
        for flag in ("--id", "--priority"):
            r = p.enqueue(flag, "7", "text")
            case(f"{flag} is refused", r.returncode == 2 and flag.encode() in r.stderr
                 and p.ends("default") == [0], r)
        r = p.enqueue("--delay", "110m", "late")
        case("a shorter one is queued", r.returncode == 0
             and p.ends("default.retry.long") == [1], r)
        p.kafka.tell("set default max.message.bytes 20000")
        r = p.enqueue(feed=b"x" * 20000)
        case("what is larger than the topic takes is refused with the limit",
             r.returncode != 0 and b"max.message.bytes" in r.stderr
             and b"20000" in r.stderr, r)
        r = p.enqueue("--lines", feed=b"".join(b"%d%s\n" % (i, b"x" * 1000) for i in range(100)))
        case("what is too large only together is queued", r.returncode == 0
             and p.ends("default") == [100], (r, p.ends("default")))


class Origin(http.server.BaseHTTPRequestHandler):
    """Says that all is well, and counts who asked."""
    protocol_version = "HTTP/1.1"
    seen = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(self.headers["Idempotency-Key"])
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def paused_worker_stays():
    """Nobody listens where its messages go: the group keeps the worker, and when somebody
    does, all of them are handled."""
    with Place(2) as p, socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        p.put(*(f"{i}" for i in range(20)))
        p.worker_to("A", f"http://127.0.0.1:{place.getsockname()[1]}/")
        p.until("the worker says why", lambda: "paused" in p.read("A"))
        generation, before = p.kafka.tell("beats " + GROUP)
        p.until("beats", lambda: int(p.kafka.tell("beats " + GROUP)[1]) >= int(before) + 12)
        case("a paused worker stays in its group",
             p.kafka.tell("beats " + GROUP)[0] == generation, p.read("A"))
        server = http.server.ThreadingHTTPServer(("", 0), Origin, bind_and_activate=False)
        server.socket.close()
        server.socket = place
        server.server_activate()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        p.until("all of them", lambda: len(Origin.seen) >= 20)
        case("the worker drains", p.drain() == [0], p.read("A"))
        c = p.counts()
        case("each is handled once, and none is dead", len(set(Origin.seen)) == 20
             and len(Origin.seen) == 20 and c["waiting"] + c["later"] + c["dead"] == 0,
             (len(Origin.seen), c))
        server.shutdown()


def second_signal_gives_back():
    """At once, without an attempt or a death."""
    with Place(2) as p:
        p.worker("A")
        p.put(*(f"wait{i}" for i in range(4)))
        p.until("handlers", lambda: len(p.said("begin", "wait")) == 4)
        p.workers[0].send_signal(signal.SIGTERM)
        p.until("it drains", lambda: "drain" in p.read("A"))
        p.workers[0].send_signal(signal.SIGTERM)
        p.until("its end", lambda: p.workers[0].poll() is not None)
        for name in os.listdir(p.dir):  # of handlers that had no time to
            if name.startswith("lock."):
                with contextlib.suppress(OSError):
                    os.rmdir(p.path(name))
        p.go()
        p.worker("B", "-v")
        p.until("they run elsewhere", lambda: len(p.said("end", "wait")) == 4)
        case("they start over with their attempt", all(w[4] == "1" for w in p.said("begin")),
             p.said())
        case("nobody is taken for dead", "rescued" not in p.read("B"), p.read("B"))
        case("the next worker drains", p.drain()[1:] == [0])


def redrive_tries_ten_first():
    with Place(4) as p:
        p.put(*(f"permanent{i}" for i in range(40)))
        p.worker("A")
        p.until("they are dead", lambda: p.counts()["dead"] == 40)
        tried = len(p.said("begin"))
        back = p.bide("redrive")
        case("ten that fail again end it", back.returncode == 1
             and "30 stay dead" in back.stderr + back.stdout, back)
        p.until("they are dead again", lambda: p.counts()["dead"] == 40)
        case("no more than ten were tried", len(p.said("begin")) == tried + 10)
        p.go()
        back = p.bide("redrive", "--rate", "50/s")
        case("when they succeed, all follow", back.returncode == 0, back)
        p.until("none is left", lambda: p.counts()["dead"] == 0)
        case("the worker drains", p.drain() == [0])
        c = p.counts()
        case("and nothing is left", c["waiting"] + c["later"] + c["dead"] == 0, c)


CASES = (handlers_outlive_a_rebalance, what_is_done_stays_done, no_commit_is_behind_a_join,
         group_that_waits_stops_handlers,
         worker_that_dies_is_replaced, keys_stay_in_order,
         what_is_too_large_is_dead_with_a_reason, records_without_a_time_are_new,
         clock_of_a_new_worker_means_nothing, partitions_that_are_added_are_taken,
         redriven_go_where_others_of_their_key_are, what_cannot_be_kept_is_not_queued,
         paused_worker_stays, second_signal_gives_back, redrive_tries_ten_first)
wanted = [run for run in CASES if os.environ.get("BIDE_ROW", run.__name__) == run.__name__]
with concurrent.futures.ThreadPoolExecutor(3) as pool:  # mostly, they wait
    for done in [pool.submit(run) for run in wanted]:
        done.result()
tap.finish()
