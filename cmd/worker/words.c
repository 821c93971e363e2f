/* Ids, states and durations for people. */
#include "cmd/worker/words.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "bide/policy.h"

const char *words_state(enum broker_state state)
{
    static const char *const names[] = { "waiting", "held", "later", "running",
                                         "dead" };

    return names[state];
}

/* The length of the character at the front, which a terminal may get as it is; 0: it
 * must not, or is none. */
static size_t harmless(const char *text, size_t len)
{
    uint32_t point;
    size_t n = bide__utf8_next(text, len, &point);

    return n && !bide__char_unsafe(point) ? n : 0;
}

/* As much of a text as fits, with '?' for each byte that is not harmless. */
static void copy_clean(char *to, size_t size, const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end) {
        size_t n = harmless(text, (size_t)(end - text));
        size_t taken = n ? n : 1;
        if (size <= taken)
            break;
        memcpy(to, n ? text : "?", taken);
        to += taken;
        size -= taken;
        text += taken;
    }
    *to = 0;
}

void words_print(FILE *to, const void *text, size_t len, bool lines)
{
    const char *at = text, *end = at + len;

    while (at < end) {
        size_t n = harmless(at, (size_t)(end - at));
        if (n || (lines && (*at == '\n' || *at == '\t')))
            fwrite(at, 1, n ? n : 1, to);
        else
            fprintf(to, "\\x%02x", (unsigned char)*at);
        at += n ? n : 1;
    }
}

/* A line of errors is "when attempt what". */
const char *words_last_error(const char *errors, char buffer[WORDS_ERROR])
{
    size_t len = strlen(errors);

    if (len > 0 && errors[len - 1] == '\n')
        len--;
    const char *from = len ? memrchr(errors, '\n', len) : NULL;
    from = from ? from + 1 : errors;
    for (int i = 0; i < 2; i++) {
        const char *blank = memchr(from, ' ', (size_t)(errors + len - from));
        from = blank ? blank + 1 : errors + len;
    }
    copy_clean(buffer, WORDS_ERROR, from, (size_t)(errors + len - from));
    return buffer;
}

const char *words_id(const char *id, char buffer[WORDS_ID])
{
    size_t n = strlen(id);

    if ((n == 16 || n == 20 || n == 32) && strspn(id, "0123456789abcdef") == n)
        n = 4;
    copy_clean(buffer, WORDS_ID, id, n);
    return buffer;
}

const char *words_time(int64_t ns, char buffer[WORDS_TIME])
{
    int64_t s = ns / BIDE_SECOND;

    if (ns < BIDE_SECOND)
        snprintf(buffer, WORDS_TIME, "%dms", (int)(ns / BIDE_MILLISECOND));
    else if (s < 60)
        snprintf(buffer, WORDS_TIME, "%d.%ds", (int)s,
                 (int)(ns % BIDE_SECOND / (BIDE_SECOND / 10)));
    else if (s < 3600)
        snprintf(buffer, WORDS_TIME, "%dm%ds", (int)(s / 60), (int)(s % 60));
    else if (s < 48 * 3600)
        snprintf(buffer, WORDS_TIME, "%dh%dm", (int)(s / 3600),
                 (int)(s % 3600 / 60));
    else
        snprintf(buffer, WORDS_TIME, "%lldd", (long long)(s / 86400));
    return buffer;
}
