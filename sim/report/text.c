/* Words of the report: arbitrary text, and the names of figures. */
#include "sim/report/text.h"

#include <string.h>

#include "base/utf8.h"
#include "sim/study/figure_text.h"

static const char *entity(uint32_t point)
{
    switch (point) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Characters that XML does not allow are replaced like unsafe ones. */
static bool is_nothing(uint32_t point)
{
    return bide__char_unsafe(point) || (point & 0xfffe) == 0xfffe;
}

static void write_text(FILE *out, const char *text, bool blanks)
{
    size_t len = text ? strlen(text) : 0;

    for (size_t i = 0, n; i < len; i += n) {
        uint32_t point = 0;

        n = bide__utf8_next(text + i, len - i, &point);
        if (text[i] == '\n' || (blanks && text[i] == '_'))
            putc(' ', out);
        else if (n == 0 || is_nothing(point))
            fputs("\xef\xbf\xbd", out);
        else if (entity(point))
            fputs(entity(point), out);
        else
            fwrite(text + i, 1, n, out);
        n = n ? n : 1;
    }
}

void page_text(FILE *out, const char *text)
{
    write_text(out, text, false);
}

void page_words(FILE *out, const char *key)
{
    write_text(out, key, true);
}

enum page_unit page_figure_unit(enum sim_figure f)
{
    switch (sim_figure_unit(f)) {
    case SIM_PER_SECOND:
        return PAGE_RATE;
    case SIM_SECONDS:
        return PAGE_SECONDS;
    case SIM_TIMES:
        return PAGE_TIMES;
    case SIM_COUNT:
        return PAGE_COUNT;
    case SIM_SHARE:
        break;
    }
    return PAGE_SHARE;
}

const char *page_figure_words(enum sim_figure f)
{
    static const char *const words[SIM_FIGURES] = {
        [SIM_FIG_GOODPUT] = "goodput",
        [SIM_FIG_SUCCESS] = "calls that succeed",
        [SIM_FIG_FAILURES] = "calls that fail",
        [SIM_FIG_UNFINISHED] = "calls that did not end",
        [SIM_FIG_ATTEMPTS] = "attempts",
        [SIM_FIG_AMPLIFICATION] = "attempts per call",
        [SIM_FIG_DEEPEST] = "at the deepest service",
        [SIM_FIG_MEAN] = "mean duration",
        [SIM_FIG_P50] = "p50",
        [SIM_FIG_P99] = "p99",
        [SIM_FIG_P999] = "p99.9",
        [SIM_FIG_TIMED] = "calls that those are of",
        [SIM_FIG_QUEUE_WAIT] = "wait for a worker",
        [SIM_FIG_UTILISATION] = "utilisation",
        [SIM_FIG_DUPLICATES] = "done twice",
        [SIM_FIG_PEAK] = "peak over mean",
        [SIM_FIG_WASTED] = "wasted work",
        [SIM_FIG_RECOVER] = "time to recover",
        [SIM_FIG_STUCK] = "never recovers",
        [SIM_FIG_OVERLOADED] = "overloaded",
        [SIM_FIG_ALL_BACK] = "all back by",
        [SIM_FIG_HEDGES] = "hedges per call",
        [SIM_FIG_DEAD] = "dead messages",
        [SIM_FIG_NUMBER] = "highest attempt",
        [SIM_FIG_DEPTH] = "deepest queue",
        [SIM_FIG_OLDEST] = "oldest message",
        [SIM_FIG_FIRST_WAIT] = "wait for the first attempt",
        [SIM_FIG_RETRY_WAIT] = "wait for a retry, by its backoff",
        [SIM_FIG_PROBES] = "probes of a paused worker",
    };

    return (unsigned)f < SIM_FIGURES && words[f] ? words[f]
                                                 : sim_figure_head(f);
}
