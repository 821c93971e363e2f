/* net/http/server_answer.c: responses, sent at once or as a stream. */
#include "net/http/server_answer.h"
#include "net/http/server_conn.h"
#include "net/http/server_room.h"

const char *http_status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } texts[] = {
        { 100, "Continue" },
        { 101, "Switching Protocols" },
        { 103, "Early Hints" },
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 206, "Partial Content" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 303, "See Other" },
        { 304, "Not Modified" },
        { 307, "Temporary Redirect" },
        { 308, "Permanent Redirect" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 412, "Precondition Failed" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 422, "Unprocessable Content" },
        { 425, "Too Early" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].status == status)
            return texts[i].text;
    return status < 400 ? "Other" : "Error";
}

/* The owner has written its response. Inside our callback (`handing`), our
 * caller sends it; otherwise it is sent here. */
static void send_answer(struct http_conn *c, enum http_conn_phase phase)
{
    c->phase = phase;
    if (c->handing)
        return;
    if (c->net.io.fd < 0) {
        http_conn_drop(c, false);
        return;
    }
    http_conn_allow(c, c->server->patience_ns);
    http_conn_serve(c);
}

void http_answer_begin(struct http_conn *c, int status)
{
    bide__out_text(&c->out, "HTTP/1.1 ");
    bide__out_u64(&c->out, (uint64_t)status);
    bide__out_char(&c->out, ' ');
    bide__out_text(&c->out, http_status_text(status));
    bide__out_text(&c->out, "\r\n");
}

void http_answer_end(struct http_conn *c, const void *body, size_t len)
{
    bide__out_text(&c->out, c->keep ? "Content-Length: "
                                    : "Connection: close\r\nContent-Length: ");
    bide__out_u64(&c->out, len);
    bide__out_text(&c->out, "\r\n\r\n");
    if (c->head.method_id != HTTP1_HEAD)
        bide__out_bytes(&c->out, body, len);
    send_answer(c, HTTP_WRITING);
}

void http_stream_begin(struct http_conn *c)
{
    c->keep = false;
    bide__out_text(&c->out, "Connection: close\r\n\r\n");
    send_answer(c, HTTP_STREAMING);
}

bool http_stream_next(struct http_conn *c)
{
    if (http_conn_is_behind(c))
        return false;
    bide__out_clear(&c->out);
    c->sent = 0;
    http_conn_allow(c, c->server->patience_ns);
    return true;
}

void http_stream_send(struct http_conn *c)
{
    http_conn_write(c);
}
