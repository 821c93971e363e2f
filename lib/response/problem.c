/* problem.c: the members of problem details (RFC 9457) that bear on retrying.
 *
 * A scanner, not a parser: it keeps no tree, and uses 32 bits, one for each
 * open container, instead of recursion, whose depth the body could choose. Yet
 * all of the body must be valid: advice that was cut off or tampered with is no
 * advice.
 *
 * Only members of the outermost object count. One of the wrong type is treated
 * as absent, as RFC 9457 says; of repeated ones the more cautious applies. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bide/error.h"
#include "bide/hint.h"

#include "lib/ascii.h"
#include "lib/response/json_scan.h"
#include "lib/sized.h"

#define MAX_DEPTH 32
#define S_TO_NS   9 /* as a power of ten */

typedef enum member { OTHER, TYPE, RETRY_AFTER, RETRYABLE } member;

typedef struct scanner {
    struct bide__scan json;
    uint32_t objects; /* lowest bit: the innermost container is an object */
    int depth;
    bool fresh;    /* nothing has been read in this container yet */
    member member; /* whose value comes next */
    bide_problem found;
} scanner;

_Static_assert(sizeof(((bide_problem *)0)->type) == BIDE__SCAN_TEXT,
               "a type that fits into one fits into the other");

static bool open_container(scanner *s)
{
    if (s->depth == MAX_DEPTH)
        return false;
    s->objects = s->objects << 1 | (*s->json.at++ == '{' ? 1 : 0);
    s->depth++;
    s->fresh = true;
    s->member = OTHER;
    return true;
}

static void close_container(scanner *s)
{
    s->objects >>= 1;
    s->depth--;
    s->fresh = false;
}

/* The last type wins: there is no way to say which one is more cautious. */
static bool string_value(scanner *s)
{
    if (!bide__scan_string(&s->json))
        return false;
    if (s->member == TYPE) {
        memcpy(s->found.type, s->json.text, sizeof s->found.type);
        if (!s->json.text_fits)
            s->found.type[0] = '\0';
    }
    return true;
}

static bool number_value(scanner *s)
{
    bide_problem *p = &s->found;
    struct bide__scan_number n;
    int64_t wait_ns;

    if (!bide__scan_number(&s->json, &n))
        return false;
    if (s->member == RETRY_AFTER && !n.negative &&
        bide__read_decimal(n.mantissa, n.exponent + S_TO_NS, &wait_ns)) {
        p->has_retry_after = true;
        if (wait_ns > p->retry_after_ns)
            p->retry_after_ns = wait_ns;
    }
    return true;
}

/* Reads a scalar, or the opening of a container. */
static bool value(scanner *s)
{
    bide__scan_space(&s->json);
    s->fresh = false;
    switch (bide__scan_peek(&s->json)) {
    case '{':
    case '[':
        return open_container(s);
    case '"':
        return string_value(s);
    case 't':
        return bide__scan_word(&s->json, "true");
    case 'n':
        return bide__scan_word(&s->json, "null");
    case 'f':
        if (s->member == RETRYABLE)
            s->found.not_retryable = true;
        return bide__scan_word(&s->json, "false");
    default:
        return number_value(s);
    }
}

static member find_member(const struct bide__scan *json)
{
    if (!json->text_fits)
        return OTHER;
    if (strcmp(json->text, "type") == 0)
        return TYPE;
    if (strcmp(json->text, "retry_after") == 0)
        return RETRY_AFTER;
    if (strcmp(json->text, "retryable") == 0)
        return RETRYABLE;
    return OTHER;
}

static bool member_name(scanner *s)
{
    bide__scan_space(&s->json);
    if (!bide__scan_string(&s->json))
        return false;
    s->member = s->depth == 1 ? find_member(&s->json) : OTHER;
    bide__scan_space(&s->json);
    return bide__scan_take(&s->json, ':');
}

/* Closes the innermost container, or reads its next element. */
static bool step(scanner *s)
{
    bool in_object = s->objects & 1;

    bide__scan_space(&s->json);
    if (bide__scan_take(&s->json, in_object ? '}' : ']')) {
        close_container(s);
        return true;
    }
    if (!s->fresh && !bide__scan_take(&s->json, ','))
        return false;
    return (!in_object || member_name(s)) && value(s);
}

static bool document(scanner *s)
{
    bide__scan_space(&s->json);
    if (bide__scan_peek(&s->json) != '{' || !open_container(s))
        return false;
    while (s->depth > 0)
        if (!step(s))
            return false;
    bide__scan_space(&s->json);
    return s->json.at == s->json.end;
}

int bide_problem_read_sized(const void *body, size_t len, bide_problem *ret,
                            size_t size)
{
    scanner s;

    if (!body || !ret)
        return BIDE_EINVAL;
    if (len > BIDE_PROBLEM_MAX)
        return BIDE_EPARSE;
    memset(&s, 0, sizeof s);
    s.json.at = body;
    s.json.end = s.json.at + len;
    if (!document(&s))
        return BIDE_EPARSE;
    bide__sized_out(ret, size, &s.found, sizeof s.found);
    return 0;
}
