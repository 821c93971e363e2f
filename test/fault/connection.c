/* One connection: reads requests, plays the step that is due, reads on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"

enum { FDS = 1 << 17, PIECE = 1 << 16 };

enum state { READING_HEAD, READING_BODY, ANSWERING, STALLED };

struct connection {
    struct connection *before, *after;
    int epoll, fd;
    unsigned number;
    enum state state;
    bool hears_out;           /* EPOLLOUT is on */
    struct bytes in, out;
    struct request request;
    struct record *record;
    unsigned nth;

    /* The answer: out, with what happens on the way. */
    size_t sent;
    size_t pause_at, end_at;
    long pause_ms, trickle_ms;
    enum ending ending;
    int64_t due_ns;           /* pausing until then; 0: not */
};

static struct connection *by_fd[FDS], *all;
static unsigned n_made, n_pausing;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void reset_socket(int fd)
{
    struct linger l = { 1, 0 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    close(fd);
}

static void pause_for(struct connection *c, long ms)
{
    n_pausing += c->due_ns == 0;
    c->due_ns = now_ns() + ms * INT64_C(1000000);
}

static void end_pause(struct connection *c)
{
    n_pausing -= c->due_ns != 0;
    c->due_ns = 0;
}

void connection_new(int epoll, int fd)
{
    struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP, .data.fd = fd };
    struct connection *c = fd < FDS ? calloc(1, sizeof *c) : NULL;
    if (!c || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0) {
        free(c);
        close(fd);
        return;
    }
    c->epoll = epoll;
    c->fd = fd;
    c->number = ++n_made;
    c->after = all;
    if (all)
        all->before = c;
    all = by_fd[fd] = c;
}

static void end(struct connection *c, bool reset)
{
    end_pause(c);
    *(c->before ? &c->before->after : &all) = c->after;
    if (c->after)
        c->after->before = c->before;
    by_fd[c->fd] = NULL;
    if (reset)
        reset_socket(c->fd);
    else
        close(c->fd);
    bytes_free(&c->in);
    bytes_free(&c->out);
    free(c);
}

static void hear_out(struct connection *c, bool on)
{
    struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP,
                             .data.fd = c->fd };
    if (c->hears_out == on)
        return;
    e.events |= on ? EPOLLOUT : 0;
    epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->fd, &e);
    c->hears_out = on;
}

/* ===== making an answer ===== */

static const char *phrase(int status)
{
    return status < 300 ? "Fine" : status < 400 ? "Elsewhere" : "Failed";
}

static void add_body(struct connection *c, const struct step *s)
{
    static const char pattern[] = "abcdefghijklmnopqrstuvwxyz";
    if (s->body) {
        bytes_add(&c->out, s->body, s->body_len);
        return;
    }
    for (size_t left = s->body_len; left > 0;) {
        size_t n = left < 26 ? left : 26;
        bytes_add(&c->out, pattern, n);
        left -= n;
    }
}

static void set_ending(struct connection *c, const struct step *s, size_t head)
{
    static const size_t half = 2;
    size_t body = c->out.len - head;
    size_t at[] = { [AT_END] = c->out.len, [AT_START] = 0,
                    [IN_HEAD] = head / half, [IN_BODY] = head + body / half };
    c->end_at = at[s->where];
    c->ending = s->ending;
    if (s->lie != 0 && c->ending == END_KEEP)
        c->ending = END_CLOSE;
    if (c->request.closes && c->ending == END_KEEP)
        c->ending = END_CLOSE;
    c->pause_at = s->pause_ms ? head + body / half : SIZE_MAX;
    c->pause_ms = s->pause_ms;
    c->trickle_ms = s->trickle_ms;
}

static bool has_body(const struct connection *c, const struct step *s)
{
    return strcmp(c->request.method, "HEAD") != 0 && s->status != 204 &&
           s->status != 304;
}

static void make_answer(struct connection *c, const struct step *s)
{
    c->out.len = c->sent = 0;
    bytes_addf(&c->out, "HTTP/1.1 %d %s\r\n%s", s->status, phrase(s->status),
               s->head);
    if (s->chunked)
        bytes_addf(&c->out, "Transfer-Encoding: chunked\r\n\r\n");
    else
        bytes_addf(&c->out, "Content-Length: %lld\r\n\r\n",
                   (long long)s->body_len + s->lie);
    size_t head = c->out.len;
    if (has_body(c, s)) {
        if (s->chunked && s->body_len)
            bytes_addf(&c->out, "%zx\r\n", s->body_len);
        add_body(c, s);
        if (s->chunked)
            bytes_addf(&c->out, "%s0\r\n\r\n", s->body_len ? "\r\n" : "");
    }
    set_ending(c, s, head);
    c->state = ANSWERING;
    if (s->wait_ms)
        pause_for(c, s->wait_ms);
}

/* ===== playing it ===== */

/* True: the connection is still there, and may be read from. */
static bool end_answer(struct connection *c)
{
    hear_out(c, false);
    switch (c->ending) {
    case END_KEEP:
        c->state = READING_HEAD;
        return true;
    case END_STALL:
        c->state = STALLED;
        return false;
    default:
        end(c, c->ending == END_RESET);
        return false;
    }
}

static size_t next_piece(const struct connection *c)
{
    size_t until = c->end_at;
    if (c->sent < c->pause_at && c->pause_at < until)
        until = c->pause_at;
    if (c->trickle_ms && c->sent < until)
        return 1;
    return until - c->sent;
}

static bool play(struct connection *c)
{
    while (c->due_ns == 0) {
        size_t piece = next_piece(c);
        if (piece == 0 && c->sent == c->end_at)
            return end_answer(c);
        ssize_t n = send(c->fd, c->out.at + c->sent, piece, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            hear_out(c, true);
            return false;
        }
        if (n < 0) {
            end(c, false);
            return false;
        }
        c->sent += (size_t)n;
        if (c->sent == c->pause_at) {
            c->pause_at = SIZE_MAX;
            pause_for(c, c->pause_ms);
        } else if (c->trickle_ms && c->sent < c->end_at) {
            pause_for(c, c->trickle_ms);
        }
    }
    hear_out(c, false);
    return false;
}

/* ===== requests ===== */

static void answer_plainly(struct connection *c, int status, struct bytes *body)
{
    struct step s = { .status = status, .body = body->len ? body->at : "",
                      .body_len = body->len };
    make_answer(c, &s);
    bytes_free(body);
}

static bool answer_control(struct connection *c)
{
    char id[TEXT_MAX];
    struct bytes body = { 0 };
    if (strcmp(c->request.path, "/forget") == 0) {
        records_forget();
        answer_plainly(c, 204, &body);
        return true;
    }
    if (strcmp(c->request.path, "/ids") == 0) {
        records_list(&body);
        answer_plainly(c, 200, &body);
        return true;
    }
    if (strcmp(c->request.path, "/count") != 0)
        return false;
    bool one = query_value(c->request.query, "id", id, sizeof id);
    records_show(one ? id : NULL, &body);
    answer_plainly(c, 200, &body);
    return true;
}

static void start_answer(struct connection *c)
{
    struct step s;
    struct bytes no_body = { 0 };
    if (script_step(c->request.path, c->request.id, c->nth, &s))
        make_answer(c, &s);
    else
        answer_plainly(c, 404, &no_body);
}

static bool wants_early(struct connection *c)
{
    struct step s;
    return script_step(c->request.path, c->request.id, c->nth, &s) && s.early;
}

static void take_head(struct connection *c)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    c->state = READING_BODY;
    c->record = NULL;
    if (answer_control(c))
        return;
    c->record = record_arrived(&c->request, c->number, &c->nth);
    if (wants_early(c))
        start_answer(c);
    else if (c->request.expects)
        send(c->fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL);
}

/* Goes on for as long as there is something in the buffer to go on with. */
static void advance(struct connection *c)
{
    for (;;) {
        if (c->state == READING_HEAD) {
            int rc = request_head(&c->request, &c->in);
            if (rc < 0)
                end(c, true);
            if (rc <= 0)
                return;
            take_head(c);
        } else if (c->state == READING_BODY) {
            if (!request_body(&c->request, &c->in))
                return;
            record_complete(c->record, c->nth, c->request.got);
            start_answer(c);
        } else if (c->state == STALLED || !play(c)) {
            return;
        }
    }
}

static bool receive(struct connection *c)
{
    char piece[PIECE];
    ssize_t n;
    while ((n = recv(c->fd, piece, sizeof piece, 0)) > 0)
        bytes_add(&c->in, piece, (size_t)n);
    return n < 0 && errno == EAGAIN;
}

void connection_ready(int fd, uint32_t events)
{
    struct connection *c = by_fd[fd];
    if (!c)
        return;
    const uint32_t in = EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    if ((events & in) && !receive(c)) {
        end(c, false);
        return;
    }
    advance(c);
}

int connections_wait_ms(void)
{
    int64_t first = INT64_MAX, now = now_ns();
    if (n_pausing == 0)
        return -1;
    for (struct connection *c = all; c; c = c->after)
        if (c->due_ns && c->due_ns < first)
            first = c->due_ns;
    return first <= now ? 0 : (int)((first - now + 999999) / 1000000);
}

void connections_due(void)
{
    struct connection *c, *after;
    int64_t now = n_pausing ? now_ns() : 0;
    for (c = n_pausing ? all : NULL; c; c = after) {
        after = c->after;
        if (c->due_ns && c->due_ns <= now) {
            end_pause(c);
            advance(c);
        }
    }
}

void connections_free(void)
{
    while (all)
        end(all, false);
}
