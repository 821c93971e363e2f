/* proxy/turn_away.h: the answer to a connection that is not served at all: 503,
 * as a problem document, and the connection is closed.
 *
 *     char text[TURN_AWAY];
 *     size_t n = turn_away_text(conf, "connections", "too many connections", text);
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_TURN_AWAY_H
#define BIDE_PROXY_TURN_AWAY_H

#include <stddef.h>

struct bide__proxy_conf;

enum { TURN_AWAY = 512 };

/* Writes it, for a reason (X-Bide-Reason) and a few words; how long it is. */
size_t turn_away_text(const struct bide__proxy_conf *conf, const char *reason,
                      const char *title, char text[TURN_AWAY]);

#endif
