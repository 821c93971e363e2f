/* bide store show: all that is known of a key. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/output.h"
#include "cmd/store/cells.h"
#include "cmd/store/store.h"

struct show {
    const struct args *args;
    struct bide__json j;
    uint64_t rows;
    bool no_memory;
};

static void put_text(struct show *s, const char *name, const char *text)
{
    char *safe = cell_text(text);
    s->no_memory |= !safe;
    if (safe && *safe)
        printf("%-12s %s\n", name, safe);
    free(safe);
}

/* On a terminal, what it would obey is escaped, line by line. */
static void put_answer(struct show *s, const struct bide__store_record *record)
{
    const char *data = record->data;
    if (!isatty(STDOUT_FILENO)) {
        fwrite(data, 1, record->len, stdout);
        return;
    }
    for (size_t at = 0; at < record->len;) {
        const char *end = memchr(data + at, '\n', record->len - at);
        size_t len = end ? (size_t)(end - data) - at : record->len - at;
        char *line = strndup(data + at, len);
        char *safe = line ? cell_text(line) : NULL;
        s->no_memory |= !safe;
        if (safe)
            puts(safe);
        free(safe);
        free(line);
        at += len + (end != NULL);
    }
}

static void put_times(const struct bide__store_row *row)
{
    const struct bide__store_record *r = &row->record;
    char date[40], age[40];
    bool claimed = r->state == BIDE__STORE_CLAIMED;
    printf("%-12s %s, %s ago\n", "claimed",
           cell_date(r->created_ns, date, sizeof date),
           cell_age(row->now_ns - r->created_ns, age, sizeof age));
    if (claimed && !bide__store_at_rest(r, row->now_ns))
        printf("%-12s %s, in %s\n", "lease ends",
               cell_date(r->lease_until_ns, date, sizeof date),
               cell_age(r->lease_until_ns - row->now_ns, age, sizeof age));
    else if (claimed)
        printf("%-12s %s, %s ago; its owner was lost\n", "lease ended",
               cell_date(r->lease_until_ns, date, sizeof date),
               cell_age(row->now_ns - r->lease_until_ns, age, sizeof age));
    printf("%-12s %s, for %s\n", "kept until",
           cell_date(r->expires_ns, date, sizeof date),
           cell_age(r->expires_ns - row->now_ns, age, sizeof age));
}

static bool on_row(void *ctx, const struct bide__store_row *row)
{
    struct show *s = ctx;
    const struct bide__store_record *r = &row->record;
    char size[40];
    if (s->args->json) {
        cell_json(&s->j, row);
    } else if (s->args->answer) {
        put_answer(s, r);
    } else {
        if (s->rows > 0)
            putchar('\n');
        put_text(s, "key", row->key);
        put_text(s, "scope", row->scope);
        put_text(s, "owner", row->owner);
        put_text(s, "caller", row->room);
        printf("%-12s %s", "state", cell_state(row));
        if (r->state != BIDE__STORE_CLAIMED)
            printf(", status %d", (int)r->status);
        putchar('\n');
        put_times(row);
        if (r->state == BIDE__STORE_KEPT)
            printf("%-12s %s%s\n", "answer",
                   cell_size(r->len, size, sizeof size),
                   r->len ? " (--answer prints it)" : "");
    }
    s->rows++;
    return !s->no_memory && !ferror(stdout);
}

int store_show(const struct opened *store, const struct args *args,
               const char *key)
{
    struct show show = { .args = args };
    struct bide__store_query query = { .scope = args->scope,
                                       .key = key,
                                       .with_data = args->answer };
    char why[512] = "";
    if (args->json) {
        bide__json_init(&show.j, stdout, true);
        bide__json_list(&show.j, NULL);
    }
    int rc = store->kind->list(store->self, &query, on_row, &show, why,
                               sizeof why);
    if (args->json) {
        bide__json_end(&show.j);
        bide__json_done(&show.j);
    }
    if (rc < 0 || show.no_memory)
        return complain("store", "%s", rc < 0 ? why : "out of memory");
    if (show.rows > 0)
        return EXIT_OK;
    char *safe = cell_text(key);
    fprintf(stderr, "bide store: there is no record of %s\n",
            safe ? safe : "it");
    free(safe);
    return EXIT_FINDINGS;
}
