/* bide top: keys and the mouse, as a terminal sends them. */
#ifndef BIDE_CMD_TOP_KEYS_H
#define BIDE_CMD_TOP_KEYS_H

#include <stddef.h>

/* Beyond the bytes themselves. */
enum top_key {
    TOP_KEY_NONE = 0, /* time is over, or the size has changed */
    TOP_KEY_END = -1, /* it is time to end */
    TOP_KEY_UP = 256,
    TOP_KEY_DOWN,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_FIRST,
    TOP_KEY_LAST,
    TOP_KEY_CLICK, /* at column x and line y, from 0 */
    TOP_KEY_OTHER  /* none that means something */
};

struct top_press {
    int key;
    int x, y;
};

/* Reads one key from the beginning of `text`, which has at least a byte; returns
 * how many bytes it took. A lone ESC is the key 27. */
size_t top_key_read(const char *text, size_t len, struct top_press *ret);

#endif
