/* json.c: commas, keys, indents and values. json_text.c escapes strings. */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/json_text.h"
#include "base/hex.h"
#include "base/number.h"

enum { MAX_DEPTH = 63 };

void bide__json_init(struct bide__json *j, FILE *out, bool pretty)
{
    *j = (struct bide__json){ .file = out, .pretty = pretty, .lists = 1 };
}

void bide__json_into(struct bide__json *j, struct bide__out *out)
{
    *j = (struct bide__json){ .out = out, .lists = 1 };
}

/* ===== bytes ===== */

static void put(struct bide__json *j, const char *text, size_t len)
{
    if (j->out)
        bide__out_bytes(j->out, text, len);
    else
        fwrite(text, 1, len, j->file);
}

#define PUT(j, literal) put(j, "" literal, sizeof(literal) - 1)

static void put_string(struct bide__json *j, const char *text, size_t len)
{
    PUT(j, "\"");
    for (size_t i = 0, taken; i < len; i += taken) {
        char c[BIDE__JSON_CHAR];

        taken = bide__json_plain(text + i, len - i);
        if (taken)
            put(j, text + i, taken);
        else
            put(j, c, bide__json_char(text + i, len - i, c, &taken));
    }
    PUT(j, "\"");
}

/* ===== structure ===== */

static uint64_t bit(const struct bide__json *j)
{
    return UINT64_C(1) << j->depth;
}

bool bide__json_in_list(const struct bide__json *j)
{
    return j->lists & bit(j);
}

static void new_line(struct bide__json *j)
{
    if (!j->pretty || j->rows & bit(j))
        return;
    PUT(j, "\n");
    for (unsigned i = 0; i < j->depth; i++)
        PUT(j, "  ");
}

/* Writes what comes before a value: a comma, a line break, a key. */
static void begin(struct bide__json *j, const char *key)
{
    bool broken = j->pretty && !(j->rows & bit(j));

    assert((key == NULL) == (bide__json_in_list(j)));
    if (j->begun & bit(j))
        put(j, ", ", j->out || broken || j->depth == 0 ? 1 : 2);
    if (j->depth > 0)
        new_line(j);
    j->begun |= bit(j);
    if (key) {
        put_string(j, key, strlen(key));
        put(j, ": ", j->out ? 1 : 2);
    }
}

static void open_level(struct bide__json *j, const char *key, bool list,
                       bool row)
{
    begin(j, key);
    assert(j->depth < MAX_DEPTH);
    put(j, list ? "[" : "{", 1);
    row |= (j->rows & bit(j)) != 0;
    j->depth++;
    j->begun &= ~bit(j);
    j->lists = (j->lists & ~bit(j)) | (list ? bit(j) : 0);
    j->rows = (j->rows & ~bit(j)) | (row ? bit(j) : 0);
}

void bide__json_object(struct bide__json *j, const char *key)
{
    open_level(j, key, false, false);
}

void bide__json_list(struct bide__json *j, const char *key)
{
    open_level(j, key, true, false);
}

void bide__json_object_row(struct bide__json *j, const char *key)
{
    open_level(j, key, false, true);
}

void bide__json_row(struct bide__json *j, const char *key)
{
    open_level(j, key, true, true);
}

void bide__json_end(struct bide__json *j)
{
    uint64_t inner = bit(j);

    assert(j->depth > 0);
    j->depth--;
    if (j->begun & inner && !(j->rows & inner))
        new_line(j);
    put(j, j->lists & inner ? "]" : "}", 1);
}

void bide__json_done(struct bide__json *j)
{
    assert(j->depth == 0);
    PUT(j, "\n");
    j->begun = 0;
}

/* ===== values ===== */

void bide__json_raw(struct bide__json *j, const char *key, const char *text)
{
    begin(j, key);
    put(j, text, strlen(text));
}

void bide__json_text_n(struct bide__json *j, const char *key, const char *text,
                       size_t len)
{
    begin(j, key);
    put_string(j, text, len);
}

void bide__json_text(struct bide__json *j, const char *key, const char *text)
{
    if (text)
        bide__json_text_n(j, key, text, strlen(text));
    else
        bide__json_null(j, key);
}

void bide__json_hex(struct bide__json *j, const char *key, const uint8_t *bytes,
                    size_t len)
{
    char digits[32];

    begin(j, key);
    PUT(j, "\"");
    for (size_t n; len > 0; bytes += n, len -= n) {
        n = len < sizeof digits / 2 ? len : sizeof digits / 2;
        bide__hex_write(digits, bytes, n);
        put(j, digits, 2 * n);
    }
    PUT(j, "\"");
}

void bide__json_number(struct bide__json *j, const char *key, double number)
{
    char text[BIDE__NUMBER];

    bide__json_raw(j, key,
                   isfinite(number) ? bide__number(number, text) : "null");
}

static void put_whole(struct bide__json *j, const char *key, uint64_t n,
                      bool negative)
{
    char digits[BIDE__WHOLE], *at = bide__whole(n, digits);

    begin(j, key);
    if (negative)
        PUT(j, "-");
    put(j, at, (size_t)(digits + BIDE__WHOLE - at));
}

void bide__json_count(struct bide__json *j, const char *key, uint64_t count)
{
    put_whole(j, key, count, false);
}

void bide__json_integer(struct bide__json *j, const char *key, int64_t number)
{
    uint64_t n = (uint64_t)number;

    put_whole(j, key, number < 0 ? 0 - n : n, number < 0);
}

void bide__json_flag(struct bide__json *j, const char *key, bool flag)
{
    bide__json_raw(j, key, flag ? "true" : "false");
}

void bide__json_null(struct bide__json *j, const char *key)
{
    bide__json_raw(j, key, "null");
}

void bide__json_ms(struct bide__json *j, const char *key, int64_t ns)
{
    bide__json_number(j, key, (double)(ns / 1000) / 1000);
}
