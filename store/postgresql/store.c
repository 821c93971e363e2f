/* The kind `postgresql`: opening, and seeing that the server is fit. */
#include "store/postgresql/store.h"

#include <libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "store/postgresql/look.h"
#include "store/postgresql/records.h"
#include "store/postgresql/schema.h"

enum { SCHEMA_VERSION = 1 };

/* What a session is set to: a commit is on the disk before it is reported;
 * plans that go by the index, however small the tables were when they were
 * made; and an end to statements that hang. */
static const char session_sql[] =
    "SET synchronous_commit = on;"
    "SET default_transaction_isolation = 'read committed';"
    "SET default_transaction_read_only = off;"
    "SET enable_seqscan = off; SET enable_hashjoin = off;"
    "SET enable_mergejoin = off; SET jit = off;"
    "SET plan_cache_mode = force_generic_plan;"
    "SET client_min_messages = error;"
    "SET statement_timeout = %d; SET lock_timeout = %d";

int pg_store_failed(const struct pg_store *self, char *why, size_t why_size)
{
    if (why)
        snprintf(why, why_size, "postgresql: %s", self->why);
    return BIDE_ESTATE;
}

/* ===== errors, and what helps ===== */

/* An identifier as SQL writes it. */
static const char *quoted(const char *name, char to[140])
{
    size_t n = 0;

    to[n++] = '"';
    for (; *name && n < 136; name++) {
        if (*name == '"')
            to[n++] = '"';
        to[n++] = *name;
    }
    to[n++] = '"';
    to[n] = '\0';
    return to;
}

static void explain(struct pg_store *self)
{
    const char *state = pg_state(self->pg), *what = pg_why(self->pg);
    const char *schema;
    char user[140];

    quoted(pg_user(self->pg), user);
    if (strcmp(state, "42501") != 0)
        snprintf(self->why, sizeof self->why, "%s", what);
    else if ((schema = strstr(what, "schema ")) != NULL)
        snprintf(self->why, sizeof self->why,
                 "%s: let its owner GRANT USAGE, CREATE ON SCHEMA %s TO %s",
                 what, schema + 7, user);
    else
        snprintf(self->why, sizeof self->why,
                 "%s: let its owner GRANT SELECT, INSERT, UPDATE, DELETE ON "
                 "bide_store, bide_store_records, bide_store_rooms, "
                 "bide_store_lanes TO %s",
                 what, user);
}

PGresult *pg_store_ask(struct pg_store *self, const char *sql)
{
    PGresult *r = pg_run(self->pg, sql, &self->args, self->until_ns);

    if (r && pg_is_ok(r))
        return r;
    PQclear(r);
    explain(self);
    return NULL;
}

/* ===== making a connection ready ===== */

/* Errors that no waiting mends: who we are, what we may do, what is there. */
static bool is_refusal(const char *state)
{
    static const char *const classes[] = { "28", "3D", "3F", "42", "0A", "25" };

    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strncmp(state, classes[i], 2) == 0)
            return true;
    }
    return false;
}

static int not_ready(struct pg_store *self)
{
    explain(self);
    self->refused = is_refusal(pg_state(self->pg));
    pg_close(self->pg);
    return BIDE_ESTATE;
}

__attribute__((format(printf, 2, 3))) static int
refuse(struct pg_store *self, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(self->why, sizeof self->why, format, args);
    va_end(args);
    self->refused = true;
    pg_close(self->pg);
    return BIDE_ESTATE;
}

static const char about_sql[] =
    "SELECT current_setting('fsync') = 'on',"
    " current_setting('full_page_writes') = 'on',"
    " to_regclass('bide_store') IS NOT NULL";

static int make_schema(struct pg_store *self)
{
    if (self->existing)
        return refuse(self, "there is no store in database %s",
                      pg_database(self->pg));
    PGresult *r = pg_script(self->pg, pg_store_schema, self->until_ns);
    bool ok = r && pg_is_ok(r);
    PQclear(r);
    return ok ? 0 : not_ready(self);
}

static int check_version(struct pg_store *self)
{
    PGresult *r = pg_store_ask(self, "SELECT max(version) FROM bide_store");
    if (!r)
        return not_ready(self);
    int64_t version = pg_int(r, 0, 0);
    PQclear(r);
    if (version == SCHEMA_VERSION)
        return 0;
    return refuse(self,
                  "the tables bide_store* are of version %lld, expected %d: "
                  "they were made by another version of bide",
                  (long long)version, SCHEMA_VERSION);
}

static int check_server(struct pg_store *self)
{
    pg_args_clear(&self->args);
    PGresult *r = pg_store_ask(self, about_sql);
    if (!r)
        return not_ready(self);
    bool fsync = pg_int(r, 0, 0), pages = pg_int(r, 0, 1);
    bool made = pg_int(r, 0, 2);
    PQclear(r);
    bool strict = !self->relaxed && !self->existing; /* looking is harmless */
    if (!fsync && strict)
        return refuse(self, "the server runs with fsync = off: it may lose "
                            "what it has acknowledged; set fsync = on, or "
                            "durability: relaxed");
    if (!pages && strict)
        return refuse(self, "the server runs with full_page_writes = off: a "
                            "crash may tear what it has acknowledged; set "
                            "full_page_writes = on, or durability: relaxed");
    int rc = made ? 0 : make_schema(self);
    return rc < 0 ? rc : check_version(self);
}

int pg_store_ready(struct pg_store *self)
{
    self->refused = false;
    if (pg_connect(self->pg, self->until_ns) < 0)
        return not_ready(self);
    if (self->ready == pg_connection(self->pg))
        return 0;
    int rc = check_server(self);
    if (rc == 0)
        self->ready = pg_connection(self->pg);
    return rc;
}

/* ===== from open to close ===== */

static void pg_store_close(void *arg)
{
    struct pg_store *self = arg;

    if (!self)
        return;
    PQclear(self->read);
    pg_args_done(&self->args);
    bide__batch_done(&self->batch);
    pg_free(self->pg);
    free(self);
}

static int pg_store_open(void **ret, const struct bide__store_setup *setup,
                         char *why, size_t why_size)
{
    struct pg_store *self = calloc(1, sizeof *self);
    char session[sizeof session_sql + 32];
    int rc = BIDE_ENOMEM;

    if (!self)
        return BIDE_ENOMEM;
    if (!pg_url_ok(setup->url, self->why, sizeof self->why)) {
        rc = BIDE_EINVAL;
        goto refused;
    }
    self->relaxed = setup->relaxed;
    self->existing = setup->existing;
    self->patience_ns = bide__batch_patience(setup->timeout_ns);
    self->batch.limit_bytes = setup->limit_bytes;
    int ms = (int)(self->patience_ns / BIDE_MILLISECOND);
    snprintf(session, sizeof session, session_sql, ms, ms / 4);
    self->pg = pg_new(setup->url, session);
    if (!self->pg)
        goto failed;
    self->until_ns = bide_now_ns() + self->patience_ns;
    rc = pg_store_ready(self);
    if (rc < 0 && (self->refused || self->existing))
        goto refused;
    *ret = self;
    return 0;
refused:
    pg_store_failed(self, why, why_size);
failed:
    pg_store_close(self);
    return rc;
}

__attribute__((visibility("default")))
const struct bide__store_kind bide__store_postgresql = {
    .name = "postgresql",
    .durable = true,
    .open = pg_store_open,
    .run = pg_store_run,
    .sweep = pg_store_sweep,
    .count = pg_store_count,
    .list = pg_store_list,
    .purge = pg_store_purge,
    .close = pg_store_close,
};
