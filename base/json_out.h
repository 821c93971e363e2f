/* JSON into a buffer, comma by comma, on one line.
 *
 *     struct bide__jout j = { &out };
 *     bide__jout_object(&j, NULL);
 *     bide__jout_text(&j, "state", "open");
 *     bide__jout_list(&j, "waits_ms");
 *     bide__jout_number(&j, NULL, 12.5);
 *     bide__jout_end(&j, ']');
 *     bide__jout_end(&j, '}');
 *
 * `key` is NULL inside a list. Numbers that JSON has no word for are null. */
#ifndef BIDE_BASE_JSON_OUT_H
#define BIDE_BASE_JSON_OUT_H

#include "base/out.h"

/* Threads: owned. */
struct bide__jout {
    struct bide__out *out;
    bool comma; /* one is due before the next value */
};

void bide__jout_object(struct bide__jout *j, const char *key);
void bide__jout_list(struct bide__jout *j, const char *key);
void bide__jout_end(struct bide__jout *j, char bracket);
void bide__jout_text(struct bide__jout *j, const char *key, const char *text);
void bide__jout_u64(struct bide__jout *j, const char *key, uint64_t n);
void bide__jout_number(struct bide__jout *j, const char *key, double n);
void bide__jout_flag(struct bide__jout *j, const char *key, bool flag);
void bide__jout_null(struct bide__jout *j, const char *key);

/* Nanoseconds as milliseconds, to the microsecond. */
void bide__jout_ms(struct bide__jout *j, const char *key, int64_t ns);

#endif
