/* A reconnect storm, and how it is kept small.
 *
 *     pg_reconnect CONNINFO [AT_ONCE]       ends when its standard input does
 *
 * Many threads work on a PostgreSQL database, each on a connection of its own.
 * When the database restarts they all lose it in the same moment, and would all
 * knock at the same door until it falls in again. Here they share a dependency.
 * While nothing accepts a connection, one of them at a time finds out whether
 * the database is back, for all of them. When it is, AT_ONCE of them (4) connect
 * at once and the others queue. */
#include <bide/bide.h>
#include <bide/run.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 24 };

static const char *conninfo;
static bide_dep *database;
static bide_cancel quit;
static atomic_int connected, made, gave_up;

/* One attempt. Nothing was asked yet, so nothing can happen twice. */
static bide_outcome connect_once(void *arg, const bide_attempt *attempt)
{
    PGconn **conn = arg;
    char seconds[24];
    const char *names[] = { "dbname", "connect_timeout", NULL };
    const char *values[] = { conninfo, seconds, NULL };
    /* Rounded up: to libpq 0 is for ever. */
    snprintf(seconds, sizeof seconds, "%lld",
             (long long)(attempt->timeout_ns / BIDE_SECOND + 1));
    PQfinish(*conn);
    *conn = PQconnectdbParams(names, values, 1);
    if (PQstatus(*conn) == CONNECTION_OK)
        return BIDE_OUTCOME_SUCCESS;
    bool hopeless = PQconnectionNeedsPassword(*conn); /* all that libpq tells */
    return (bide_outcome){ .cls = hopeless ? BIDE_PERMANENT : BIDE_TRANSIENT,
                           .fault = BIDE_FAULT_CONNECT,
                           .not_processed = true };
}

/* Connects, however long the database takes, or gives up for a reason. */
static bool connect_again(PGconn **conn)
{
    bide_run_opts opts = { .cancel = &quit };
    bide_reason reason = bide_run(database, connect_once, conn, &opts);
    if (reason == BIDE_BECAUSE_SUCCESS) {
        atomic_fetch_add(&made, 1);
        if (atomic_fetch_add(&connected, 1) + 1 == THREADS)
            printf("%d connected, %d connections so far\n", THREADS, made);
        return true;
    }
    if (reason != BIDE_BECAUSE_CANCELLED) {
        fprintf(stderr, "%s: %s", bide_reason_name(reason),
                *conn ? PQerrorMessage(*conn) : "never tried\n");
        atomic_fetch_add(&gave_up, 1);
    }
    return false;
}

static bool ask(PGconn *conn)
{
    PGresult *result = PQexec(conn, "SELECT 1");
    bool answered = PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    return answered;
}

static void *work(void *unused)
{
    PGconn *conn = NULL;
    while (!bide_cancelled(&quit) && connect_again(&conn)) {
        while (!bide_cancelled(&quit) && ask(conn))
            bide_sleep_until(bide_now_ns() + 10 * BIDE_MILLISECOND, &quit);
        atomic_fetch_sub(&connected, 1);
    }
    PQfinish(conn);
    return unused;
}

static int make_database(unsigned at_once)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.limits.in_flight = at_once; /* what the database gets to see */
    conf.limits.queue = THREADS;     /* the others stand in line ... */
    conf.limits.queue_timeout_ns = BIDE_MINUTE;
    conf.unreachable.wait_ns = 5 * BIDE_MINUTE; /* ... until it is there */
    conf.attempts = 1000; /* it accepts connections, but is still starting */
    conf.deadline_ns = 5 * BIDE_MINUTE;
    conf.backoff.base_ns = 50 * BIDE_MILLISECOND;
    conf.backoff.cap_ns = 2 * BIDE_SECOND;
    /* Threads without a connection have nothing better to do than to try, and
     * the cap bounds what that can do: it takes the budget's and the breaker's
     * place. */
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    return bide_run_dep_new(&database, "database", &conf);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s CONNINFO [AT_ONCE]\n", argv[0]);
        return 2;
    }
    char *mistake = NULL;
    PQconninfoOption *parsed = PQconninfoParse(argv[1], &mistake);
    if (!parsed) {
        fprintf(stderr, "%s", mistake);
        return 2;
    }
    PQconninfoFree(parsed);
    conninfo = argv[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    int rc = make_database(argc > 2 ? (unsigned)atoi(argv[2]) : 4);
    if (rc < 0) {
        fprintf(stderr, "%s\n", bide_strerror(rc));
        return 2;
    }
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            abort();

    while (getchar() != EOF)
        ;
    bide_cancel_now(&quit);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    bide_stats s;
    bide_dep_stats(database, bide_now_ns(), &s);
    printf("%d connections took %d attempts; %d threads gave up\n", made,
           (int)s.attempts, gave_up);
    bide_dep_free(database);
    return gave_up != 0;
}
