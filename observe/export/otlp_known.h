/* What many spans have in common, kept as it was written: most requests differ
 * in their ids, times and paths alone, and of a span that is most of the work.
 *
 *     struct bide__known_key key;
 *     bide__known_key(&key, event, method_len);
 *     struct bide__known_part *part = bide__known_find(known, &key);
 *     if (part->len)
 *         use(part->data, part->len);
 *     else
 *         bide__known_keep(part, &key, what_was_written, len);
 *
 * All zero knows nothing. Threads: owned. */
#ifndef BIDE_OBSERVE_EXPORT_OTLP_KNOWN_H
#define BIDE_OBSERVE_EXPORT_OTLP_KNOWN_H

#include "observe/event/event.h"

enum { BIDE__METHOD = 16, BIDE__KNOWN = 32 };

/* All that such a part is made of. No padding: it is compared byte by byte. */
struct bide__known_key {
    uint32_t attempt;
    uint16_t status;
    uint8_t kind, why, action, reason;
    uint16_t dep_len, endpoint_len, method_len; /* of what is in `text` */
    char text[BIDE__DEP_NAME + 56 + BIDE__METHOD];
};

struct bide__known_part {
    uint16_t len; /* 0: nothing is known */
    struct bide__known_key key;
    char data[600]; /* what is longer is not kept */
};

struct bide__otlp_known {
    struct bide__known_part part[BIDE__KNOWN]; /* by what their key says */
};

/* The method is the beginning of the operation, shorter than BIDE__METHOD. */
void bide__known_key(struct bide__known_key *key, const struct bide__event *e,
                     size_t method_len);

/* The part with that key; or the place for it, with a len of 0. */
struct bide__known_part *bide__known_find(struct bide__otlp_known *known,
                                          const struct bide__known_key *key);

void bide__known_keep(struct bide__known_part *part,
                      const struct bide__known_key *key, const char *data,
                      size_t len);

#endif
