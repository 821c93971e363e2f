/* The connection: connect, send, receive; each until a deadline. */
#include "store/postgresql/pg.h"

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"

enum { STATEMENTS = 32 };

struct pg {
    char *url;
    char *session;
    PGconn *conn; /* NULL: not connected */
    uint64_t connection;
    const char *prepared[STATEMENTS]; /* on this connection, by address */
    unsigned n_prepared;
    char state[6];
    char why[PG_WHY];
    char user[64];
    char database[64];
};

/* ===== errors ===== */

/* A message of libpq: one line, of which the first says what, the rest where. */
static void note(struct pg *p, const char *text)
{
    size_t n = 0;

    while (*text && n < sizeof p->why - 1) {
        char c = *text++;
        p->why[n++] = (unsigned char)c < ' ' ? ' ' : c;
    }
    while (n > 0 && p->why[n - 1] == ' ')
        n--;
    p->why[n] = '\0';
}

/* Closes the connection, having said why. */
static int broken(struct pg *p, const char *what)
{
    note(p, what ? what : PQerrorMessage(p->conn));
    if (!*p->why)
        note(p, "the server hung up");
    pg_close(p);
    return -1;
}

const char *pg_why(const struct pg *p)
{
    return p->why;
}

const char *pg_state(const struct pg *p)
{
    return p->state;
}

const char *pg_user(const struct pg *p)
{
    return p->user;
}

const char *pg_database(const struct pg *p)
{
    return p->database;
}

int pg_process(const struct pg *p)
{
    return PQbackendPID(p->conn);
}

/* ===== from new to free ===== */

bool pg_url_ok(const char *url, char *why, size_t why_size)
{
    char *error = NULL;
    PQconninfoOption *read = PQconninfoParse(url, &error);

    if (!read)
        snprintf(why, why_size, "%.*s", error ? (int)strcspn(error, "\n") : 9,
                 error ? error : "no memory");
    PQconninfoFree(read);
    PQfreemem(error);
    return read != NULL;
}

struct pg *pg_new(const char *url, const char *session)
{
    struct pg *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->url = strdup(url);
    p->session = session ? strdup(session) : NULL;
    if (!p->url || (session && !p->session)) {
        pg_free(p);
        return NULL;
    }
    return p;
}

void pg_close(struct pg *p)
{
    PQfinish(p->conn);
    p->conn = NULL;
}

void pg_free(struct pg *p)
{
    if (!p)
        return;
    pg_close(p);
    free(p->url);
    free(p->session);
    free(p);
}

bool pg_is_connected(const struct pg *p)
{
    return p->conn != NULL;
}

uint64_t pg_connection(const struct pg *p)
{
    return p->connection;
}

/* ===== waiting ===== */

/* Waits until the socket can be read or written. False: not in time, and the
 * connection is closed. */
static bool wait_for(struct pg *p, short events, int64_t until_ns)
{
    for (;;) {
        int64_t left_ns = until_ns - bide_now_ns();
        if (left_ns <= 0)
            return broken(p, "no answer in time"), false;
        struct pollfd fd = { .fd = PQsocket(p->conn), .events = events };
        struct timespec left = { .tv_sec = left_ns / 1000000000,
                                 .tv_nsec = left_ns % 1000000000 };
        int n = ppoll(&fd, 1, &left, NULL);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return broken(p, strerror(errno)), false;
    }
}

/* ===== connecting ===== */

/* Whether "28P01: " stands there. */
static bool is_state(const char *text)
{
    return strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 &&
           text[5] == ':';
}

/* Connecting failed. libpq has the server's SQLSTATE in its verbose message
 * only: "...: FATAL:  28P01: password authentication failed ...". Where several
 * servers were tried, the last one's. */
static bool refused(struct pg *p)
{
    char text[PG_WHY];

    if (PQconnectionNeedsPassword(p->conn)) /* and has none: libpq's own error */
        snprintf(p->state, sizeof p->state, "28P01");
    broken(p, NULL);
    snprintf(text, sizeof text, "%s", p->why);
    for (const char *at = text; (at = strstr(at, ":  ")) != NULL; at++) {
        const char *after = at + 3;
        if (!is_state(after))
            continue;
        snprintf(p->state, sizeof p->state, "%.5s", after);
        char *end = strstr(text, " LOCATION:");
        if (end)
            *end = '\0';
        note(p, after + 7);
    }
    return false;
}

/* What the URL does not say: a name for pg_stat_activity; of several servers,
 * the one that takes writes; keep-alive that notices a dead host. What the URL
 * says comes later, and counts. */
static const char *const names[] = { "application_name",
                                     "target_session_attrs",
                                     "keepalives_idle",
                                     "tcp_user_timeout",
                                     "dbname",
                                     NULL };

static bool begin(struct pg *p)
{
    const char *values[] = { "bide", "read-write", "30", "10000", p->url,
                             NULL };

    p->conn = PQconnectStartParams(names, values, 1);
    if (!p->conn) {
        note(p, "no memory");
        return false;
    }
    if (PQstatus(p->conn) == CONNECTION_BAD)
        return refused(p);
    PQsetErrorVerbosity(p->conn, PQERRORS_VERBOSE);
    return true;
}

static bool poll_until_connected(struct pg *p, int64_t until_ns)
{
    short events = POLLOUT;

    for (;;) {
        if (!wait_for(p, events, until_ns))
            return false;
        switch (PQconnectPoll(p->conn)) {
        case PGRES_POLLING_OK:
            return true;
        case PGRES_POLLING_READING:
            events = POLLIN;
            break;
        case PGRES_POLLING_WRITING:
            events = POLLOUT;
            break;
        default:
            return refused(p);
        }
    }
}

/* "table exists already": libpq would print it. */
static void ignore(void *arg, const PGresult *notice)
{
    (void)arg;
    (void)notice;
}

int pg_connect(struct pg *p, int64_t until_ns)
{
    if (p->conn)
        return 0;
    p->state[0] = '\0';
    if (!begin(p) || !poll_until_connected(p, until_ns))
        return -1;
    PQsetnonblocking(p->conn, 1);
    PQsetNoticeReceiver(p->conn, ignore, NULL);
    snprintf(p->user, sizeof p->user, "%s", PQuser(p->conn));
    snprintf(p->database, sizeof p->database, "%s", PQdb(p->conn));
    p->connection++;
    p->n_prepared = 0;
    if (p->session) {
        PGresult *r = pg_script(p, p->session, until_ns);
        bool ok = r && pg_is_ok(r);
        PQclear(r);
        if (!ok) {
            pg_close(p);
            return -1;
        }
    }
    return 0;
}

/* ===== notifications ===== */

int pg_fd(const struct pg *p)
{
    return p->conn ? PQsocket(p->conn) : -1;
}

bool pg_notified(struct pg *p)
{
    PGnotify *n;
    bool any = false;

    if (!p->conn)
        return false;
    if (!PQconsumeInput(p->conn)) {
        broken(p, NULL);
        return true;
    }
    while ((n = PQnotifies(p->conn)) != NULL) {
        any = true;
        PQfreemem(n);
    }
    return any;
}

/* ===== statements ===== */

bool pg_is_ok(const PGresult *result)
{
    ExecStatusType s = PQresultStatus(result);

    return s == PGRES_COMMAND_OK || s == PGRES_TUPLES_OK;
}

/* The last result of what was sent, or the first that is an error. NULL: the
 * connection is closed. */
static PGresult *receive(struct pg *p, int64_t until_ns)
{
    PGresult *last = NULL;
    int left;

    while ((left = PQflush(p->conn)) > 0) {
        if (!wait_for(p, POLLIN | POLLOUT, until_ns))
            return NULL;
        if (!PQconsumeInput(p->conn))
            return broken(p, NULL), NULL;
    }
    if (left < 0)
        return broken(p, NULL), NULL;
    for (;;) {
        while (PQisBusy(p->conn)) {
            if (!wait_for(p, POLLIN, until_ns)) {
                PQclear(last);
                return NULL;
            }
            if (!PQconsumeInput(p->conn)) {
                PQclear(last);
                return broken(p, NULL), NULL;
            }
        }
        PGresult *r = PQgetResult(p->conn);
        if (!r)
            return last;
        if (last && !pg_is_ok(last)) {
            PQclear(r);
        } else {
            PQclear(last);
            last = r;
        }
    }
}

/* Notes an error of the server. One that ends the session closes it. */
static PGresult *judge(struct pg *p, PGresult *r)
{
    p->state[0] = '\0';
    if (!r || pg_is_ok(r))
        return r;
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(p->state, sizeof p->state, "%s", state ? state : "");
    note(p, text ? text : PQresultErrorMessage(r));
    if (PQstatus(p->conn) == CONNECTION_BAD) {
        PQclear(r);
        pg_close(p);
        return NULL;
    }
    return r;
}

PGresult *pg_script(struct pg *p, const char *sql, int64_t until_ns)
{
    if (!PQsendQuery(p->conn, sql))
        return broken(p, NULL), NULL;
    return judge(p, receive(p, until_ns));
}

/* The name of a prepared statement; "" where it could not be prepared: p->why
 * and *ret say why. */
static bool prepare(struct pg *p, const char *sql, const struct pg_args *args,
                    char name[16], int64_t until_ns, PGresult **ret)
{
    unsigned i = 0;

    while (i < p->n_prepared && p->prepared[i] != sql)
        i++;
    snprintf(name, 16, "s%u", i);
    if (i < p->n_prepared)
        return true;
    if (!PQsendPrepare(p->conn, name, sql, (int)args->n, args->types)) {
        broken(p, NULL);
        *ret = NULL;
        return false;
    }
    PGresult *r = judge(p, receive(p, until_ns));
    if (!r || !pg_is_ok(r)) {
        *ret = r;
        return false;
    }
    PQclear(r);
    if (i < STATEMENTS)
        p->prepared[p->n_prepared++] = sql;
    return true;
}

PGresult *pg_run(struct pg *p, const char *sql, const struct pg_args *args,
                 int64_t until_ns)
{
    const char *values[PG_ARGS];
    int lengths[PG_ARGS], formats[PG_ARGS];
    char name[16];
    PGresult *error;

    if (args->out.failed)
        return broken(p, "no memory"), NULL;
    for (unsigned i = 0; i < args->n; i++) {
        values[i] = args->len[i] ? args->out.data + args->at[i] : "";
        lengths[i] = (int)args->len[i];
        formats[i] = 1;
    }
    if (!prepare(p, sql, args, name, until_ns, &error))
        return error;
    if (!PQsendQueryPrepared(p->conn, name, (int)args->n, values, lengths,
                             formats, 1))
        return broken(p, NULL), NULL;
    return judge(p, receive(p, until_ns));
}
