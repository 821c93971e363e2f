/* Parts of a record as text. */
#include "cmd/store/cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/hex.h"
#include "base/people.h"
#include "bide/policy.h"

char *cell_text(const char *text)
{
    char *to = malloc(4 * strlen(text) + 1), *at = to;
    if (!to)
        return NULL;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c >= ' ' && *c < 0x7f && *c != '\\') {
            *at++ = (char)*c;
            continue;
        }
        *at++ = '\\';
        *at++ = 'x';
        at = bide__hex_write(at, c, 1);
    }
    *at = '\0';
    return to;
}

const char *cell_state(const struct bide__store_row *row)
{
    switch (row->record.state) {
    case BIDE__STORE_KEPT:
        return "done";
    case BIDE__STORE_BIG:
        return "too large";
    case BIDE__STORE_CLAIMED:
        break;
    }
    return bide__store_at_rest(&row->record, row->now_ns) ? "unknown"
                                                          : "in progress";
}

int64_t cell_left_ns(const struct bide__store_row *row)
{
    bool working = !bide__store_at_rest(&row->record, row->now_ns);
    return (working ? row->record.lease_until_ns : row->record.expires_ns) -
           row->now_ns;
}

const char *cell_size(uint64_t bytes, char *buffer, size_t size)
{
    static const struct bide__unit units[] = { { 999.5, 1, " B" },
                                               { 1023.5 * 1024, 1024, " KiB" },
                                               { 1023.5 * 1048576, 1048576,
                                                 " MiB" },
                                               { 0, 1073741824, " GiB" } };
    char number[32];
    const struct bide__unit *unit = bide__unit_of(units, (double)bytes);
    double x = (double)bytes / unit->by;
    bide__fixed(x, unit->by > 1 ? bide__places(x, 2, 0.95, 1) : 0, number,
                sizeof number);
    snprintf(buffer, size, "%s%s", number, unit->name);
    return buffer;
}

const char *cell_age(int64_t ns, char *buffer, size_t size)
{
    int64_t s = ns < 0 ? 0 : ns / BIDE_SECOND;
    if (s < 1)
        snprintf(buffer, size, "%dms", (int)(ns < 0 ? 0 : ns / 1000000));
    else if (s < 60)
        snprintf(buffer, size, "%ds", (int)s);
    else if (s < 3600)
        snprintf(buffer, size, "%dm%02ds", (int)(s / 60), (int)(s % 60));
    else if (s < 86400)
        snprintf(buffer, size, "%dh%02dm", (int)(s / 3600),
                 (int)(s % 3600 / 60));
    else
        snprintf(buffer, size, "%lldd%02dh", (long long)(s / 86400),
                 (int)(s % 86400 / 3600));
    return buffer;
}

const char *cell_date(int64_t ns, char *buffer, size_t size)
{
    char text[BIDE__DATE_TEXT];
    snprintf(buffer, size, "%sZ",
             bide__date_text(ns < 0 ? 0 : ns / BIDE_SECOND, text));
    return buffer;
}

void cell_json(struct bide__json *j, const struct bide__store_row *row)
{
    char date[40];
    bool working = !bide__store_at_rest(&row->record, row->now_ns);
    bool done = row->record.state != BIDE__STORE_CLAIMED;
    bide__json_object(j, NULL);
    bide__json_text(j, "key", row->key);
    bide__json_text(j, "scope", row->scope);
    bide__json_text(j, "owner", row->owner);
    bide__json_text(j, "room", row->room);
    bide__json_text(j, "state", cell_state(row));
    if (done)
        bide__json_integer(j, "status", row->record.status);
    bide__json_text(j, "created",
                    cell_date(row->record.created_ns, date, sizeof date));
    bide__json_ms(j, "age_ms", row->now_ns - row->record.created_ns);
    bide__json_text(j, "expires",
                    cell_date(row->record.expires_ns, date, sizeof date));
    if (working)
        bide__json_ms(j, "lease_ms", cell_left_ns(row));
    bide__json_count(j, "bytes", row->record.bytes);
    bide__json_count(j, "answer_bytes", row->record.len);
    bide__json_end(j);
}
