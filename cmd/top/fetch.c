/* One request and its response over a socket. It takes only addresses:
 * resolving names in a statically linked program is not worth the trouble. */
#include "cmd/top/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "bide/run.h"
#include "net/http/client.h"

enum { MOST = 32 << 20, PATIENCE_S = 3 };

/* ===== the address ===== */

static bool read_unix(struct top_place *place, const char *path)
{
    if (!*path || net_address_unix(&place->address, path) < 0)
        return false;
    snprintf(place->text, sizeof place->text, "unix:%s", path);
    strcpy(place->host, "localhost");
    return true;
}

/* Reads a name and a port; the path is added later. */
static bool read_url(struct top_place *place, const char *url)
{
    size_t len = strlen(url);

    while (len > 8 && url[len - 1] == '/')
        len--;
    if (len <= 8 || len >= sizeof place->text ||
        strcspn(url + 8, "/?#@ \t\r\n") < len - 8)
        return false;
    memcpy(place->text, url, len);
    place->text[len] = '\0';
    return true;
}

bool top_place_read(struct top_place *place, const char *text)
{
    struct bide__authority at;
    char host[64] = "127.0.0.1";
    uint16_t port;

    if (strncmp(text, "unix:", 5) == 0)
        return read_unix(place, text + 5);
    if (strncmp(text, "https://", 8) == 0)
        return read_url(place, text);
    if (strncmp(text, "http://", 7) == 0)
        text += 7;
    size_t len = strcspn(text, "/");
    if (len >= sizeof place->text ||
        strspn(text + len, "/") != strlen(text + len) ||
        !bide__authority(text, len, &at) || at.host_len >= sizeof host)
        return false;
    if (!at.colon && !at.brackets) { /* a port alone */
        at.port = at.host;
        at.port_len = at.host_len;
    } else if (at.host_len != 9 || memcmp(at.host, "localhost", 9) != 0) {
        memcpy(host, at.host, at.host_len);
        host[at.host_len] = '\0';
    }
    if (!bide__port(at.port, at.port_len, &port) || port == 0 ||
        strcmp(host, "*") == 0 ||
        net_address_parse(&place->address, host, port) < 0)
        return false;
    if (at.colon)
        snprintf(place->text, sizeof place->text, "%.*s", (int)len, text);
    else
        snprintf(place->text, sizeof place->text, "%s:%u", host, port);
    strcpy(place->host, place->text);
    return true;
}

/* ===== the request ===== */

/* What went wrong, for people. */
static void explain(const struct http_client *c, const struct top_place *place,
                    char *why, size_t size)
{
    if (c->error)
        snprintf(why, size, "%s: %s", place->text, strerror(c->error));
    else
        snprintf(why, size, "%s answers, but not as bide's admin endpoint does",
                 place->text);
}

char *top_fetch(const struct top_place *place, const char *path,
                size_t *ret_len, char *why, size_t size)
{
    char in[HTTP1_HEAD_BYTES], agent[64];
    struct http_client c;
    struct bide__out body = { 0 };
    struct http_request r = {
        .to = &place->address,
        .method = "GET",
        .target = path,
        .host = place->host,
        .headers = agent,
        .until_ns = bide_now_ns() + PATIENCE_S * BIDE_SECOND,
        .into = &body,
        .max_body = MOST,
    };

    if (!place->host[0])
        return top_fetch_secure(place, path, ret_len, why, size);
    snprintf(agent, sizeof agent, "User-Agent: bide-top/%s\r\n",
             bide_version());
    http_client_init(&c, in, sizeof in);
    http_client_run(&c, &r, NULL);
    *ret_len = body.len;
    bide__out_char(&body, '\0');
    if (c.fault == BIDE_FAULT_NONE && c.head.status == 200 && !body.failed)
        return body.data;
    explain(&c, place, why, size);
    bide__out_done(&body);
    return NULL;
}
