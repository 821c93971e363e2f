/* The kind `postgresql`, as programs link it: libpq comes with a module, which is
 * loaded where such a store is opened. */
#include "base/module.h"
#include "store/kind.h"

static const struct bide__store_kind *module;

static int open_it(void **ret, const struct bide__store_setup *setup, char *why,
                   size_t why_size)
{
    if (!module)
        module = bide__module("bide-postgresql.so", "bide__store_postgresql",
                              why, why_size);
    return module ? module->open(ret, setup, why, why_size) : BIDE_ESTATE;
}

static int run(void *self, bide_store_op *const ops[], size_t n, char *why,
               size_t why_size)
{
    return module->run(self, ops, n, why, why_size);
}

static int sweep(void *self, int most, char *why, size_t why_size)
{
    return module->sweep(self, most, why, why_size);
}

static int count(void *self, struct bide__store_count *ret, char *why,
                 size_t why_size)
{
    return module->count(self, ret, why, why_size);
}

static int list(void *self, const struct bide__store_query *query,
                bide__store_row_fn fn, void *ctx, char *why, size_t why_size)
{
    return module->list(self, query, fn, ctx, why, why_size);
}

static int purge(void *self, const struct bide__store_query *query,
                 uint64_t *removed, char *why, size_t why_size)
{
    return module->purge(self, query, removed, why, why_size);
}

static void close_it(void *self)
{
    module->close(self);
}

const struct bide__store_kind bide__store_postgresql_kind = {
    .name = "postgresql",
    .durable = true,
    .open = open_it,
    .run = run,
    .sweep = sweep,
    .count = count,
    .list = list,
    .purge = purge,
    .close = close_it,
};
