/* queue/redis/script.h: queue.lua, as the build has put it into C. */
#ifndef BIDE_QUEUE_REDIS_SCRIPT_H
#define BIDE_QUEUE_REDIS_SCRIPT_H

extern const char rq_script[];

#endif
