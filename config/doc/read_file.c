/* read_file.c: all of a file, or of standard input. */
#define _GNU_SOURCE /* fileno */
#include "config/doc/read_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/doc/diag.h"

enum { MAX_FILE = 64 << 20 };

static int refuse(const char *path, bide_diagnostics *notes, const char *why)
{
    static const struct bide__mark nowhere = { 0, 0, 0, 0 };

    bide__diag_at(notes, path, NULL, 0, nowhere, BIDE_MISTAKE, "cannot-read",
                  NULL, "cannot be read: %s", why);
    return BIDE_EPARSE;
}

static const char *unfit(FILE *file)
{
    struct stat st;

    if (feof(file)) /* standard input, named twice: nothing is left of it */
        return "it has been read already";
    if (fstat(fileno(file), &st) != 0)
        return strerror(errno);
    if (S_ISDIR(st.st_mode))
        return "it is a directory";
    if (S_ISREG(st.st_mode) && st.st_size > MAX_FILE)
        return "it is larger than 64 MiB";
    return NULL;
}

/* Reads to the end, in a buffer that grows. What went wrong, "" for memory, or
 * NULL. */
static const char *read_all(FILE *file, char **ret_text, size_t *ret_len)
{
    size_t room = 0, len = 0;
    char *text = NULL;
    const char *why = NULL;

    do {
        if (room - len < 2) {
            char *larger = realloc(text, room = room ? room * 2 : 1 << 16);

            if (!larger) {
                why = "";
                break;
            }
            text = larger;
        }
        len += fread(text + len, 1, room - len - 1, file);
        if (ferror(file))
            why = strerror(errno);
        else if (len > MAX_FILE)
            why = "it is larger than 64 MiB";
    } while (!why && !feof(file));
    if (why) {
        free(text);
        return why;
    }
    text[len] = '\0';
    *ret_text = text;
    *ret_len = len;
    return NULL;
}

int bide__read_file(const char *path, char **ret_text, size_t *ret_len,
                    bide_diagnostics *notes)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    const char *why;

    if (!file)
        return errno == ENOMEM ? BIDE_ENOMEM
                               : refuse(path, notes, strerror(errno));
    why = unfit(file);
    if (!why)
        why = read_all(file, ret_text, ret_len);
    if (!is_stdin)
        fclose(file);
    if (why && *why == '\0')
        return BIDE_ENOMEM;
    return why ? refuse(path, notes, why) : 0;
}
