/* own.c: copies a struct so that it outlives the file it was read from. */
#include "config/field/own.h"

#include <stdlib.h>
#include <string.h>

static bool is_plain_text(const struct bide__field *f)
{
    return f->type == BIDE__TEXT && !f->item && f->size == 0;
}

bool bide__fields_own(const struct bide__table *table, void *of)
{
    bool fine = true;

    for (const struct bide__field *f = table->fields; f->key; f++) {
        char *at = (char *)of + f->offset, *text, *copy;

        if (f->type == BIDE__FIELDS)
            fine &= bide__fields_own(f->table, at);
        if (!is_plain_text(f))
            continue;
        memcpy(&text, at, sizeof text);
        copy = text ? malloc(strlen(text) + 1) : NULL;
        if (copy)
            strcpy(copy, text);
        fine &= !text == !copy;
        memcpy(at, &copy, sizeof copy);
    }
    return fine;
}

void bide__fields_disown(const struct bide__table *table, void *of)
{
    for (const struct bide__field *f = table->fields; f->key; f++) {
        char *at = (char *)of + f->offset, *text;

        if (f->type == BIDE__FIELDS)
            bide__fields_disown(f->table, at);
        if (!is_plain_text(f))
            continue;
        memcpy(&text, at, sizeof text);
        free(text);
    }
}
