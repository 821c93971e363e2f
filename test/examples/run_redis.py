#!/usr/bin/env python3
"""run_redis.py REDIS_RECONNECT: the example outlives a Redis that is killed while it
is idle, while it is away, and in the middle of commands."""
import signal
import sys

from servers import Program, Redis, tap, until


def main(program):
    with Redis() as redis, Program(program, "127.0.0.1", str(redis.port)) as p:

        def answer(command):
            p.tell(command)
            return result(command)

        def result(command):
            return p.hear(lambda line: " at attempt " in line
                          and line.startswith(command.split()[0]))

        def is_answer(name, got, want):
            tap.case(name, got == want, f"got:  {got}\nwant: {want}")

        is_answer("a_command_is_answered", answer("set k v"),
                  "set: success at attempt 1: OK")
        is_answer("a_wrong_command_is_permanent", answer("incr k"),
                  "incr: permanent at attempt 1: "
                  "ERR value is not an integer or out of range")

        redis.kill(signal.SIGKILL)
        redis.start()
        is_answer("a_restart_in_idle_time_costs_no_attempt", answer("incr hits"),
                  "incr: success at attempt 1: 1")

        redis.kill(signal.SIGKILL)
        p.tell("incr hits")
        p.hear(lambda line: line.startswith("incr: connect, again in"))
        redis.start()
        got = result("incr")
        tap.case("what_was_not_sent_is_tried_again",
                 got.startswith("incr: success at attempt ")
                 and got.endswith(": 1") and " 1: " not in got, got)

        p.tell("blpop list 0")
        until("blpop at the server", lambda: redis.blocked() == 1)
        redis.kill(signal.SIGKILL)
        is_answer("what_may_be_done_already_is_not_done_twice", result("blpop"),
                  "blpop: not_idempotent at attempt 1")
        redis.start()
        tap.case("nor_later", redis.blocked() == 0)

        p.tell("xread block 0 streams s $")
        until("xread at the server", lambda: redis.blocked() == 1)
        redis.kill(signal.SIGKILL)
        redis.start()
        until("xread at the new server", lambda: redis.blocked() == 1)
        redis.ask("XADD s * field value")
        got = result("xread")
        tap.case("what_is_idempotent_is_done_again",
                 got.startswith("xread: success at attempt ")
                 and not got.endswith(" 1"), got)

        tap.case("it_ends_well", p.end() == 0)
    tap.finish()


main(*sys.argv[1:])
