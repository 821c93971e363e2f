/* Records in memory: for tests, and for those who accept that they are gone with
 * the process. Records are in a list by age as well: `list` shows the newest
 * first, and `sweep` walks it in small steps. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "store/clock.h"
#include "store/kind.h"
#include "store/table.h"

struct share { /* of a caller */
    struct bide__store_item item;
    uint64_t used, records;
    char name[];
};

struct entry {
    struct bide__store_item item;
    struct bide__list age;
    struct bide__store_record record;
    struct share *share;
    void *data;
    size_t scope, owner; /* lengths; text is scope NUL owner NUL key NUL */
    char text[];
};

struct memory {
    struct bide__store_clock clock;
    int64_t last_ns;
    uint64_t limit, total;
    struct bide__store_table records, shares;
    struct bide__list ages;   /* oldest first */
    struct bide__list *swept; /* where the next sweep begins; NULL: oldest */
};

static int64_t now_of(struct memory *m)
{
    m->last_ns = bide__store_clock_now(&m->clock, m->last_ns);
    return m->last_ns;
}

/* ===== entries ===== */

enum { NAME_MOST = 3 * 1024 + 3 };

/* scope NUL owner NUL key; returns its length. */
static size_t name_of(const bide_store_op *op, char name[NAME_MOST])
{
    size_t scope = strlen(op->scope) + 1, owner = strlen(op->owner) + 1,
           key = strlen(op->key);
    memcpy(name, op->scope, scope);
    memcpy(name + scope, op->owner, owner);
    memcpy(name + scope + owner, op->key, key + 1);
    return scope + owner + key;
}

static struct entry *find(struct memory *m, const bide_store_op *op)
{
    char name[NAME_MOST];
    size_t len = name_of(op, name);
    struct bide__store_item *item = bide__store_table_find(&m->records, name, len);
    return item ? bide__container_of(item, struct entry, item) : NULL;
}

static struct share *share_of(struct memory *m, const char *name)
{
    struct bide__store_item *item =
        bide__store_table_find(&m->shares, name, strlen(name));
    return item ? bide__container_of(item, struct share, item) : NULL;
}

static struct share *share_make(struct memory *m, const char *name)
{
    struct share *share = share_of(m, name);
    size_t len = strlen(name);
    if (share || !(share = calloc(1, sizeof *share + len + 1)))
        return share;
    memcpy(share->name, name, len + 1);
    share->item.text = share->name;
    share->item.len = len;
    if (bide__store_table_put(&m->shares, &share->item))
        return share;
    free(share);
    return NULL;
}

static void share_drop(struct memory *m, struct share *share)
{
    if (share->records > 0)
        return;
    bide__store_table_remove(&m->shares, &share->item);
    free(share);
}

static void drop(struct memory *m, struct entry *entry)
{
    if (m->swept == &entry->age)
        m->swept = entry->age.next;
    bide__list_remove(&entry->age);
    bide__store_table_remove(&m->records, &entry->item);
    m->total -= entry->record.bytes;
    entry->share->used -= entry->record.bytes;
    entry->share->records--;
    share_drop(m, entry->share);
    free(entry->data);
    free(entry);
}

static struct entry *make(struct memory *m, const bide_store_op *op)
{
    char name[NAME_MOST];
    size_t len = name_of(op, name);
    struct entry *entry = calloc(1, sizeof *entry + len + 1);
    if (!entry)
        return NULL;
    memcpy(entry->text, name, len + 1);
    entry->item.text = entry->text;
    entry->item.len = len;
    entry->scope = strlen(op->scope);
    entry->owner = strlen(op->owner);
    entry->share = share_make(m, op->room);
    if (entry->share && bide__store_table_put(&m->records, &entry->item)) {
        entry->share->records++;
        bide__list_append(&m->ages, &entry->age);
        return entry;
    }
    if (entry->share)
        share_drop(m, entry->share);
    free(entry);
    return NULL;
}

/* ===== operations ===== */

static int insert(struct memory *m, const bide_store_op *op,
                  struct entry *expired, const struct bide__store_record *record)
{
    if (expired)
        drop(m, expired);
    struct entry *entry = make(m, op);
    if (!entry)
        return BIDE_ENOMEM;
    entry->record = *record;
    entry->share->used += record->bytes;
    m->total += record->bytes;
    return 0;
}

static int update(struct memory *m, struct entry *entry,
                  const struct bide__store_record *record)
{
    void *data = NULL;
    if (record->len > 0 && !(data = malloc(record->len)))
        return BIDE_ENOMEM;
    if (data)
        memcpy(data, record->data, record->len);
    m->total += record->bytes - entry->record.bytes;
    entry->share->used += record->bytes - entry->record.bytes;
    free(entry->data);
    entry->data = data;
    entry->record = *record;
    entry->record.data = data;
    return 0;
}

/* The answer becomes the operation's own. */
static int hand_over(bide_store_op *op)
{
    if (op->result != BIDE_STORE_DONE)
        return 0;
    op->_answer = malloc(op->len ? op->len : 1);
    if (!op->_answer)
        return BIDE_ENOMEM;
    if (op->len > 0)
        memcpy(op->_answer, op->data, op->len);
    op->data = op->_answer;
    return 0;
}

static int run_one(struct memory *m, bide_store_op *op, int64_t now_ns)
{
    struct entry *entry = find(m, op);
    bool claim = op->verb == BIDE_STORE_CLAIM;
    struct share *share = claim || !entry ? share_of(m, op->room) : entry->share;
    struct bide__store_space space = { m->limit, m->total,
                                       share ? share->used : 0 };
    struct bide__store_record record;
    switch (bide__store_rule(op, entry ? &entry->record : NULL, &record, space,
                             now_ns)) {
    case BIDE__STORE_INSERT:
        return insert(m, op, entry, &record);
    case BIDE__STORE_UPDATE:
        return update(m, entry, &record);
    case BIDE__STORE_REMOVE:
        drop(m, entry);
        break;
    case BIDE__STORE_LEAVE:
        return hand_over(op);
    }
    return 0;
}

static int memory_run(void *self, bide_store_op *const ops[], size_t n,
                      char *why, size_t why_size)
{
    struct memory *m = self;
    int64_t now_ns = now_of(m);
    (void)why_size;
    for (size_t i = 0; i < n; i++) {
        int rc = run_one(m, ops[i], now_ns);
        if (rc < 0) {
            strcpy(why, "out of memory");
            return rc;
        }
    }
    return 0;
}

/* ===== walking ===== */

static struct entry *entry_of(struct bide__list *age)
{
    return bide__container_of(age, struct entry, age);
}

/* Looks at some more of them each time, from the oldest to the newest. */
static int memory_sweep(void *self, int most, char *why, size_t why_size)
{
    struct memory *m = self;
    int64_t now_ns = now_of(m);
    int swept = 0;
    (void)why;
    (void)why_size;
    struct bide__list *at = m->swept ? m->swept : m->ages.next;
    for (int looked = 0; at != &m->ages && looked < 10 * most && swept < most;
         looked++) {
        struct entry *entry = entry_of(at);
        at = at->next;
        if (entry->record.expires_ns <= now_ns) {
            drop(m, entry);
            swept++;
        }
    }
    m->swept = at == &m->ages ? NULL : at;
    return swept;
}

static int memory_count(void *self, struct bide__store_count *ret, char *why,
                        size_t why_size)
{
    struct memory *m = self;
    (void)why;
    (void)why_size;
    *ret = (struct bide__store_count){ .records = m->records.n,
                                       .bytes = m->total };
    if (!bide__list_empty(&m->ages))
        ret->oldest_ns =
            now_of(m) - entry_of(m->ages.next)->record.created_ns;
    return 0;
}

static bool asked_for(const struct entry *entry,
                      const struct bide__store_query *query, int64_t now_ns)
{
    return entry->record.expires_ns > now_ns &&
           now_ns - entry->record.created_ns >= query->older_ns &&
           (!query->scope || strcmp(entry->text, query->scope) == 0) &&
           (!query->key ||
            strcmp(entry->text + entry->scope + entry->owner + 2, query->key) ==
                0);
}

static int memory_list(void *self, const struct bide__store_query *query,
                       bide__store_row_fn fn, void *ctx, char *why,
                       size_t why_size)
{
    struct memory *m = self;
    int64_t now_ns = now_of(m);
    uint64_t shown = 0;
    (void)why;
    (void)why_size;
    for (struct bide__list *at = m->ages.prev; at != &m->ages; at = at->prev) {
        struct entry *entry = entry_of(at);
        if (!asked_for(entry, query, now_ns))
            continue;
        struct bide__store_row row = {
            .scope = entry->text,
            .owner = entry->text + entry->scope + 1,
            .key = entry->text + entry->scope + entry->owner + 2,
            .room = entry->share->name,
            .record = entry->record,
            .now_ns = now_ns,
        };
        if (!fn(ctx, &row) || ++shown == query->most)
            break;
    }
    return 0;
}

static int memory_purge(void *self, const struct bide__store_query *query,
                        uint64_t *removed, char *why, size_t why_size)
{
    struct memory *m = self;
    int64_t now_ns = now_of(m);
    uint64_t n = 0;
    (void)why;
    (void)why_size;
    for (struct bide__list *at = m->ages.next, *next;
         at != &m->ages && (query->most == 0 || n < query->most); at = next) {
        struct entry *entry = entry_of(at);
        next = at->next;
        if (!asked_for(entry, query, now_ns) ||
            !bide__store_at_rest(&entry->record, now_ns))
            continue;
        drop(m, entry);
        n++;
    }
    *removed += n;
    return 0;
}

/* ===== opening and closing ===== */

static int memory_open(void **ret, const struct bide__store_setup *setup,
                       char *why, size_t why_size)
{
    struct memory *m = calloc(1, sizeof *m);
    (void)why;
    (void)why_size;
    if (!m)
        return BIDE_ENOMEM;
    m->limit = setup->limit_bytes;
    bide__store_clock_init(&m->clock, setup, 0);
    bide__list_init(&m->ages);
    *ret = m;
    return 0;
}

static void memory_close(void *self)
{
    struct memory *m = self;
    while (!bide__list_empty(&m->ages))
        drop(m, entry_of(m->ages.next));
    bide__store_table_done(&m->records);
    bide__store_table_done(&m->shares);
    free(m);
}

const struct bide__store_kind bide__store_memory = {
    .name = "memory",
    .open = memory_open,
    .run = memory_run,
    .sweep = memory_sweep,
    .count = memory_count,
    .list = memory_list,
    .purge = memory_purge,
    .close = memory_close,
};
