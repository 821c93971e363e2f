/* The kinds of store there are, by the beginning of a URL. */
#include <stddef.h>
#include <string.h>

#include "store/kind.h"

static const struct {
    const char *begins;
    const struct bide__store_kind *kind;
    bool whole; /* the kind wants the URL as it is */
} kinds[] = {
    { "memory", &bide__store_memory, true },
    { "sqlite:", &bide__store_sqlite, false },
    { "postgresql://", &bide__store_postgresql_kind, true },
    { "postgres://", &bide__store_postgresql_kind, true },
    { "redis://", &bide__store_redis, true },
    { "redis+unix://", &bide__store_redis, true },
    { "rediss://", &bide__store_redis, true }, /* says that there is no TLS */
    { "unix:", &bide__store_redis, true },
};

const struct bide__store_kind *bide__store_kind_of(const char *url,
                                                   const char **ret_rest)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t n = strlen(kinds[i].begins);
        if (strncmp(url, kinds[i].begins, n) != 0)
            continue;
        if (kinds[i].begins[n - 1] != ':' && kinds[i].begins[n - 1] != '/' &&
            url[n] != '\0')
            continue;
        if (ret_rest)
            *ret_rest = kinds[i].whole ? url : url + n;
        return kinds[i].kind;
    }
    return NULL;
}
