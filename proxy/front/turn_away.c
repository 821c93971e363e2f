/* The response to a connection that is not served at all. */
#include "proxy/front/turn_away.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "config/proxy/conf.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

size_t turn_away_text(const struct bide__proxy_conf *conf, const char *reason,
                      const char *title, char text[TURN_AWAY])
{
    char body[TURN_AWAY / 2], own[TURN_AWAY / 4] = "";
    int len = snprintf(body, sizeof body,
                       "{\"type\":\"urn:bide:problem:%s\","
                       "\"title\":\"%s\",\"status\":503}\n",
                       reason, title);
    if (conf->headers.bide)
        snprintf(own, sizeof own, "X-Bide-Retry: no\r\nX-Bide-Reason: %s\r\n",
                 reason);
    int n = snprintf(text, TURN_AWAY,
                     "HTTP/1.1 503 Service Unavailable\r\n"
                     "Content-Type: application/problem+json\r\n"
                     "Content-Length: %d\r\n"
                     "Retry-After: 1\r\n"
                     "%sConnection: close\r\n\r\n%s",
                     len, own, body);
    return n > 0 && n < TURN_AWAY ? (size_t)n : 0;
}

void turn_away(const struct worker *w, int fd, const char *reason,
               const char *title)
{
    char bin[2048], text[TURN_AWAY];
    if (!w->generation->tls) {
        size_t n = turn_away_text(w->conf, reason, title, text);
        (void)!send(fd, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    shutdown(fd, SHUT_WR);
    (void)!recv(fd, bin, sizeof bin, MSG_DONTWAIT);
}
