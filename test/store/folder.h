/* A folder of a test's own, where TMPDIR says: on a disk that others keep busy, a
 * commit may take seconds.
 *
 *     struct folder folder;
 *     folder_make(&folder);
 *     bide_store_open(&store, folder.url, ...);   // sqlite:.../records.db
 *     ...
 *     folder_remove(&folder);
 */
#ifndef BIDE_TEST_STORE_FOLDER_H
#define BIDE_TEST_STORE_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct folder {
    char path[256], url[300];
    const char *file; /* in it: the part of `url` that is a path */
};

static inline void folder_make(struct folder *f)
{
    const char *top = getenv("TMPDIR");
    size_t size = sizeof f->path;
    int n = snprintf(f->path, size, "%s/bide-store-XXXXXX", top ? top : "/tmp");
    assert_true(n > 0 && (size_t)n < size);
    assert_non_null(mkdtemp(f->path));
    n = snprintf(f->url, sizeof f->url, "sqlite:%s/records.db", f->path);
    assert_true(n > 0 && (size_t)n < sizeof f->url);
    f->file = f->url + sizeof "sqlite:" - 1;
}

static inline void folder_remove(const struct folder *f)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", f->path);
    assert_int_equal(system(command), 0);
}

#endif
