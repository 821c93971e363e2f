/* queue/sqs/json.h: parts of an answer, found where they lie.
 *
 *     struct sq_value answer = { text, len };
 *     struct sq_value list = sq_member(answer, "Messages"), m;
 *     for (size_t at = 0; sq_next(list, &at, &m);)
 *         free(sq_text(sq_member(m, "Body"), NULL));
 *
 * A value is a slice of the text; nothing is copied until it is asked for. A part
 * that is missing, or not of the kind that was asked for, is an empty slice. */
#ifndef BIDE_QUEUE_SQS_JSON_H
#define BIDE_QUEUE_SQS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads: immutable. */
struct sq_value {
    const char *at;
    size_t len; /* 0: there is none */
};

/* The member of an object. */
struct sq_value sq_member(struct sq_value object, const char *name);

/* The next element of a list; *at begins with 0. */
bool sq_next(struct sq_value list, size_t *at, struct sq_value *ret);

/* The next member of an object, with its name, quotes included. */
bool sq_next_member(struct sq_value object, size_t *at, struct sq_value *name,
                    struct sq_value *ret);

/* A string, decoded, with a zero byte behind it; the caller frees it. NULL: not
 * a string, or no memory. ret_len may be NULL. */
char *sq_text(struct sq_value v, size_t *ret_len);

/* A string into a buffer, cut to its size; "" if there is none. */
void sq_copy(struct sq_value v, char *to, size_t size);

/* Its own text, as it is there, with a NUL behind it: to be freed. NULL: no
 * memory. */
char *sq_raw_copy(struct sq_value v);

/* Whether it is this string. */
bool sq_is(struct sq_value v, const char *text);

/* A number, or a string of digits, or true (1). */
int64_t sq_number(struct sq_value v, int64_t otherwise);

#endif
