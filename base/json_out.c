/* Commas and keys; strings are json_text.c's. */
#include "base/json_out.h"

#include <math.h>

#include "base/json_text.h"

static void begin(struct bide__jout *j, const char *key)
{
    if (j->comma)
        bide__out_char(j->out, ',');
    j->comma = true;
    if (key) {
        bide__json_quote(j->out, key);
        bide__out_char(j->out, ':');
    }
}

void bide__jout_object(struct bide__jout *j, const char *key)
{
    begin(j, key);
    bide__out_char(j->out, '{');
    j->comma = false;
}

void bide__jout_list(struct bide__jout *j, const char *key)
{
    begin(j, key);
    bide__out_char(j->out, '[');
    j->comma = false;
}

void bide__jout_end(struct bide__jout *j, char bracket)
{
    bide__out_char(j->out, bracket);
    j->comma = true;
}

void bide__jout_text(struct bide__jout *j, const char *key, const char *text)
{
    begin(j, key);
    bide__json_quote(j->out, text);
}

void bide__jout_u64(struct bide__jout *j, const char *key, uint64_t n)
{
    begin(j, key);
    bide__out_u64(j->out, n);
}

void bide__jout_number(struct bide__jout *j, const char *key, double n)
{
    if (!isfinite(n)) {
        bide__jout_null(j, key);
        return;
    }
    begin(j, key);
    bide__out_double(j->out, n);
}

void bide__jout_flag(struct bide__jout *j, const char *key, bool flag)
{
    begin(j, key);
    bide__out_text(j->out, flag ? "true" : "false");
}

void bide__jout_null(struct bide__jout *j, const char *key)
{
    begin(j, key);
    bide__out_text(j->out, "null");
}

void bide__jout_ms(struct bide__jout *j, const char *key, int64_t ns)
{
    bide__jout_number(j, key, (double)(ns / 1000) / 1000);
}
