/* problem.c: any bytes as a body of problem details.
 *
 * Metamorphic: a body that is taken must be taken with whitespace around it and
 * mean the same, must be refused when its last brace is missing or one too
 * many, and still be taken as the value of a member, where it means nothing. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bide/error.h"
#include "bide/hint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

static void check_found(const bide_problem *p)
{
    size_t len = 0;

    while (len < sizeof p->type && p->type[len] != '\0')
        len++;
    must(len < sizeof p->type);
    for (size_t i = 0; i < len; i++)
        must((unsigned char)p->type[i] >= 0x20 && p->type[i] != 0x7f);
    must(p->retry_after_ns >= 0);
    must(p->has_retry_after || p->retry_after_ns == 0);
}

static bool same(const bide_problem *a, const bide_problem *b)
{
    return strcmp(a->type, b->type) == 0 &&
           a->has_retry_after == b->has_retry_after &&
           a->retry_after_ns == b->retry_after_ns &&
           a->not_retryable == b->not_retryable;
}

/* Reads the body with something before and after it. */
static int read_between(const char *before, const uint8_t *data, size_t size,
                        const char *after, bide_problem *ret)
{
    static char buffer[BIDE_PROBLEM_MAX + 64];
    size_t n = strlen(before), m = strlen(after);

    memcpy(buffer, before, n);
    memcpy(buffer + n, data, size);
    memcpy(buffer + n + size, after, m);
    return bide_problem_read(buffer, n + size + m, ret);
}

static size_t without_space_at_end(const uint8_t *data, size_t size)
{
    while (data[size - 1] != '}')
        size--;
    return size;
}

static void check_taken(const uint8_t *data, size_t size, const bide_problem *p)
{
    size_t end = without_space_at_end(data, size);
    bide_problem q;

    must(bide_problem_read(data, end - 1, &q) == BIDE_EPARSE);
    if (size > BIDE_PROBLEM_MAX - 32)
        return;
    must(read_between(" \n", data, size, "\t\r ", &q) == 0 && same(p, &q));
    must(read_between("", data, size, "}", &q) == BIDE_EPARSE);
    must(read_between("", data, size, ",", &q) == BIDE_EPARSE);
    must(read_between("[", data, size, "]", &q) == BIDE_EPARSE);
    /* refused only if it is 32 deep by itself */
    if (read_between("{\"type\":", data, size, "}", &q) == 0)
        must(!q.type[0] && !q.has_retry_after && !q.not_retryable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bide_problem p, before;
    int rc;

    memset(&p, 0x5a, sizeof p);
    before = p;
    rc = bide_problem_read(data ? data : (const uint8_t *)"", size, &p);
    if (rc == 0) {
        check_found(&p);
        check_taken(data, size, &p);
    } else {
        must(rc == BIDE_EPARSE);
        must(memcmp(&p, &before, sizeof p) == 0);
    }
    return 0;
}
