#!/usr/bin/env python3
"""run_payments.py PAYMENTS: a payment server charges for each request on its own, and
with a store once for each key, also when it is killed in between."""
import http.client
import os
import signal
import sys
import tempfile
import threading

import tap
from ports import free_port
from servers import Program

START = "http://"


class Server:
    def __init__(self, program, *args):
        self.port = free_port()
        self.program = Program(program, str(self.port), *args)
        self.program.hear(lambda line: line.startswith(START))

    def pay(self, amount, key=None):
        """Again where its disk took longer than its store waits."""
        answer = self.ask(amount, key)
        while answer[0] == 503:
            answer = self.ask(amount, key)
        return answer

    def ask(self, amount, key):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.request("POST", "/pay", f"amount={amount}",
                  {"Idempotency-Key": key} if key else {})
        r = c.getresponse()
        answer = (r.status, r.getheader("Idempotent-Replayed"),
                  r.getheader("Location"), r.read().decode())
        c.close()
        return answer

    def kill(self):
        self.program.process.send_signal(signal.SIGKILL)
        self.program.process.wait()


FIRST = (201, None, "/charges/1", '{"charge":1}')
AGAIN = (201, "true", "/charges/1", '{"charge":1}')


def main(program):
    plain = Server(program)
    answers = [plain.pay(10, '"a"'), plain.pay(10, '"a"')]
    tap.case("without_a_store_each_request_charges",
             [a[3] for a in answers] == ['{"charge":1}', '{"charge":2}'], answers)
    plain.kill()

    with tempfile.TemporaryDirectory() as folder:
        url = "sqlite:" + os.path.join(folder, "payments.db")
        server = Server(program, "--store", url)
        tap.case("a_key_is_charged", server.pay(10, '"a"') == FIRST)
        tap.case("its_repeat_is_not", server.pay(10, '"a"') == AGAIN)
        tap.case("another_amount_is_refused", server.pay(11, '"a"')[0] == 422)
        tap.case("no_key_is_refused", server.pay(10)[0] == 400)
        answers = []
        threads = [threading.Thread(
            target=lambda: answers.append(server.pay(10, '"b"'))) for _ in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        charged = [a for a in answers if a[0] == 201 and not a[1]]
        tap.case("sixteen_at_once_charge_once", len(charged) == 1 and
                 all(a[0] in (201, 409) for a in answers), answers)
        server.kill()
        server = Server(program, "--store", url)
        tap.case("it_is_known_after_a_kill", server.pay(10, '"a"') == AGAIN)
        server.kill()
        tap.case("the_file_is_ours_alone",
                 os.stat(os.path.join(folder, "payments.db")).st_mode & 0o777 == 0o600)
    tap.finish()


main(*sys.argv[1:])
