/* bide top: the terminal. */
#ifndef BIDE_CMD_TOP_SCREEN_H
#define BIDE_CMD_TOP_SCREEN_H

/* Takes over the terminal: alternate screen, no cursor, keys one by one.
 * top_screen_done() restores it, and so do signals that end or stop the
 * program. */
void top_screen_init(void);
void top_screen_done(void);

/* Waits for a key; 0 after a timeout or a signal, -1 if it is time to end. */
int top_screen_key(int timeout_ms);

#endif
