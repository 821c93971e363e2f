/* bide top: on a terminal. */
#ifndef BIDE_CMD_TOP_UI_H
#define BIDE_CMD_TOP_UI_H

#include "cmd/top/fetch.h"
#include "cmd/top/keys.h"
#include "cmd/top/minute.h"
#include "cmd/top/top.h"

/* What is shown, and of what. All zero but place and interval is the list. */
struct top {
    bool once, json;
    int64_t interval_ns;
    struct top_place place;
    struct top_state state;
    struct top_minute minute;

    enum top_order order;
    char filter[64];
    bool typing, paused, help;
    size_t first, rows;    /* of the list: its first line, how many there are */
    size_t at;             /* the line of the screen that it begins on */
    char chosen[TOP_NAME]; /* the selected dependency */
    char open[TOP_NAME];   /* whose page is shown; "" is the list */
    size_t scroll, lines;  /* of that page */
    struct bide__tree *history; /* of that dependency; or NULL */
};

/* Fetches and reads the state; false, and why. */
bool top_look_at(struct top *t, char *why, size_t size);

/* Fetches the last minute of all, before the first state. */
void top_begin(struct top *t);

/* Runs until a key or a signal ends it. If the program goes away, this waits
 * for it and keeps showing the last state. */
void top_run(struct top *t);
void top_done(struct top *t);

/* Does what a key means. False: it is time to end. */
bool top_press_key(struct top *t, const struct top_press *p);

/* Draws all of it, as `look` says about the terminal; "\033[K" ends each line. */
void top_draw(FILE *out, struct top *t, struct top_look *look);

#endif
