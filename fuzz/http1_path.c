/* http1_path.c: the normal form of a path, against a second way to come to it.
 *
 * What comes out begins with a slash, is no longer than what went in, holds
 * nothing that could be read in another way, and is its own normal form. The
 * second way is slow and plain: escapes first, then a list of segments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/http1/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096 };

static void must(int truth)
{
    if (!truth)
        abort();
}

/* ===== the second way ===== */

static int hex(char c)
{
    const char *digits = "0123456789ABCDEF0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) % 16 : -1;
}

/* With all escapes in their one form; -1: not valid. */
static int unescape(const char *in, size_t len, char *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqr"
                                "stuvwxyz0123456789-._~";
    int n = 0;

    for (size_t i = 0; i < len; i++) {
        if (in[i] != '%') {
            if ((signed char)in[i] <= ' ' || in[i] == 0x7f || in[i] == '\\')
                return -1;
            out[n++] = in[i];
            continue;
        }
        if (i + 2 >= len || hex(in[i + 1]) < 0 || hex(in[i + 2]) < 0)
            return -1;
        int c = hex(in[i + 1]) * 16 + hex(in[i + 2]);
        if (c < 0x20 || c == 0x7f)
            return -1;
        if (strchr(plain, c)) {
            out[n++] = (char)c;
        } else {
            out[n++] = '%';
            out[n++] = "0123456789ABCDEF"[c / 16];
            out[n++] = "0123456789ABCDEF"[c % 16];
        }
        i += 2;
    }
    out[n] = '\0';
    return n;
}

/* "..;", "..%2F" and the like, anywhere in a segment that is not plain dots. */
static int is_shady(const char *segment)
{
    static const char *const ends[] = { "", ";", "%2F", "%5C" };
    const char *dots[] = { ".", ".." };

    for (const char *at = segment; *at; at++) {
        if (at > segment && (at - segment < 3 || (memcmp(at - 3, "%2F", 3) != 0 &&
                                                  memcmp(at - 3, "%5C", 3) != 0)))
            continue;
        for (int d = 0; d < 2; d++)
            for (int e = 0; e < 4; e++) {
                size_t n = strlen(dots[d]), m = strlen(ends[e]);
                if (strncmp(at, dots[d], n) == 0 &&
                    (m ? strncmp(at + n, ends[e], m) == 0 : at[n] == '\0'))
                    return 1;
            }
    }
    return 0;
}

static int slowly(const char *in, size_t len, char *out)
{
    static char plain[MOST + 1], *list[MOST];
    size_t n = 0;
    int end = 0, dot = 0;

    if (len == 0 || in[0] != '/' || unescape(in, len, plain) < 0)
        return -1;
    int slash = plain[strlen(plain) - 1] == '/';
    for (char *s = strtok(plain, "/"); s; s = strtok(NULL, "/")) {
        int up = strcmp(s, "..") == 0;

        dot = up || strcmp(s, ".") == 0;
        if (!dot && is_shady(s))
            return -1;
        if (up && n-- == 0)
            return -1;
        if (!dot)
            list[n++] = s;
    }
    for (size_t i = 0; i < n; i++)
        end += sprintf(out + end, "/%s", list[i]);
    if (n == 0 || slash || dot)
        out[end++] = '/';
    return end;
}

/* ===== the check ===== */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char want[2 * MOST];
    char *path = malloc(size + 1);

    must(path != NULL);
    if (size > 0 && size <= MOST && !memchr(data, 0, size)) {
        memcpy(path, data, size);
        int n = http1_path_normalize(path, size);
        int m = slowly((const char *)data, size, want);
        must((n < 0) == (m < 0));
        if (n >= 0) {
            must(n == m && memcmp(path, want, (size_t)n) == 0);
            must(n > 0 && (size_t)n <= size && path[0] == '/');
            must(http1_path_normalize(path, (size_t)n) == n);
            must(memcmp(path, want, (size_t)n) == 0);
        }
    }
    free(path);
    return 0;
}
