/* poor.c: a program that runs out of memory at the BIDE_FAIL_ALLOC-th allocation.
 *
 * Linked to the objects of `bide`, and of `bide-fetch`, with their calls of malloc
 * and its kin sent through here (--wrap). When an allocation has failed the file
 * that BIDE_FAILED names is made: where it is missing, the program had made all of
 * its allocations before. See alloc.py. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../failing_alloc.h"

char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
    return fails() ? NULL : __real_strndup(text, n);
}

__attribute__((constructor)) static void begin(void)
{
    const char *n = getenv("BIDE_FAIL_ALLOC");

    if (n)
        left = atol(n) - 1;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("BIDE_FAILED");

    if (failed && path)
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}
