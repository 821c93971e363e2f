/* The blocking driver: curl_easy_perform(), as often as the policy says.
 *
 * The plain case stays on the handle's own connection cache, and costs little
 * more than bare libcurl. It cannot do two things: run two transfers
 * concurrently, and be stopped in the middle of one from another thread. The
 * multi driver runs calls that need either. */
#include "bide/error.h"
#include "curl/transfer.h"
#include "lib/sized.h"

enum { LOOK_NS = 1000 * 1000, ROOM = 1024 };

/* The queue for a place is for short waits, and no one signals a free place. */
static int64_t wait(const bide_decision *d, int64_t now)
{
    int64_t at = d->at_ns;
    if (d->reason == BIDE_BECAUSE_QUEUED && at - now > LOOK_NS)
        at = now + LOOK_NS;
    bide_sleep_until(at, NULL);
    return bide_now_ns();
}

/* Most responses are short, and are held back in `room`. That of the previous
 * attempt may still be there: it is not needed once the next has begun. */
static int64_t attempt(struct bide__curl_call *c, const bide_decision *d,
                       char room[ROOM])
{
    struct bide__transfer t;
    bide__transfer_start(&t, c, c->easy, d);
    t.answer.body = (struct bide__bytes){ .at = room, .cap = ROOM,
                                          .lent = true };
    CURLcode code = curl_easy_perform(c->easy);
    int64_t now = bide_now_ns();
    bide__transfer_end(&t, code, now);
    return now;
}

static CURLcode perform_alone(bide_dep *dep, CURL *easy,
                              const bide_curl_opts *opts)
{
    struct bide__curl_call c;
    bide_decision d;
    char room[ROOM];
    int64_t now = bide_now_ns();

    bide__curl_begin(&c, dep, easy, opts, now);
    while ((d = bide__curl_decide(&c, now)).action != BIDE_DONE) {
        if (d.action == BIDE_WAIT)
            now = wait(&d, now);
        else
            now = attempt(&c, &d, room);
    }
    bide__curl_finish(&c, d.reason, now);
    return c.result.code;
}

static void keep_code(void *ctx, CURL *easy, const bide_curl_result *result)
{
    (void)easy;
    *(CURLcode *)ctx = result->code;
}

static CURLcode perform_in_multi(bide_dep *dep, CURL *easy,
                                 const bide_curl_opts *opts)
{
    bide_curl_multi *multi;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    if (bide_curl_multi_new(&multi) < 0)
        return code;
    if (bide_curl_multi_add(multi, dep, easy, opts, keep_code, &code) == 0)
        bide_curl_multi_run(multi, BIDE_FOREVER);
    bide_curl_multi_free(multi);
    return code;
}

CURLcode bide_curl_perform_sized(bide_dep *dep, CURL *easy,
                                 const bide_curl_opts *opts, size_t size)
{
    bide_curl_opts room;
    if (!dep || !easy)
        return CURLE_BAD_FUNCTION_ARGUMENT;
    if (opts && !(opts = bide__sized_in(opts, size, &room, sizeof room)))
        return CURLE_BAD_FUNCTION_ARGUMENT;
    if (bide_dep_policy(dep)->hedge.max != 0 || (opts && opts->cancel))
        return perform_in_multi(dep, easy, opts);
    return perform_alone(dep, easy, opts);
}
