/* Keeps secrets out of the list of processes. */
#include "cmd/fetch/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/files.h"
#include "cmd/fetch/flag_list.h"

/* The descriptor of the file in memory, for bide-fetch. */
#define VARIABLE "BIDE_FETCH_ARGS"

static bool is_secret(const struct flag *f)
{
    static const char *const names[] = {
        "user", "proxy-user",  "header",      "cookie",
        "data", "data-raw",    "data-binary", "data-urlencode",
        "form", "form-string", "cert",        "proxy",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(f->name, names[i]) == 0)
            return true;
    return false;
}

/* A name of a file is no secret, and worth seeing. */
static bool blot(char *text)
{
    if (!text || !*text || *text == '@')
        return false;
    memset(text, 'x', strlen(text));
    return true;
}

/* "https://me:secret@host/": what is between the slashes and the @. */
static bool blot_url(char *url)
{
    char *begin = strstr(url, "://");
    size_t len;

    begin = begin ? begin + 3 : url;
    len = strcspn(begin, "/?#");
    for (char *at = begin + len; at > begin; at--)
        if (at[-1] == '@') {
            memset(begin, 'x', (size_t)(at - 1 - begin));
            return true;
        }
    return false;
}

static bool blot_value(const struct flag *f, char *value)
{
    if (strcmp(f->name, "url") == 0)
        return value && blot_url(value);
    return is_secret(f) && blot(value);
}

/* "--user=me:secret", "-sume:secret"; the value may be the next argument, then
 * `next` is taken. */
static bool blot_flag(char *arg, char *next, bool *ret_took)
{
    const struct flag *f;

    *ret_took = false;
    if (arg[1] == '-') {
        size_t len = strcspn(arg + 2, "=");
        f = fetch_flag_named(arg + 2, len);
        if (!f || !f->argument || f->argument == flag_elsewhere)
            return false;
        *ret_took = arg[2 + len] != '=';
        return blot_value(f, *ret_took ? next : arg + 3 + len);
    }
    for (char *c = arg + 1; *c; c++) {
        f = fetch_flag_lettered(*c);
        if (!f || f->argument == flag_elsewhere)
            return false;
        if (f->argument) {
            *ret_took = !c[1];
            return blot_value(f, *ret_took ? next : c + 1);
        }
    }
    return false;
}

bool secrets_blot(int argc, char **argv)
{
    bool found = false, only_urls = false;

    for (int i = 1; i < argc; i++) {
        bool took = false;
        if (only_urls || argv[i][0] != '-' || !argv[i][1])
            found |= blot_url(argv[i]);
        else if (strcmp(argv[i], "--") == 0)
            only_urls = true;
        else
            found |=
                blot_flag(argv[i], i + 1 < argc ? argv[i + 1] : NULL, &took);
        i += took;
    }
    return found;
}

/* ===== passing them on ===== */

/* In one piece, which lives until the end. */
static char **copy_of(int argc, char **argv)
{
    static char **copy;
    size_t size = ((size_t)argc + 1) * sizeof *copy;
    char *to;

    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    copy = malloc(size);
    if (!copy)
        return NULL;
    to = (char *)(copy + argc + 1);
    for (int i = 0; i < argc; i++) {
        copy[i] = to;
        to = stpcpy(to, argv[i]) + 1;
    }
    copy[argc] = NULL;
    return copy;
}

static int put_in_memory(int argc, char **argv)
{
    int fd = memfd_create("arguments", 0);

    for (int i = 0; fd >= 0 && i < argc; i++)
        if (write_whole(fd, argv[i], strlen(argv[i]) + 1) != 0) {
            close(fd);
            return -1;
        }
    return fd;
}

/* Where there is no file in memory, what bide-fetch gets is seen for as long as
 * it takes to start. */
char **secrets_hand_over(int argc, char **argv)
{
    char **seen = copy_of(argc, argv), text[16];
    int fd;

    if (!seen || !secrets_blot(argc, seen))
        return seen ? argv : NULL;
    fd = put_in_memory(argc, argv);
    if (fd < 0)
        return argv;
    snprintf(text, sizeof text, "%d", fd);
    setenv(VARIABLE, text, 1);
    return seen;
}

/* One argument after the other, each with its NUL. */
static char **from_memory(int fd, int *ret_argc)
{
    struct stat st;
    char *text = NULL, **given, **own;
    size_t size;
    int n = 0;

    if (fstat(fd, &st) < 0 || st.st_size <= 0)
        return NULL;
    size = (size_t)st.st_size;
    given = calloc(size + 1, sizeof *given); /* more than there can be */
    text = malloc(size + 1);
    if (!given || !text || pread(fd, text, size, 0) != st.st_size) {
        free(given);
        free(text);
        return NULL;
    }
    text[size] = '\0';
    for (char *at = text; at < text + size; at += strlen(at) + 1)
        given[n++] = at;
    own = copy_of(n, given);
    free(given);
    free(text);
    *ret_argc = n;
    return own;
}

char **secrets_own(int *argc, char **argv)
{
    const char *text = getenv(VARIABLE);
    char **own;

    if (text) {
        int fd = atoi(text);
        own = fd > 2 ? from_memory(fd, argc) : NULL;
        unsetenv(VARIABLE);
        if (own) {
            close(fd);
            return own;
        }
    }
    own = copy_of(*argc, argv);
    if (own)
        secrets_blot(*argc, argv);
    return own;
}
