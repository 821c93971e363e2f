/* Only what the sidecar may say: a length, or chunks without extensions. */
#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The value of a field in a head; NULL if it is not there. */
static const char *field(const char *head, const char *end, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = head; line < end;) {
        if (strncasecmp(line, name, n) == 0 && line[n] == ':')
            return line + n + 1 + strspn(line + n + 1, " ");
        const char *lf = memchr(line, '\n', (size_t)(end - line));
        line = lf ? lf + 1 : end;
    }
    return NULL;
}

/* Whether the chunks that begin here have come to their end. */
static bool chunks(struct answer *a, const char *at, const char *end)
{
    for (bool first = true;; first = false) {
        char *behind;
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if (!line)
            return false;
        size_t size = strtoul(at, &behind, 16);
        if (behind == at || (size_t)(end - line) < size + 3)
            return behind == at;
        if (first) {
            a->body = line + 1;
            a->body_len = size;
        }
        if (size == 0)
            return true;
        at = line + 1 + size + 2;
    }
}

bool answer_read(struct answer *ret, const char *data, size_t len)
{
    const char *stop = memmem(data, len, "\r\n\r\n", 4);
    const char *value;

    *ret = (struct answer){ 0 };
    if (!stop)
        return false;
    stop += 4;
    if (strncmp(data, "HTTP/1.1 ", 9) != 0)
        return true;
    ret->status = atoi(data + 9);
    if ((value = field(data, stop, "X-Bide-Attempts")))
        ret->attempts = (unsigned)atoi(value);
    if ((value = field(data, stop, "Connection")))
        ret->closes = strncasecmp(value, "close", 5) == 0;
    ret->body = stop;
    if ((value = field(data, stop, "Content-Length"))) {
        ret->body_len = strtoul(value, NULL, 10);
        return (size_t)(data + len - stop) >= ret->body_len;
    }
    if (field(data, stop, "Transfer-Encoding"))
        return chunks(ret, stop, data + len);
    return true;
}
