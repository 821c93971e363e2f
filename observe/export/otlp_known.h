/* A cache for the parts that many spans have in common: most requests differ
 * only in their ids, times and paths, and the rest is most of the work for a
 * span.
 *
 *     struct bide__known_key key;
 *     bide__known_key(&key, event, method_len);
 *     struct bide__known_part *part = bide__known_find(known, &key);
 *     if (part->len)
 *         use(part->data, part->len);
 *     else
 *         bide__known_keep(part, &key, what_was_written, len);
 *
 * All zero is empty. Threads: owned. */
#ifndef BIDE_OBSERVE_EXPORT_OTLP_KNOWN_H
#define BIDE_OBSERVE_EXPORT_OTLP_KNOWN_H

#include "observe/event/event.h"

enum { BIDE__METHOD = 16, BIDE__KNOWN = 32 };

/* All inputs of such a part. No padding: it is compared byte by byte. */
struct bide__known_key {
    uint32_t attempt;
    uint16_t status;
    uint8_t kind, why, action, reason;
    uint16_t dep_len, endpoint_len, method_len; /* of what is in `text` */
    char text[BIDE__DEP_NAME + 56 + BIDE__METHOD];
};

struct bide__known_part {
    uint16_t len; /* 0: empty */
    struct bide__known_key key;
    char data[600]; /* longer parts are not cached */
};

struct bide__otlp_known {
    struct bide__known_part part[BIDE__KNOWN]; /* by the hash of their key */
};

/* The method is the beginning of the operation, shorter than BIDE__METHOD. */
void bide__known_key(struct bide__known_key *key, const struct bide__event *e,
                     size_t method_len);

/* The part with that key; or the slot for it, with a len of 0. */
struct bide__known_part *bide__known_find(struct bide__otlp_known *known,
                                          const struct bide__known_key *key);

void bide__known_keep(struct bide__known_part *part,
                      const struct bide__known_key *key, const char *data,
                      size_t len);

#endif
