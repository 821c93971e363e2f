/* test_http2_rules.c: the rules of RFC 9113, a row each (http2_rules.txt), against
 * a server's connection; whole, byte by byte, and in pieces of seven. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http2_side.h"

enum { ROWS = 400, LINE = 1024 };

struct row {
    char name[80];
    char frames[LINE];
    char expected[80];
};

static struct row rows[ROWS];

static void trim(char *to, size_t size, const char *from, const char *end)
{
    while (from < end && *from == ' ')
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\n'))
        end--;
    snprintf(to, size, "%.*s", (int)(end - from), from);
}

static bool read_row(struct row *r, const char *line)
{
    const char *a, *b, *c;

    if (line[0] == '#' || !(a = strstr(line, " | ")))
        return false;
    b = strstr(a + 3, " | ");
    c = strstr(b + 3, " | ");
    trim(r->name, sizeof r->name, line, a);
    trim(r->frames, sizeof r->frames, b + 3, c);
    trim(r->expected, sizeof r->expected, c + 3, c + strlen(c));
    return true;
}

/* What came of it, in the words of the table. */
static void outcome(char *to, size_t size, const char *said)
{
    const char *goaway = strstr(said, "GOAWAY "), *reset;
    char code[64];
    unsigned id;

    reset = strstr(said, "RST_STREAM ");
    if (goaway && sscanf(goaway, "GOAWAY %u %63s", &id, code) == 2)
        snprintf(to, size, "goaway %s", code);
    else if (reset && sscanf(reset, "RST_STREAM %u %63s", &id, code) == 2)
        snprintf(to, size, "reset %u %s", id, code);
    else
        snprintf(to, size, "fine");
}

/* The connection goes on: decoder, PING and requests. */
static void check_alive(struct side *s)
{
    const char *said;

    assert_int_equal(side_play(s, "PING 0 - 0*8 ; HEADERS 101 es,eh @ok"), 0);
    said = side_said(s);
    assert_non_null(strstr(said, "PING ack"));
    assert_non_null(strstr(said, "HEADERS 101\n"));
    assert_non_null(strstr(said, "DATA 101 3 es\n"));
}

static void play_row(const struct row *r, size_t cut)
{
    struct side s;
    char came[128];

    side_begin(&s, HTTP2_SERVER, NULL);
    side_play_cut(&s, r->frames, cut);
    outcome(came, sizeof came, side_said(&s));
    if (strcmp(came, r->expected) != 0)
        fail_msg("%s, cut %zu: %s; expected %s", r->name, cut, came,
                 r->expected);
    if (strncmp(came, "goaway", 6) != 0)
        check_alive(&s);
    side_end(&s);
}

static void rule(void **state)
{
    const struct row *r = *state;

    play_row(r, 0);
    if (strlen(r->frames) < 400 && !strstr(r->frames, "0*16"))
        play_row(r, 1);
    play_row(r, 7);
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[ROWS];
    FILE *f = fopen(argc > 1 ? argv[1] : "test/net/http2_rules.txt", "r");
    char line[LINE];
    size_t n = 0;

    if (!f) {
        perror("http2_rules.txt");
        return 1;
    }
    while (n < ROWS && fgets(line, sizeof line, f))
        if (read_row(&rows[n], line)) {
            tests[n] = (struct CMUnitTest){ .name = rows[n].name,
                                            .test_func = rule,
                                            .initial_state = &rows[n] };
            n++;
        }
    fclose(f);
    if (n < 170) {
        fprintf(stderr, "only %zu rows\n", n);
        return 1;
    }
    return _cmocka_run_group_tests("http2_rules", tests, n, NULL, NULL);
}
