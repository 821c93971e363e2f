#!/usr/bin/env python3
"""run_epoll.py FAULT_SERVER EPOLL_LOOP: an application's own loop, against a server
that fails by script, and is killed and replaced in the middle."""
import sys

import tap
from fault import Fault
from servers import Program, until


def epoll(fault, program):
    with Program(program) as p:
        answers = {}

        def expect(name, url, want):
            while url not in answers:
                line = p.hear(lambda line: True)
                if line is None:
                    break
                got, _, how = line.partition(": ")
                answers[got] = how
            tap.case("epoll_" + name, answers.get(url) == want,
                     f"got:  {answers.get(url)}\nwant: {want}")

        # One that stalls holds up none of the others. There are few enough of
        # them not to open the breaker.
        stalled = fault.at("/s/stall?id=stalled")
        p.tell(stalled)
        urls = [fault.at(f"/s/503;wait=50,200?id={n}") for n in range(4)]
        p.process.stdin.write("\n".join(urls) + "\n")
        p.process.stdin.flush()
        for n, url in enumerate(urls):
            expect(f"retried_{n}", url, "success at attempt 2, status 200")
            tap.case(f"epoll_asked_twice_{n}", fault.count(n)["requests"] == 2)
        url = fault.at("/s/404?id=404")
        p.tell(url)
        expect("permanent", url, "permanent at attempt 1, status 404")

        until("the stalled request", lambda: fault.count("stalled")["requests"] >= 1)
        fault.kill()
        fault.start(fault.ports["http"])
        until("the stalled request, after the restart",
              lambda: fault.count("stalled")["requests"] >= 1)
        tap.case("epoll_waits_for_the_server", stalled not in answers, answers)
        url = fault.at("/s/200")
        p.tell(url)
        expect("server_back", url, "success at attempt 1, status 200")
        fault.kill()
        tap.case("epoll_ends_well", p.end() == 0)


def main(server, *programs):
    with Fault(server) as fault:
        epoll(fault, *programs)
    tap.finish()


main(*sys.argv[1:])
