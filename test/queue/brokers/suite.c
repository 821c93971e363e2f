/* suite URL [server|frozen|check|list] [SUFFIX]: the one suite for all brokers.
 * `server`: whoever started it can be asked to kill the broker
 * (test/queue/brokers/run.py); `frozen`: only to freeze it. `check`: prints what the
 * broker's check() finds, or why it does not open. SUFFIX ends the queues' names. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "test/queue/brokers/rig.h"
#include "test/queue/brokers/rows.h"

static void print_finding(void *arg, enum broker_severity severity,
                          const char *found, const char *change)
{
    (void)arg;
    printf("%s: %s: %s\n",
           severity == BROKER_LOSS    ? "loss"
           : severity == BROKER_WASTE ? "waste"
                                      : "fine",
           found, change);
}

static int check(const char *url)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    struct broker_plan plan = { .attempts = 15, .lease_ns = conf.lease_ns,
                                .longest_wait_ns = 3600 * RIG_S };
    char why[BROKER_ERROR] = "";
    struct broker *b;

    conf.url = url;
    conf.consume = true;
    int status = broker_open(&b, &conf, why);
    if (status != 0) {
        printf("%s: %s\n", status == BROKER_REFUSED ? "refused" : "down", why);
        return 0;
    }
    status = b->kind->check(b, &plan, print_finding, NULL);
    broker_close(b);
    return status != 0;
}

int main(int argc, char **argv)
{
    struct rig r = { .conf = BROKER_CONF_INIT };

    if (argc < 2) {
        fprintf(stderr, "usage: suite URL [server|frozen|check|list] [SUFFIX]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    if (argc > 2 && strcmp(argv[2], "check") == 0)
        return check(argv[1]);
    if (argc > 2 && strcmp(argv[2], "list") == 0) {
#define X(name) puts(#name);
        ROWS(X)
#undef X
        return 0;
    }
    r.url = argv[1];
    r.can_crash = argc > 2 && strcmp(argv[2], "server") == 0;
    r.has_server = r.can_crash || (argc > 2 && strcmp(argv[2], "frozen") == 0);
    r.suffix = argc > 3 ? argv[3] : "";
    r.conf.lease_ns = 2 * RIG_S; /* the rule is the same, the test shorter */
#define X(name) rig_row(&r, #name, name);
    ROWS(X)
#undef X
    return rig_finish();
}
