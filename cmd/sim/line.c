/* The command line that reproduces a result, for reports. */
#include <string.h>

#include "cmd/sim/ask.h"

/* Flags that do not change the result are left out, so that the same question
 * gives the same bytes. */
static int words_to_skip(const char *arg)
{
    static const struct {
        const char *flag;
        int words;
    } idle[] = { { "--threads", 2 }, { "--csv", 2 },        { "--html", 2 },
                 { "--svg", 2 },     { "--json", 1 },       { "--quiet", 1 },
                 { "-q", 1 },        { "--no-progress", 1 } };

    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++) {
        size_t len = strlen(idle[i].flag);
        if (strncmp(arg, idle[i].flag, len) == 0 && !arg[len])
            return idle[i].words;
        if (strncmp(arg, idle[i].flag, len) == 0 && arg[len] == '=')
            return 1;
    }
    return 0;
}

static void put_word(FILE *out, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-_./=:,%+@";

    if (*word && strspn(word, safe) == strlen(word)) {
        fputs(word, out);
        return;
    }
    putc('\'', out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\'", out);
        putc(*word, out);
    }
    putc('\'', out);
}

char *sim_command_line(int argc, char **argv)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fputs("bide sim", out);
    for (int i = 1; i < argc; i++) {
        int skip = words_to_skip(argv[i]);
        if (skip) {
            i += skip - 1;
            continue;
        }
        putc(' ', out);
        put_word(out, argv[i]);
    }
    fclose(out);
    return text;
}
