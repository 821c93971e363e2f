/* store/redis/records/scripts.h: the scripts that run in the server. Of each: its
 * keys, and its arguments. */
#ifndef BIDE_STORE_REDIS_RECORDS_SCRIPTS_H
#define BIDE_STORE_REDIS_RECORDS_SCRIPTS_H

#include "store/redis/redis.h"

/* Threads: owned. */
struct redis_store_scripts {
    struct redis_script look;    /* about, rooms, record; room asked for */
    struct redis_script insert;  /* about, rooms, notes, record ... */
    struct redis_script change;  /* the same, also without memory */
    struct redis_script sweep;   /* about, rooms, notes; most */
    struct redis_script make;    /* about; id, whether to make it */
};

/* All of them, not loaded yet. */
struct redis_store_scripts redis_store_scripts(void);

#endif
