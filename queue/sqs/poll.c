/* A libcurl multi handle whose sockets and timer are in one epoll descriptor. */
#include "queue/sqs/poll.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "queue/sqs/hands.h"
#include "queue/sqs/receive.h"

enum { WAIT_S = 20, TIMEOUT_S = WAIT_S + 5 };

struct sq_poll {
    CURLM *multi;
    CURL *easy;
    int epoll, timer;
    bool out;
    int64_t silent_ns; /* until then no answer had come */
    struct curl_slist *fields;
    struct bide__out request, answer;
};

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *ctx,
                        void *of_socket)
{
    struct sq_poll *p = ctx;
    struct epoll_event e = { .data.fd = fd };

    (void)easy, (void)of_socket;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(p->epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    e.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
               (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (epoll_ctl(p->epoll, EPOLL_CTL_MOD, fd, &e) != 0)
        epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &e);
    return 0;
}

static int set_timer(CURLM *multi, long ms, void *ctx)
{
    struct sq_poll *p = ctx;
    struct itimerspec at = { .it_value = { 0, 0 } };

    (void)multi;
    if (ms == 0)
        at.it_value.tv_nsec = 1;
    else if (ms > 0)
        at.it_value = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
    timerfd_settime(p->timer, 0, &at, NULL);
    return 0;
}

/* A connection that is cut without a word is noticed in 9 s, not in 2 h. */
static int set_socket(void *ctx, curl_socket_t fd, curlsocktype type)
{
    int on = 1, idle = 5, between = 2, count = 2;

    (void)ctx, (void)type;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    return CURL_SOCKOPT_OK;
}

struct sq_poll *sq_poll_new(void)
{
    struct sq_poll *p = calloc(1, sizeof *p);
    struct epoll_event e = { .events = EPOLLIN };

    if (!p)
        return NULL;
    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    p->multi = curl_multi_init();
    p->easy = curl_easy_init();
    e.data.fd = p->timer;
    if (!p->multi || !p->easy || p->epoll < 0 || p->timer < 0 ||
        epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->timer, &e) != 0) {
        sq_poll_free(p);
        return NULL;
    }
    curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p);
    curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p);
    return p;
}

static void end(struct sq_poll *p)
{
    if (p->out)
        curl_multi_remove_handle(p->multi, p->easy);
    p->out = false;
    curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(p->fields);
    p->fields = NULL;
}

void sq_poll_free(struct sq_poll *p)
{
    if (!p)
        return;
    if (p->easy)
        end(p);
    curl_easy_cleanup(p->easy);
    curl_multi_cleanup(p->multi);
    if (p->epoll >= 0)
        close(p->epoll);
    if (p->timer >= 0)
        close(p->timer);
    bide__out_done(&p->request);
    bide__out_done(&p->answer);
    free(p);
}

int sq_poll_fd(const struct sq_poll *p)
{
    return p->epoll;
}

bool sq_poll_is_out(const struct sq_poll *p)
{
    return p && p->out;
}

static size_t stashed(const struct sqs_broker *q)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n_hands; i++)
        n += q->hands[i].stashed;
    return n;
}

void sq_poll_start(struct sqs_broker *q)
{
    struct sq_poll *p = q->poll;
    size_t most = q->hungry > stashed(q) ? q->hungry - stashed(q) : 0;
    int running;

    if (!p || p->out || most == 0)
        return;
    struct bide__json *j = sq_begin(q, SQ_MAIN);
    sq_put_receive(q, j, most, WAIT_S);
    bide__json_end(j);
    bide__out_clear(&p->request);
    bide__out_clear(&p->answer);
    bide__out_bytes(&p->request, q->request.data, q->request.len);
    p->fields = sq_fields(q, "ReceiveMessage");
    if (q->request.failed || p->request.failed || !p->fields) {
        end(p);
        return;
    }
    curl_easy_reset(p->easy);
    sq_set_options(q, p->easy, p->fields, &p->request);
    curl_easy_setopt(p->easy, CURLOPT_WRITEDATA, &p->answer);
    curl_easy_setopt(p->easy, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
    curl_easy_setopt(p->easy, CURLOPT_SOCKOPTFUNCTION, set_socket);
    p->silent_ns = sq_now();
    p->out = curl_multi_add_handle(p->multi, p->easy) == CURLM_OK;
    if (!p->out)
        end(p);
    else
        curl_multi_socket_action(p->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

static void act(struct sq_poll *p)
{
    struct epoll_event events[8];
    uint64_t ticks;
    int running;
    int n = epoll_wait(p->epoll, events, 8, 0);

    for (int i = 0; i < n; i++) {
        if (events[i].data.fd == p->timer) {
            (void)!read(p->timer, &ticks, sizeof ticks);
            curl_multi_socket_action(p->multi, CURL_SOCKET_TIMEOUT, 0,
                                     &running);
            continue;
        }
        int what = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR
                                                             : 0);
        curl_multi_socket_action(p->multi, events[i].data.fd, what, &running);
    }
}

/* Their hiding has begun when SQS handed them out: after we last found that no
 * answer had come. A worker that was frozen since then finds it over. */
static int ended(struct sqs_broker *q, CURLcode code)
{
    struct sq_poll *p = q->poll;
    struct sq_value answer;
    long status = 0;

    curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    int result = sq_judge(q, p->easy, code, status, &p->answer, &answer);
    end(p);
    if (result != 0) {
        if (code != CURLE_OK)
            q->doubt_until_ns = sq_now() + sq_hidden_ns(q) + 30 * SQ_S;
        return 0; /* the next request says it, if it is still so */
    }
    return sq_admit(q, SQ_MAIN, answer, p->silent_ns);
}

int sq_poll_drive(struct sqs_broker *q)
{
    struct sq_poll *p = q->poll;
    int64_t begun = sq_now();
    CURLMsg *m;
    int left;

    if (!sq_poll_is_out(p))
        return 0;
    act(p);
    while ((m = curl_multi_info_read(p->multi, &left)))
        if (m->msg == CURLMSG_DONE)
            return ended(q, m->data.result);
    p->silent_ns = begun;
    return 0;
}
