/* proxy/front/turn_away.h: the response to a connection that is not served at
 * all: 503, as a problem document, and the connection is closed.
 *
 *     turn_away(worker, fd, "connections", "too many connections");
 *     close(fd);
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_FRONT_TURN_AWAY_H
#define BIDE_PROXY_FRONT_TURN_AWAY_H

#include <stddef.h>

struct bide__proxy_conf;
struct worker;

enum { TURN_AWAY = 512 };

/* Writes it, with a reason (X-Bide-Reason) and a few words; returns its
 * length. */
size_t turn_away_text(const struct bide__proxy_conf *conf, const char *reason,
                      const char *title, char text[TURN_AWAY]);

/* Sends it, except on TLS connections. What the client sent is read, because
 * closing with unread bytes would reset the connection. */
void turn_away(const struct worker *w, int fd, const char *reason,
               const char *title);

#endif
