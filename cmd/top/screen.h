/* bide top: the terminal. */
#ifndef BIDE_CMD_TOP_SCREEN_H
#define BIDE_CMD_TOP_SCREEN_H

#include "cmd/top/keys.h"

/* Takes over the terminal: alternate screen, no cursor, keys one by one, clicks
 * and the wheel of the mouse.
 * top_screen_done() restores it, and so do signals that end or stop the
 * program. */
void top_screen_init(void);
void top_screen_done(void);

/* Waits for a key; TOP_KEY_NONE after a timeout or a signal. */
struct top_press top_screen_key(int timeout_ms);

#endif
