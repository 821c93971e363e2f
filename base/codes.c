/* Exit codes and signals as users write them. */
#define _GNU_SOURCE /* all signals */
#include "base/codes.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ===== signals by name ===== */

static const struct {
    const char *name;
    int number;
} names[] = {
    { "HUP", SIGHUP },   { "INT", SIGINT },       { "QUIT", SIGQUIT },
    { "ILL", SIGILL },   { "TRAP", SIGTRAP },     { "ABRT", SIGABRT },
    { "BUS", SIGBUS },   { "FPE", SIGFPE },       { "KILL", SIGKILL },
    { "USR1", SIGUSR1 }, { "SEGV", SIGSEGV },     { "USR2", SIGUSR2 },
    { "PIPE", SIGPIPE }, { "ALRM", SIGALRM },     { "TERM", SIGTERM },
    { "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },     { "SYS", SIGSYS },
    { "IO", SIGIO },     { "VTALRM", SIGVTALRM }, { "PROF", SIGPROF },
    { "CONT", SIGCONT }, { "STOP", SIGSTOP },     { "TSTP", SIGTSTP },
    { "CHLD", SIGCHLD }, { "URG", SIGURG },       { "WINCH", SIGWINCH },
};

enum { N_NAMES = sizeof names / sizeof names[0] };

int bide__signal_number(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);

    if (isdigit((unsigned char)*name))
        return *end || number < 1 || number > SIGRTMAX ? 0 : (int)number;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (int i = 0; i < N_NAMES; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].number;
    return 0;
}

const char *bide__signal_name(int number, char *buffer, size_t size)
{
    for (int i = 0; i < N_NAMES; i++)
        if (names[i].number == number)
            return names[i].name;
    snprintf(buffer, size, "%d", number);
    return buffer;
}

/* ===== exit codes ===== */

/* Reads "75" or "TERM" (143); -1 if it is neither, or less than `least`. */
static int read_code(const char *text, size_t len, int least)
{
    char word[16];
    char *end;
    long n;
    int number;

    if (len == 0 || len >= sizeof word)
        return -1;
    memcpy(word, text, len);
    word[len] = '\0';
    if (!isdigit((unsigned char)word[0])) {
        number = bide__signal_number(word);
        if (strcmp(word, "timeout") == 0)
            return BIDE__CODE_TIMED_OUT;
        return number ? BIDE__CODE_SIGNAL + number : -1;
    }
    n = strtol(word, &end, 10);
    return *end || n < least || n > 255 ? -1 : (int)n;
}

/* "1,75,100-110,TERM" */
bool bide__codes_read(struct bide__codes *codes, const char *text, int least)
{
    codes->given = true;
    for (;;) {
        size_t len = strcspn(text, ",");
        const char *dash = memchr(text, '-', len);
        size_t first_len = dash ? (size_t)(dash - text) : len;
        int first = read_code(text, first_len, least);
        int last =
            dash ? read_code(dash + 1, len - first_len - 1, least) : first;
        if (first < 0 || last < first)
            return false;
        memset(&codes->has[first], true, (size_t)(last - first) + 1);
        if (!text[len])
            return true;
        text += len + 1;
    }
}
