/* bide top: the last minute of each dependency. */
#ifndef BIDE_CMD_TOP_MINUTE_H
#define BIDE_CMD_TOP_MINUTE_H

#include "cmd/top/top.h"

struct top_point {
    double at_ms, calls, failed, retries; /* a second */
};

struct top_track {
    char name[TOP_NAME];
    size_t n; /* points ever */
    struct top_point point[TOP_MINUTE];
};

/* All zero is an empty one. */
struct top_minute {
    size_t n;
    struct top_track *tracks;
};

/* Takes what /api/history?brief has, and each second of a state. */
void top_minute_load(struct top_minute *m, const char *json, size_t len);
void top_minute_add(struct top_minute *m, const struct top_state *s);
const struct top_track *top_minute_find(const struct top_minute *m,
                                        const char *name);
void top_minute_done(struct top_minute *m);

#endif
