/* Sets of numbers, and the column that holds them: eight bytes each, in the order of
 * this machine, where alone the file is used. */
#include "queue/sqlite/held.h"

#include <stdlib.h>
#include <string.h>

#include "queue/sqlite/db.h"

/* ===== sets ===== */

static size_t slot_of(const struct seqs *set, int64_t seq)
{
    size_t i = (uint64_t)seq * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    for (i &= set->size - 1; set->slots[i] && set->slots[i] != seq;)
        i = (i + 1) & (set->size - 1);
    return i;
}

static bool grow(struct seqs *set)
{
    struct seqs more = { .size = set->size ? 2 * set->size : 256 };

    more.slots = calloc(more.size, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (size_t i = 0; i < set->size; i++)
        if (set->slots[i])
            more.slots[slot_of(&more, set->slots[i])] = set->slots[i];
    free(set->slots);
    set->slots = more.slots;
    set->size = more.size;
    return true;
}

bool seqs_add(struct seqs *set, int64_t seq)
{
    if (2 * (set->n + 1) > set->size && !grow(set))
        return false;
    size_t i = slot_of(set, seq);
    set->n += set->slots[i] == 0;
    set->slots[i] = seq;
    return true;
}

bool seqs_has(const struct seqs *set, int64_t seq)
{
    return set->n > 0 && set->slots[slot_of(set, seq)] == seq;
}

/* Those behind it move up, so that none is cut off from its place. */
void seqs_remove(struct seqs *set, int64_t seq)
{
    if (!seqs_has(set, seq))
        return;
    size_t i = slot_of(set, seq);
    set->slots[i] = 0;
    set->n--;
    for (i = (i + 1) & (set->size - 1); set->slots[i];
         i = (i + 1) & (set->size - 1)) {
        int64_t moved = set->slots[i];
        set->slots[i] = 0;
        set->slots[slot_of(set, moved)] = moved;
    }
}

void seqs_done(struct seqs *set)
{
    free(set->slots);
    *set = (struct seqs){ NULL, 0, 0 };
}

/* ===== rows ===== */

static bool add_all(struct seqs *set, sqlite3_stmt *q, int column)
{
    const char *blob = sqlite3_column_blob(q, column);
    int n = sqlite3_column_bytes(q, column) / (int)sizeof(int64_t);

    for (int i = 0; set && i < n; i++) {
        int64_t seq;
        memcpy(&seq, blob + (size_t)i * sizeof seq, sizeof seq);
        if (seq > 0 && !seqs_add(set, seq))
            return false;
    }
    return true;
}

int held_read(struct sqlite_broker *s, struct seqs *busy, struct seqs *own,
              bool *ret_known)
{
    sqlite3_stmt *q = db_statement(s, SQL_HELD);
    bool fits = true;
    int rc = SQLITE_DONE;

    if (!q)
        return db_failed(s);
    *ret_known = false;
    sqlite3_bind_int64(q, 1, s->queue);
    while (fits && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        bool ours = sqlite3_column_int64(q, 0) == s->worker;
        *ret_known = *ret_known || ours;
        fits = add_all(busy, q, 1) && (!ours || add_all(own, q, 1));
    }
    sqlite3_reset(q);
    if (!fits)
        return broker_fail(&s->b, BROKER_NO_MEMORY, "out of memory");
    return rc == SQLITE_DONE ? 0 : db_failed(s);
}

int held_of(struct sqlite_broker *s, int64_t worker, struct seqs *set)
{
    sqlite3_stmt *q = db_statement(s, SQL_HELD_BY);
    bool fits = true;

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, worker);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        fits = add_all(set, q, 0);
    sqlite3_reset(q);
    if (!fits)
        return broker_fail(&s->b, BROKER_NO_MEMORY, "out of memory");
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(s);
}

int held_write(struct sqlite_broker *s, const struct seqs *own)
{
    sqlite3_stmt *q = db_statement(s, SQL_HOLD);
    int64_t *list = malloc((own->n + 1) * sizeof *list);
    size_t n = 0;

    if (!q || !list) {
        free(list);
        return q ? broker_fail(&s->b, BROKER_NO_MEMORY, "out of memory")
                 : db_failed(s);
    }
    for (size_t i = 0; i < own->size; i++)
        if (own->slots[i])
            list[n++] = own->slots[i];
    sqlite3_bind_int64(q, 1, s->worker);
    sqlite3_bind_blob64(q, 2, list, n * sizeof *list, SQLITE_STATIC);
    int status = db_run(s, q);
    sqlite3_clear_bindings(q);
    free(list);
    return status;
}
