/* Files of flags (-K), as curl has them:
 *
 *     # a comment
 *     url = "http://127.0.0.1/"
 *     user = "me:secret"
 *     silent
 *     -o page.html
 *
 * A flag, with or without its dashes; then blanks, = or :; then its value, up to
 * the next blank or in quotes, where \\, \", \t, \n, \r and \v mean what they do
 * in C. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/args.h"
#include "cmd/fetch/flag_list.h"
#include "cmd/fetch/values.h"

enum { DEEPEST = 8 };

static char unescaped(char c)
{
    static const char from[] = "tnrv", to[] = "\t\n\r\v";
    const char *at = c ? strchr(from, c) : NULL;

    return at ? to[at - from] : c;
}

/* Takes the quotes away, in place; gives what follows. */
static char *unquote(char *text)
{
    char *to = text, *from = text + 1;

    for (; *from && *from != '"'; from++) {
        if (*from == '\\' && from[1])
            *to++ = unescaped(*++from);
        else
            *to++ = *from;
    }
    if (*from)
        from++;
    *to = '\0';
    return from;
}

/* The flag of a line, and its value; *ret_value is NULL if there is none. */
static const struct flag *split(char *line, char **ret_value, size_t *ret_len)
{
    char *name = line + strspn(line, "-");
    size_t len = strcspn(name, " \t=:");
    char *value = name + len;
    bool letter = name - line == 1 && len >= 1;

    if (letter)
        value = name + 1;
    value += strspn(value, " \t=:");
    *ret_len = len;
    *ret_value = *value && *value != '#' ? value : NULL;
    return letter ? fetch_flag_lettered(*name) : fetch_flag_named(name, len);
}

/* What is wrong with a line; NULL: nothing. */
static const char *take_line(struct fetch_args *a, char *line)
{
    static char problem[200];
    char *value;
    size_t len;
    const struct flag *f = split(line, &value, &len);

    if (!f) {
        snprintf(problem, sizeof problem, "a flag instead of `%.*s`", (int)len,
                 line + strspn(line, "-"));
        return problem;
    }
    if (f->argument == flag_elsewhere)
        return f->help;
    if (!f->argument)
        return fetch_take(a, f->name, NULL);
    if (!value)
        return "a value";
    if (*value == '"')
        unquote(value);
    else
        value[strcspn(value, " \t")] = '\0';
    return fetch_take(a, f->name, value);
}

/* The text lives on: flags point into it. */
static bool own(struct fetch_args *a, char *text)
{
    char **more = realloc(a->texts, (a->n_texts + 1) * sizeof *more);

    if (!more) {
        free(text);
        return false;
    }
    a->texts = more;
    a->texts[a->n_texts++] = text;
    return true;
}

const char *fetch_take_config(struct fetch_args *a, const char *path)
{
    static char expected[400];
    const char *wrong = NULL;
    size_t len;
    char *text, *rest, *line;
    int number = 0;

    if (a->config_depth >= DEEPEST)
        return "no more than 8 files that name one another";
    text = rest = fetch_read_file(path, &len);
    if (!text)
        return fetch_no_file();
    if (!own(a, text))
        return "something that fits into memory";
    a->config_depth++;
    while (!wrong && (line = strsep(&rest, "\n")) != NULL) {
        number++;
        line += strspn(line, " \t");
        line[strcspn(line, "\r")] = '\0';
        if (*line && *line != '#')
            wrong = take_line(a, line);
    }
    a->config_depth--;
    if (!wrong)
        return NULL;
    snprintf(expected, sizeof expected, "in line %d %.300s", number, wrong);
    return expected;
}
