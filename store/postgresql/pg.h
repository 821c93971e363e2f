/* store/postgresql/pg.h: a connection to PostgreSQL, for a thread that may wait.
 *
 *     struct pg *p = pg_new(url, "SET synchronous_commit = on");
 *     if (pg_connect(p, now + 250 * MS) == 0) {
 *         struct pg_args args = { 0 };
 *         pg_arg_bytes(&args, key, key_len);
 *         PGresult *r = pg_run(p, "SELECT answer FROM t WHERE key = $1",
 *                              &args, now + 250 * MS);
 *         if (r && pg_is_ok(r))
 *             use(PQgetvalue(r, 0, 0));       // binary, like the arguments
 *         PQclear(r);
 *         pg_args_done(&args);
 *     }
 *     if (!pg_is_connected(p))
 *         say(pg_why(p));                     // and pg_connect() again, later
 *     pg_free(p);
 *
 * Every operation has an absolute deadline on the monotonic clock. One that
 * misses it closes the connection: what was sent may then be done or not, also
 * later, so statements must be such that this is all right. A statement is a
 * transaction of its own: nothing is ever left open in the server.
 *
 * Arguments and results are binary: nothing is quoted, so nothing can break
 * out of its quotes, and bytes of any value go through.
 *
 * Names are looked up by libpq with getaddrinfo(), for which no deadline
 * holds. */
#ifndef BIDE_STORE_POSTGRESQL_PG_H
#define BIDE_STORE_POSTGRESQL_PG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/postgresql/args.h"

enum { PG_WHY = 512 };

/* Threads: owned. */
struct pg;

/* Whether libpq can read a URL; if not, what it says. */
bool pg_url_ok(const char *url, char *why, size_t why_size);

/* `url`: what libpq takes, postgresql://... `session`: statements that each new
 * connection begins with, or NULL. Both are copied. NULL: no memory. Connects
 * to nothing. */
struct pg *pg_new(const char *url, const char *session);
void pg_free(struct pg *p); /* NULL is fine */

/* Connects, unless it is connected. 0, or -1 and pg_why(). */
int pg_connect(struct pg *p, int64_t until_ns);
bool pg_is_connected(const struct pg *p);
void pg_close(struct pg *p);

/* Counts connections: another number, and what a session had is gone. */
uint64_t pg_connection(const struct pg *p);

/* To poll for input; -1 without a connection. */
int pg_fd(const struct pg *p);

/* Whether a NOTIFY has come on a channel that the session listens to, also with
 * the answer to a statement before: the socket would then say nothing more. All
 * that have come are taken. A connection that turns out to be gone is closed,
 * which also counts: there is something to do. */
bool pg_notified(struct pg *p);

/* Why the last operation failed, for people; never NULL, no password in it. */
const char *pg_why(const struct pg *p);

/* The SQLSTATE of the last error that the server reported, while connecting as
 * well; else "". */
const char *pg_state(const struct pg *p);

/* Who and where, as the server sees it: the words of a GRANT. */
const char *pg_user(const struct pg *p);
const char *pg_database(const struct pg *p);

/* The number of the process that serves this connection. */
int pg_process(const struct pg *p);

/* Runs one statement, prepared at its first use on a connection (`sql` is known
 * by its address: pass constants). NULL: the connection is closed. An error of
 * the server is a result too, for which pg_is_ok() is false and pg_why() says
 * what; the connection lives on. To be given to PQclear(). */
PGresult *pg_run(struct pg *p, const char *sql, const struct pg_args *args,
                 int64_t until_ns);

/* Runs several statements without arguments, as one transaction. */
PGresult *pg_script(struct pg *p, const char *sql, int64_t until_ns);

bool pg_is_ok(const PGresult *result);

#endif
