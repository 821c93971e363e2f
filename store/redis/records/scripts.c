/* The scripts. They decide nothing about claims (that is rule.h's): they compare
 * versions, write, and count. */
#include "store/redis/records/scripts.h"

/* A record, what the caller's records take who asks, and those of the caller
 * whose it is. */
static const char look_lua[] =
    "#!lua flags=no-writes,allow-oom\n"
    "local used = redis.call('HGET', KEYS[2], ARGV[1]) or '0'\n"
    "local value = redis.call('GET', KEYS[3])\n"
    "if not value then return {used} end\n"
    "if #value < 126 then return {used, value, '0'} end\n"
    "local s, o, k, r = struct.unpack('>HHHH', value, 11)\n"
    "local at = 127 + s + 1 + o + 1 + k + 1\n"
    "local room = string.sub(value, at, at + r - 1)\n"
    "return {used, value, redis.call('HGET', KEYS[2], room) or '0'}\n";

/* Counts what a note says, once more or once less. */
#define COUNT                                                                  \
    "local function count(note, sign)\n"                                       \
    " local bytes = sign * struct.unpack('>I8', note, 33)\n"                   \
    " local room = string.sub(note, 41)\n"                                     \
    " if redis.call('HINCRBY', KEYS[2], room, bytes) <= 0 then\n"              \
    "  redis.call('HDEL', KEYS[2], room)\n"                                    \
    " end\n"                                                                   \
    " redis.call('HINCRBY', KEYS[1], 'bytes', bytes)\n"                        \
    " redis.call('HINCRBY', KEYS[1], 'records', sign)\n"                       \
    "end\n"                                                                    \
    "local t = redis.call('TIME')\n"                                           \
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

/* Of each record: the version that it must have ('': it must not be there), its
 * old note, its new value ('': remove it), when that expires, its new note. A
 * note may still be there when the record has expired: it is counted once, by
 * what ZADD says. ARGV[2]: later than this, nobody waits for it any more. */
#define WRITE                                                                  \
    COUNT                                                                      \
    "if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then\n"                   \
    " return redis.error_reply('GONE the records are not there any more')\n"   \
    "end\n"                                                                    \
    "local done = {}\n"                                                        \
    "for i = 1, #KEYS - 3 do\n"                                                \
    " local key, a = KEYS[3 + i], 5 * i - 2\n"                                 \
    " local was, old, value, expires, new = ARGV[a], ARGV[a + 1],\n"           \
    "  ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]\n"                                \
    " if now > tonumber(ARGV[2])\n"                                            \
    "  or redis.call('GETRANGE', key, 0, 7) ~= was then\n"                     \
    "  done[i] = 0\n"                                                          \
    " else\n"                                                                  \
    "  if old ~= '' and redis.call('ZREM', KEYS[3], old) == 1 then\n"          \
    "   count(old, -1)\n"                                                      \
    "  end\n"                                                                  \
    "  if value == '' then\n"                                                  \
    "   redis.call('DEL', key)\n"                                              \
    "  else\n"                                                                 \
    "   redis.call('SET', key, value, 'PXAT', expires)\n"                      \
    "   if redis.call('ZADD', KEYS[3], expires, new) == 1 then\n"              \
    "    count(new, 1)\n"                                                      \
    "   end\n"                                                                 \
    "  end\n"                                                                  \
    "  done[i] = 1\n"                                                          \
    " end\n"                                                                   \
    "end\n"                                                                    \
    "return done\n"

static const char insert_lua[] = "#!lua\n" WRITE;

/* Answers and releases of what was claimed before go through without memory. */
static const char change_lua[] = "#!lua flags=allow-oom\n" WRITE;

static const char sweep_lua[] =
    "#!lua flags=allow-oom\n" COUNT
    "local notes = redis.call('ZRANGE', KEYS[3], '-inf', '(' .. now,\n"
    " 'BYSCORE', 'LIMIT', 0, ARGV[1])\n"
    "for _, note in ipairs(notes) do\n"
    " redis.call('ZREM', KEYS[3], note)\n"
    " count(note, -1)\n"
    "end\n"
    "return #notes\n";

/* The id of what is there; '': nothing, and it was not to be made. */
static const char make_lua[] =
    "#!lua flags=allow-oom\n"
    "local id = redis.call('HGET', KEYS[1], 'id')\n"
    "if id then\n"
    " local version = redis.call('HGET', KEYS[1], 'version')\n"
    " return {id, version or '?'}\n"
    "end\n"
    "if ARGV[2] == '0' then return {'', '1'} end\n"
    "redis.call('HSET', KEYS[1], 'version', '1', 'id', ARGV[1])\n"
    "return {ARGV[1], '1'}\n";

struct redis_store_scripts redis_store_scripts(void)
{
    return (struct redis_store_scripts){
        .look = { .text = look_lua },
        .insert = { .text = insert_lua },
        .change = { .text = change_lua },
        .sweep = { .text = sweep_lua },
        .make = { .text = make_lua },
    };
}
