/* bide store show: all that is known of a key. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/common/output.h"
#include "cmd/store/cells.h"
#include "cmd/store/store.h"
#include "proxy/once/blob.h"

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
static void put_bytes(struct show *s, const char *data, size_t size)
{
    if (!isatty(STDOUT_FILENO)) {
        fwrite(data, 1, size, stdout);
        return;
    }
    for (size_t at = 0; at < size;) {
        const char *end = memchr(data + at, '\n', size - at);
        size_t len = end ? (size_t)(end - data) - at : size - at;
        bool crlf = end && len > 0 && end[-1] == '\r';
        char *line = strndup(data + at, len - crlf);
        char *safe = line ? cell_text(line) : NULL;
        s->no_memory |= !safe;
        if (safe)
            puts(safe);
        free(safe);
        free(line);
        at += len + (end != NULL);
    }
}

/* What the sidecar has kept is an answer of HTTP; anything else is its bytes. */
static void put_answer(struct show *s, const struct bide__store_record *record)
{
    struct once_answer a;
    struct bide__out head = { 0 };

    if (!once_blob_read(record->data, record->len, &a)) {
        put_bytes(s, record->data, record->len);
        return;
    }
    bide__out_text(&head, "HTTP/1.1 ");
    bide__out_i64(&head, a.status);
    bide__out_char(&head, ' ');
    bide__out_bytes(&head, a.reason, a.reason_len);
    bide__out_text(&head, "\r\n");
    bide__out_bytes(&head, a.lines, a.lines_len);
    bide__out_text(&head, "\r\n");
    s->no_memory |= head.failed;
    if (!head.failed) {
        put_bytes(s, head.data, head.len);
        put_bytes(s, a.body, a.body_len);
    }
    bide__out_done(&head);
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
