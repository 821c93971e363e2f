/* store/redis/url.h: where a Redis is.
 *
 *     struct redis_url at;
 *     char why[REDIS_WHY];
 *     if (redis_url_read(&at, "redis://:secret@10.0.0.7:6379/2", why) < 0)
 *         die(why);                  // what was found, what is expected
 *     say(at.text);                  // redis://10.0.0.7:6379/2: no password
 *
 * The forms:
 *
 *   redis://[[USER][:PASSWORD]@]HOST[:PORT][/DB]     TCP; port 6379, db 0
 *   redis+unix://[[USER][:PASSWORD]@]/PATH[?db=N]    a Unix socket
 *   unix:/PATH[?db=N]                                the same
 *
 * rediss:// (TLS) is refused: let a tunnel on this machine speak TLS. User and
 * password may hold %XX. */
#ifndef BIDE_STORE_REDIS_URL_H
#define BIDE_STORE_REDIS_URL_H

#include <stdbool.h>
#include <stdint.h>

enum { REDIS_WHY = 256, REDIS_URL_PART = 256 };

/* Threads: immutable. */
struct redis_url {
    char host[REDIS_URL_PART]; /* or the path of a Unix socket */
    bool is_unix;
    uint16_t port;
    int db;
    char user[REDIS_URL_PART];
    char password[REDIS_URL_PART];
    char text[REDIS_URL_PART + 32]; /* for people: without the password */
};

/* 0, or -1 and why. *ret is then unchanged. */
int redis_url_read(struct redis_url *ret, const char *text,
                   char why[REDIS_WHY]);

/* Whether a text has the scheme of a Redis, rediss included. */
bool redis_url_is(const char *text);

#endif
