/* bide explain: one decision, and every rule behind it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/common/policy_choice.h"
#include "cmd/explain/command.h"
#include "cmd/explain/explain.h"
#include "cmd/explain/show.h"

static const struct flag flag_list[] = {
    { "method", 'X', "M", "method of the request (GET; of gRPC, POST)" },
    { "status", 's', "N", "it was answered with this HTTP status" },
    { "error", 'e', "KIND",
      "it failed: dns, no_host, connect, reset, timeout, tls, url, malformed, "
      "local, cancelled, upload, connection_wait, too_long, refused_stream, "
      "other; or how a stream of HTTP/2 ended: GOAWAY, CANCEL, ..." },
    { "sent", 0, "yes|no", "whether the request may have reached the server" },
    { "grpc", 'g', "CODE",
      "it was answered with this gRPC code: a name or a "
      "number" },
    { "header", 'H', "'K: V'",
      "a header field of the answer; may be repeated. "
      "Idempotency-Key, X-Bide-Attempt, X-Bide-Timeout-Ms, baggage, and what "
      "the policy trusts of others, are taken as the request's" },
    { "body", 0, "FILE", "the body of the answer: problem details are read" },
    { "attempt", 'n', "N", "which attempt this is about (1)" },
    { "elapsed", 0, "D", "time since the call began (0)" },
    { "idempotency-key", 0, "K", "the request carries this key" },
    { "one-shot-body", 0, NULL,
      "the body of the request cannot be sent again" },
    { "upstream-attempt", 0, "N",
      "the call serves a request that came with "
      "X-Bide-Attempt: N" },
    { "breaker", 0, "open|closed", "the state of the breaker (closed)" },
    { "budget-spent", 0, NULL, "the retry budget has nothing left" },
    { "now", 0, "HTTP-DATE", "wall clock that dates are read by" },
    { "json", 0, NULL, "print JSON" },
    POLICY_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide explain [options]",
    "Shows what bide does after one attempt: retry, and when, or stop, and "
    "why. Without --status, --error or --grpc it shows whether the attempt "
    "may be made at all. The engine itself is asked, with a fresh budget and "
    "a closed breaker unless you say otherwise.",
    flag_list,
    "Exit codes: 0 it tries or retries, 1 it stops, 2 an error in the "
    "arguments or in the policy.\n\n"
    "Examples:\n"
    "  bide explain --status 503\n"
    "  bide explain -X POST -s 503 -H 'Retry-After: 120' -n 2\n"
    "  bide explain -p bide.yaml:payments --error reset --json\n"
    "  bide explain -p bide.yaml --grpc UNAVAILABLE",
};

/* Every gRPC call is a POST. */
static void choose_method(struct situation *s)
{
    if (!s->method[0])
        strcpy(s->method, s->response.is_grpc ? "POST" : "GET");
}

static int explain(struct situation *s)
{
    struct answer answer;
    int rc = policy_settle(&s->policy);

    choose_method(s);
    if (rc >= 0)
        return rc;
    if (!s->answered && (s->response.n_headers || s->response.body))
        return complain("explain", "an answer has a header or a body: expected "
                                   "its --status, --grpc or --error too");
    rc = explain_ask(s, &answer);
    if (rc < 0)
        return complain("explain", "%s", bide_strerror(rc));
    if (s->json)
        explain_json(s, &answer);
    else
        explain_print(s, &answer);
    return explain_stops(&answer) ? EXIT_FINDINGS : EXIT_OK;
}

int cmd_explain(int argc, char **argv)
{
    struct situation s = {
        .policy = POLICY_CHOICE_INIT,
        .attempt = 1,
        .response = { .wall_s = time(NULL) },
    };
    int rc;

    s.policy.command = argv[0];
    s.response.method = s.method;
    s.response.headers = s.headers;
    rc = flags_parse(&flags, argc, argv, explain_take, &s, NULL);
    if (rc < 0)
        rc = explain(&s);
    policy_done(&s.policy);
    free(s.body);
    return rc;
}
