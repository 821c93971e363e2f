/* json.c: JSON, written as it is put in. */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { MAX_DEPTH = 63 };

void bide__json_init(struct bide__json *j, FILE *out, bool pretty)
{
    *j = (struct bide__json){ .out = out, .pretty = pretty };
    j->empty[0] = true;
    j->list[0] = true;
}

static void new_line(struct bide__json *j)
{
    if (!j->pretty)
        return;
    fputc('\n', j->out);
    for (int i = 0; i < j->depth; i++)
        fputs("  ", j->out);
}

static void put_escaped(struct bide__json *j, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *at = c ? strchr(from, c) : NULL;

    if (at)
        fprintf(j->out, "\\%c", to[at - from]);
    else
        fprintf(j->out, "\\u%04x", c);
}

static void put_string(struct bide__json *j, const char *text, size_t len)
{
    fputc('"', j->out);
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = bide__utf8_next(text + i, len - i, NULL);

        if (n == 0)
            fputs("\xef\xbf\xbd", j->out);
        else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
            put_escaped(j, c);
        else
            fwrite(text + i, 1, n, j->out);
        i += n ? n : 1;
    }
    fputc('"', j->out);
}

/* What comes before a value: a comma, a line, a key. */
static void begin(struct bide__json *j, const char *key)
{
    assert((key == NULL) == j->list[j->depth]);
    if (!j->empty[j->depth])
        fputs(j->pretty || j->depth == 0 ? "," : ", ", j->out);
    if (j->depth > 0)
        new_line(j);
    j->empty[j->depth] = false;
    if (key) {
        put_string(j, key, strlen(key));
        fputs(": ", j->out);
    }
}

static void open_level(struct bide__json *j, const char *key, bool list)
{
    begin(j, key);
    assert(j->depth < MAX_DEPTH);
    fputc(list ? '[' : '{', j->out);
    j->depth++;
    j->empty[j->depth] = true;
    j->list[j->depth] = list;
}

void bide__json_object(struct bide__json *j, const char *key)
{
    open_level(j, key, false);
}

void bide__json_list(struct bide__json *j, const char *key)
{
    open_level(j, key, true);
}

void bide__json_end(struct bide__json *j)
{
    bool list = j->list[j->depth], empty = j->empty[j->depth];

    assert(j->depth > 0);
    j->depth--;
    if (!empty)
        new_line(j);
    fputc(list ? ']' : '}', j->out);
}

void bide__json_text_n(struct bide__json *j, const char *key, const char *text,
                       size_t len)
{
    begin(j, key);
    put_string(j, text, len);
}

void bide__json_text(struct bide__json *j, const char *key, const char *text)
{
    bide__json_text_n(j, key, text, strlen(text));
}

const char *bide__json_digits(double number, char buffer[BIDE__JSON_DIGITS])
{
    /* Any locale's decimal point may come between the digits. */
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(buffer, BIDE__JSON_DIGITS, "%.*g", precision, number);
        if (strtod(buffer, NULL) == number)
            break;
    }
    for (char *c = buffer; *c; c++)
        if (!strchr("0123456789+-e", *c))
            *c = '.';
    return buffer;
}

/* Up to 2^53 a double is a whole number as people write it: 500000000, not
 * 5e+08. */
void bide__json_number(struct bide__json *j, const char *key, double number)
{
    char buffer[BIDE__JSON_DIGITS];

    begin(j, key);
    if (!isfinite(number))
        fputs("null", j->out);
    else if (number == floor(number) && fabs(number) < 9007199254740992.0)
        fprintf(j->out, "%lld", (long long)number);
    else
        fputs(bide__json_digits(number, buffer), j->out);
}

void bide__json_integer(struct bide__json *j, const char *key, int64_t number)
{
    begin(j, key);
    fprintf(j->out, "%lld", (long long)number);
}

void bide__json_flag(struct bide__json *j, const char *key, bool flag)
{
    begin(j, key);
    fputs(flag ? "true" : "false", j->out);
}

void bide__json_null(struct bide__json *j, const char *key)
{
    begin(j, key);
    fputs("null", j->out);
}

void bide__json_done(struct bide__json *j)
{
    assert(j->depth == 0);
    fputc('\n', j->out);
    j->empty[0] = true;
}
