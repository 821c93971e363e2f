/* Memory that runs out at the nth allocation, for tests of what happens then.
 *
 *     left = n;                 // the nth from here on fails
 *     ... failed ...            // whether it has come to that
 *
 * Any thread's allocations count. The linker sends calls of malloc and its kin
 * through here (--wrap), and those of yaml_parser_parse, since libyaml's own
 * allocations are out of reach. One file of a program includes it. */
#ifndef BIDE_TEST_FAILING_ALLOC_H
#define BIDE_TEST_FAILING_ALLOC_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

static atomic_long left = -1; /* allocations until one fails; < 0: none does */
static atomic_bool failed;

static bool fails(void)
{
    if (left < 0 || left-- != 0)
        return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
int __real_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
    if (!fails())
        return __real_yaml_parser_parse(parser, event);
    parser->error = YAML_MEMORY_ERROR;
    return 0;
}

#endif
