/* Terminal output: colours, widths, words and error messages. */
#include "cmd/common/output.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/suggest.h"

bool use_colours(FILE *stream)
{
    const char *term = getenv("TERM");
    const char *no = getenv("NO_COLOR");

    return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0 &&
           (!no || !*no);
}

int terminal_width(FILE *stream)
{
    enum { NARROWEST = 20, WIDEST = 1000, USUAL = 80 };
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    long width = columns ? strtol(columns, NULL, 10) : 0;

    if (width <= 0 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width <= 0)
        width = USUAL;
    return (int)(width < NARROWEST ? NARROWEST
                 : width > WIDEST  ? WIDEST
                                   : width);
}

void public_url(char *to, size_t size, const char *url)
{
    const char *host = strstr(url, "://");
    const char *at = host ? strrchr(host, '@') : NULL;
    const char *query = strchr(url, '?');

    if (at && query && at > query)
        at = NULL;
    snprintf(to, size, "%.*s%s", at ? (int)(host + 3 - url) : 0, url,
             at ? at + 1 : url);
    to[strcspn(to, "?")] = '\0';
}

bool use_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct paint paint_for(FILE *stream)
{
    if (!use_colours(stream))
        return (struct paint){ "", "", "", "", "", "" };
    return (struct paint){ "\033[1m",  "\033[2m",  "\033[31m",
                           "\033[32m", "\033[33m", "\033[0m" };
}

/* ===== words ===== */

const char *jitter_word(const bide_backoff *backoff)
{
    return backoff->jitter == BIDE_JITTER_NONE
               ? "no"
               : bide_jitter_name(backoff->jitter);
}

/* ===== complaints ===== */

int complain(const char *command, const char *format, ...)
{
    struct paint p = paint_for(stderr);
    va_list args;

    fflush(stdout);
    fprintf(stderr, "%sbide%s%s:%s ", p.bold, command ? " " : "",
            command ? command : "", p.plain);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    putc('\n', stderr);
    return EXIT_USAGE;
}

static void suggest_one(const char *found, const char *const *known, bool all)
{
    struct bide__out text = { 0 };

    if (bide__suggest(&text, found, known) && !text.failed &&
        (all || text.data[0] == 'd')) /* "did you mean", not "expected" */
        fprintf(stderr, "  %.*s\n", (int)text.len, text.data);
    bide__out_done(&text);
}

void suggest(const char *found, const char *const *known)
{
    suggest_one(found, known, true);
}

void suggest_near(const char *found, const char *const *known)
{
    suggest_one(found, known, false);
}
