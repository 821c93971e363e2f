/* A file that can be looked at before it is read: standard input cannot be
 * rewound, so what was looked at is kept and given out first. */
#include "replay/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 65536, TEXT_MAX = 64 << 20 };

int replay_source_open(struct replay_source *s, const char *path)
{
    replay_source_of(s, strcmp(path, "-") == 0 ? stdin : fopen(path, "rb"));
    return s->in ? 0 : -1;
}

void replay_source_of(struct replay_source *s, FILE *in)
{
    *s = (struct replay_source){ .in = in };
}

void replay_source_close(struct replay_source *s)
{
    if (s->in && s->in != stdin)
        fclose(s->in);
    free(s->head);
    *s = (struct replay_source){ .in = NULL };
}

static size_t read_some(struct replay_source *s, char *buffer, size_t size)
{
    size_t n = fread(buffer, 1, size, s->in);
    if (n == 0 && ferror(s->in))
        s->error = errno ? errno : EIO;
    return n;
}

const char *replay_source_head(struct replay_source *s, size_t *ret_len)
{
    size_t n;

    s->head = malloc(HEAD_MAX);
    if (!s->head)
        return NULL;
    while (s->len < HEAD_MAX &&
           (n = read_some(s, s->head + s->len, HEAD_MAX - s->len)) > 0)
        s->len += n;
    *ret_len = s->len;
    return s->head;
}

size_t replay_source_read(struct replay_source *s, char *buffer, size_t size)
{
    size_t n = s->len - s->at;

    if (n == 0)
        return read_some(s, buffer, size);
    n = n < size ? n : size;
    memcpy(buffer, s->head + s->at, n);
    s->at += n;
    return n;
}

char *replay_source_text(struct replay_source *s, size_t *ret_len)
{
    size_t room = 0, len = 0, n;
    char *text = NULL;

    do {
        if (room - len < 2) {
            char *larger = realloc(text, room = room ? 2 * room : HEAD_MAX);
            if (!larger) {
                free(text);
                return NULL;
            }
            text = larger;
        }
        n = replay_source_read(s, text + len, room - len - 1);
        len += n;
    } while (n > 0 && len <= TEXT_MAX);
    if (len > TEXT_MAX)
        s->error = EFBIG;
    if (s->error) {
        free(text);
        return NULL;
    }
    text[len] = '\0';
    *ret_len = len;
    return text;
}
