/* How long a client may take while it is being served: to send its body, to
 * read its response, and in total.
 *
 * Time runs only while we wait for the client. Each direction has its own pace
 * (pace.h); the client's one timer is set to what is due first. */
#include "config/proxy/conf.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

enum { LOOKS = 4 }; /* polls of a slow reader, in timeouts.write */

static int64_t now_of(const struct exchange *ex)
{
    return ex->worker->loop.now_ns;
}

/* A request in progress keeps the configuration that it began with. */
const struct bide__proxy_conf *exchange_conf(const struct exchange *ex)
{
    return ex->generation ? ex->generation->conf : ex->worker->conf;
}

/* When it must be over. Our own response about that may still be read. */
static int64_t request_end(const struct exchange *ex)
{
    bool own = ex->phase == EXCHANGE_ANSWER && !ex->winner;
    return own ? BIDE_FOREVER
               : net_after(ex->begin_ns,
                           exchange_conf(ex)->timeouts.request_ns);
}

/* A body that takes longer than the call may is too slow, too. */
static int64_t upload_end(const struct exchange *ex)
{
    int64_t deadline =
        exchange_is_called(ex) ? bide_call_deadline(&ex->call) : BIDE_FOREVER;
    int64_t due = pace_due(&ex->up);
    return due < deadline ? due : deadline;
}

/* Only the kernel sees a client read, so it is polled. */
static int64_t next_look(const struct exchange *ex)
{
    int64_t due = pace_due(&ex->down);
    int64_t look = net_after(ex->down.from_ns,
                             exchange_conf(ex)->timeouts.write_ns / LOOKS);
    return look < due ? look : due;
}

void exchange_await(struct exchange *ex)
{
    int64_t at = request_end(ex);
    if (pace_runs(&ex->up) && upload_end(ex) < at)
        at = upload_end(ex);
    if (pace_runs(&ex->down) && next_look(ex) < at)
        at = next_look(ex);
    client_until(ex->client, at);
}

/* An attempt that has begun is judged by the engine. */
void exchange_too_slow(struct exchange *ex)
{
    count(&ex->worker->counters.timed_out);
    if (exchange_is_called(ex) && ex->running) {
        attempt_fail(ex->running, BIDE_FAULT_UPLOAD);
        return;
    }
    ex->reason = BIDE_BECAUSE_UPLOAD;
    own_answer_with(ex, 408, "upload", "Request Timeout",
                    "the request came too slowly");
}

static void request_over(struct exchange *ex)
{
    ex->reason = BIDE_BECAUSE_DEADLINE;
    own_answer_with(ex, 504, "request_timeout", "Gateway Timeout",
                    "the request took longer than timeouts.request");
}

void exchange_late(struct exchange *ex)
{
    int64_t now = now_of(ex);
    bool over = request_end(ex) <= now;
    if (ex->phase == EXCHANGE_ANSWER && over)
        exchange_cut(ex);
    else if (over && ex->upload == UPLOAD_NONE)
        request_over(ex);
    else if (over || (pace_runs(&ex->up) && upload_end(ex) <= now))
        exchange_too_slow(ex);
    else
        answer_slow(ex);
}
