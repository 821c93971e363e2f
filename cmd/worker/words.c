/* Ids, states and durations for people. */
#include "cmd/worker/words.h"

#include <stdio.h>
#include <string.h>

#include "bide/policy.h"

const char *words_state(enum broker_state state)
{
    static const char *const names[] = { "waiting", "held", "later", "running",
                                         "dead" };

    return names[state];
}

const char *words_id(const char *id, char buffer[WORDS_ID])
{
    size_t n = strlen(id);

    if ((n == 16 || n == 20 || n == 32) && strspn(id, "0123456789abcdef") == n)
        n = 4;
    if (n >= WORDS_ID)
        n = WORDS_ID - 1;
    for (size_t i = 0; i < n; i++)
        buffer[i] = (unsigned char)id[i] < ' ' || id[i] == 127 ? '?' : id[i];
    buffer[n] = 0;
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
