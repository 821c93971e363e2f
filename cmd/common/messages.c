/* Standard error as a stream that never blocks. */
#include "cmd/common/messages.h"

#include <stdio.h>
#include <string.h>

#include "observe/event/sink.h"

enum { ROOM = 1 << 16, PIECE = 4096 };

/* One for the process, as standard error is. */
static struct {
    FILE *before; /* NULL: not begun */
    struct bide__sink *sink;
} messages;

/* The stream's own lock admits one thread at a time. What does not fit is
 * dropped; the caller sees success. */
static ssize_t pass_on(void *cookie, const char *text, size_t len)
{
    struct bide__lines *lines = bide__sink_lines(cookie, 0);

    for (size_t done = 0, n; done < len; done += n) {
        n = len - done < PIECE ? len - done : PIECE;
        char *to = bide__lines_room(lines, n);
        if (!to)
            break;
        memcpy(to, text + done, n);
        bide__lines_add(lines, n);
    }
    bide__lines_flush(lines);
    return (ssize_t)len;
}

void messages_begin(void)
{
    static const cookie_io_functions_t functions = { .write = pass_on };
    char why[256];
    struct bide__target *to = bide__target_new("stderr", why, sizeof why);
    struct bide__sink *sink = to ? bide__sink_new(to, 1, ROOM) : NULL;
    FILE *stream = sink ? fopencookie(sink, "w", functions) : NULL;

    if (!sink)
        bide__target_free(to);
    if (!stream) {
        bide__sink_free(sink);
        return; /* then nothing has changed */
    }
    setvbuf(stream, NULL, _IOLBF, BUFSIZ);
    messages.before = stderr;
    messages.sink = sink;
    stderr = stream;
}

void messages_end(void)
{
    FILE *stream = stderr;

    if (!messages.before)
        return;
    stderr = messages.before;
    messages.before = NULL;
    fclose(stream);
    bide__sink_free(messages.sink);
}
