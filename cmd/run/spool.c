/* Bytes that are kept for later: in memory up to a bound, then in a file
 * without a name, which is gone with the process, however that ends. */
#include "cmd/run/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/files.h"

static bool write_at(int fd, const char *data, size_t len, int64_t at)
{
    while (len > 0) {
        ssize_t n = pwrite(fd, data, len, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

bool spool_add(struct spool *s, const void *data, size_t len)
{
    if (!s->memory && !(s->memory = malloc(SPOOL_MEMORY)))
        return false;
    size_t fits = SPOOL_MEMORY - s->held;
    if (fits > len)
        fits = len;
    if (fits < len) {
        if (s->file <= 0 && (s->file = nameless_file()) < 0)
            return false;
        int64_t at = s->len - (int64_t)s->held;
        if (!write_at(s->file, (const char *)data + fits, len - fits, at))
            return false;
    }
    memcpy(s->memory + s->held, data, fits);
    s->held += fits;
    s->len += (int64_t)len;
    return true;
}

ssize_t spool_read(const struct spool *s, int64_t at, void *data, size_t len)
{
    if ((int64_t)len > s->len - at)
        len = (size_t)(s->len - at);
    if (at >= (int64_t)s->held)
        return pread(s->file, data, len, at - (int64_t)s->held);
    if (len > s->held - (size_t)at)
        len = s->held - (size_t)at;
    memcpy(data, s->memory + at, len);
    return (ssize_t)len;
}

void spool_clear(struct spool *s)
{
    if (s->file > 0 && ftruncate(s->file, 0) < 0) {
        close(s->file);
        s->file = 0;
    }
    s->held = 0;
    s->len = 0;
}

void spool_done(struct spool *s)
{
    if (s->file > 0)
        close(s->file);
    free(s->memory);
    *s = (struct spool){ .memory = NULL };
}
