/* Numbers as people read them, text as wide as its column, sparklines. */
#include "cmd/top/cells.h"

#include <math.h>
#include <string.h>

#include "base/people.h"
#include "base/utf8.h"
#include "bide/bide.h"

/* ===== text ===== */

/* How many bytes of a text fit; the columns that they take. */
static size_t fitting(const char *text, int width, int *ret_used)
{
    size_t len = strlen(text), end = 0;
    int used = 0;

    while (end < len) {
        uint32_t point;
        size_t n = bide__utf8_next(text + end, len - end, &point);
        int wide = n ? bide__char_width(point) : 1;
        if (used + wide > width)
            break;
        used += wide;
        end += n ? n : 1;
    }
    *ret_used = used;
    return end;
}

int top_width(const char *text)
{
    int used;
    fitting(text, 1 << 20, &used);
    return used;
}

void top_cell(FILE *out, const char *text, int width, enum top_align align)
{
    int used;
    size_t end = fitting(text, width, &used);

    if (align == TOP_RIGHT)
        fprintf(out, "%*s", width - used, "");
    fwrite(text, 1, end, out);
    if (align == TOP_LEFT)
        fprintf(out, "%*s", width - used, "");
}

/* The end of a text that takes at most so many columns. */
static const char *tail(const char *text, int width)
{
    size_t len = strlen(text);
    while (*text && top_width(text) > width) {
        size_t n = bide__utf8_next(text, len, NULL);
        text += n ? n : 1;
        len -= n ? n : 1;
    }
    return text;
}

void top_name(FILE *out, const char *name, int width,
              const struct top_look *look)
{
    const char *dots = look->utf8 ? "…" : "~";
    size_t shared = strlen(look->shared);
    int used = 0;

    if (top_width(name) <= width) {
        top_cell(out, name, width, TOP_LEFT);
        return;
    }
    if (shared && strncmp(name, look->shared, shared) == 0) {
        name += shared;
        fputs(dots, out);
        width--;
    }
    if (top_width(name) <= width) {
        top_cell(out, name, width, TOP_LEFT);
        return;
    }
    int end_width = (width - 1) / 3;
    size_t end = fitting(name, width - 1 - end_width, &used);
    fwrite(name, 1, end, out);
    fputs(dots, out);
    top_cell(out, tail(name + end, end_width), width - 1 - used, TOP_LEFT);
}

/* How much of a text goes on a line. */
static size_t break_at(const char *text, int width)
{
    int used;
    size_t end = fitting(text, width, &used), word = end;

    if (text[end] == '\0')
        return end;
    while (word > 0 && text[word] != ' ')
        word--;
    return word ? word : end ? end : 1;
}

size_t top_wrap(FILE *out, const char *text, int at, int width,
                const char *paint, const struct top_look *look)
{
    size_t lines = 0;
    int room = width - at > 8 ? width - at : 8;

    do {
        size_t end = break_at(text, room);
        if (out && lines)
            fprintf(out, "\n%*s", at, "");
        if (out)
            fprintf(out, "%s%.*s%s", paint, (int)end, text,
                    paint[0] ? look->paint.plain : "");
        text += end;
        text += strspn(text, " ");
        lines++;
    } while (*text);
    return lines;
}

/* ===== sparklines ===== */

void top_spark(FILE *out, const double *value, const double *bad, size_t n,
               int width, const struct top_look *look)
{
    static const char *const blocks[] = {
        "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"
    };
    static const char ascii[] = "_.,-=+*#";
    size_t first = n > (size_t)width ? n - (size_t)width : 0;
    double most = 0;
    bool red = false;

    for (size_t i = first; i < n; i++)
        most = value[i] > most ? value[i] : most;
    fprintf(out, "%*s", width - (int)(n - first), "");
    for (size_t i = first; i < n; i++) {
        int level =
            most > 0 && value[i] > 0 ? (int)(value[i] / most * 7 + 0.5) : 0;
        if (red != (bad && bad[i] > 0)) {
            red = !red;
            fputs(red ? look->paint.red : look->paint.plain, out);
        }
        if (isnan(value[i]) || value[i] < 0)
            fputc(' ', out);
        else if (look->utf8)
            fputs(blocks[level], out);
        else
            fputc(ascii[level], out);
    }
    fputs(red ? look->paint.plain : "", out);
}

/* ===== numbers ===== */

const char *top_brief(double n, char to[16])
{
    if (isnan(n))
        return "-";
    if (isinf(n))
        return "none";
    if (n >= 1e6)
        snprintf(to, 16, "%.1fM", n / 1e6);
    else if (n >= 1e4)
        snprintf(to, 16, "%.1fk", n / 1e3);
    else if (n >= 100 || n == floor(n))
        snprintf(to, 16, "%.0f", n);
    else
        snprintf(to, 16, n >= 10 ? "%.1f" : "%.2f", n);
    return to;
}

const char *top_rate(double n, char to[16])
{
    if (isnan(n) || n == 0 || n >= 9999.5)
        return n == 0 ? "0" : top_brief(n, to);
    snprintf(to, 16, n < 99.95 ? "%.1f" : "%.0f", n);
    return to;
}

const char *top_share(double x, char to[16])
{
    if (isnan(x))
        return "-";
    if (x < 1 && x > 0.999)
        x = 0.999;
    snprintf(to, 16, x == 1 || x == 0 ? "%.0f%%" : "%.1f%%", x * 100);
    return to;
}

const char *top_duration(double ms, char to[16])
{
    char text[24];
    int64_t ns = ms < 9e12 ? (int64_t)(ms * 1e6) : BIDE_FOREVER;
    snprintf(to, 16, "%s", bide__brief_duration(ns, text, sizeof text));
    return to;
}

const char *top_paint(const struct top_look *look, enum top_mood mood)
{
    const char *const list[] = { look->paint.dim, look->paint.green,
                                 look->paint.yellow, look->paint.red };
    return list[mood];
}
