/* bide top: the terminal. */
#ifndef BIDE_CMD_TOP_SCREEN_H
#define BIDE_CMD_TOP_SCREEN_H

/* Takes the terminal over: another screen, no cursor, keys one by one. Given
 * back by top_screen_done(), and when a signal ends or stops the program. */
void top_screen_init(void);
void top_screen_done(void);

/* Waits for a key; 0 if none came in time or a signal did, -1 if it is time to
 * end. */
int top_screen_key(int timeout_ms);

#endif
