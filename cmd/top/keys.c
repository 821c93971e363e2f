/* Escape sequences as keys: ECMA-48's CSI, and SGR's for the mouse. */
#include "cmd/top/keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ESC = 27, WHEEL_UP = 64, WHEEL_DOWN = 65 };

/* "<0;12;5M": button, column, line, pressed (or released: m). */
static int mouse(const char *text, struct top_press *ret)
{
    int button, x, y;
    char how;

    if (sscanf(text, "<%d;%d;%d%c", &button, &x, &y, &how) != 4 || how != 'M')
        return TOP_KEY_OTHER;
    ret->x = x - 1;
    ret->y = y - 1;
    return button == WHEEL_UP     ? TOP_KEY_UP
           : button == WHEEL_DOWN ? TOP_KEY_DOWN
           : button == 0          ? TOP_KEY_CLICK
                                  : TOP_KEY_OTHER;
}

static int named(const char *sequence)
{
    static const struct {
        const char *sequence;
        int key;
    } keys[] = {
        { "A", TOP_KEY_UP },       { "B", TOP_KEY_DOWN },
        { "H", TOP_KEY_FIRST },    { "F", TOP_KEY_LAST },
        { "1~", TOP_KEY_FIRST },   { "4~", TOP_KEY_LAST },
        { "5~", TOP_KEY_PAGE_UP }, { "6~", TOP_KEY_PAGE_DOWN },
        { "7~", TOP_KEY_FIRST },   { "8~", TOP_KEY_LAST },
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i].sequence, sequence) == 0)
            return keys[i].key;
    return TOP_KEY_OTHER;
}

/* ESC [ parameters final, or ESC O final. */
static size_t sequence(const char *text, size_t len, struct top_press *ret)
{
    char inside[32];
    size_t n = 2;

    while (n < len && (text[n] < '@' || text[n] > '~'))
        n++;
    if (n == len || n - 1 >= sizeof inside) {
        ret->key = TOP_KEY_OTHER;
        return n;
    }
    memcpy(inside, text + 2, n - 1);
    inside[n - 1] = '\0';
    ret->key = inside[0] == '<' ? mouse(inside, ret) : named(inside);
    return n + 1;
}

size_t top_key_read(const char *text, size_t len, struct top_press *ret)
{
    *ret = (struct top_press){ (unsigned char)text[0], 0, 0 };
    if (text[0] != ESC || len == 1)
        return 1;
    if (text[1] == '[' || text[1] == 'O')
        return sequence(text, len, ret);
    ret->key = TOP_KEY_OTHER; /* Alt and a letter */
    return 2;
}
