/* Fills in events: of an attempt, a decision, a call, a breaker; and their
 * texts. */
#include "observe/event/event.h"

#include <string.h>

#include "base/utf8.h"

size_t bide__event_fits(const char *text, size_t len, size_t size)
{
    return len < size ? len : bide__utf8_cut(text, size - 1);
}

void bide__event_put(struct bide__event *e, enum bide__event_text which,
                     const char *text, size_t len)
{
    static const uint16_t sizes[] = {
#define X(name, size) size,
        BIDE__EVENT_TEXTS(X)
#undef X
    };
    size_t at = e->used ? e->used : 1, size = sizes[which];

    if (size > sizeof e->texts - at) /* it was already set */
        size = sizeof e->texts - at;
    if (size == 0 || (len = bide__event_fits(text, len, size)) == 0)
        return;
    memcpy(e->texts + at, text, len);
    e->texts[at + len] = '\0';
    e->at[which] = (uint16_t)at;
    e->len[which] = (uint16_t)len;
    e->used = (uint16_t)(at + len + 1);
}

/* All zero, except for the texts: most of an event is room for those, and each
 * traced request makes two events. */
static void start(struct bide__event *e, enum bide__event_kind kind,
                  int64_t begin_ns, int64_t end_ns)
{
    memset(e, 0, offsetof(struct bide__event, texts) + 1);
    e->kind = (uint8_t)kind;
    e->begin_ns = begin_ns;
    e->end_ns = end_ns;
}

static void set_outcome(struct bide__event *e, const bide_outcome *outcome)
{
    e->cls = (uint8_t)outcome->cls;
    e->fault = (uint8_t)outcome->fault;
    e->status = (uint16_t)outcome->status;
    e->hinted = outcome->hinted;
    e->hint_ns = outcome->hinted ? outcome->hint_ns : 0;
    e->not_processed = outcome->not_processed;
}

void bide__event_attempt(struct bide__event *e, uint32_t attempt,
                         bide_reason why, const bide_outcome *outcome,
                         int64_t begin_ns, int64_t end_ns)
{
    start(e, BIDE__EVENT_ATTEMPT, begin_ns, end_ns);
    e->why = (uint8_t)why;
    e->action = BIDE_DONE;
    e->reason = BIDE_BECAUSE_SUCCESS;
    e->attempt = attempt;
    set_outcome(e, outcome);
}

void bide__event_decision(struct bide__event *e, const bide_decision *decision,
                          const bide_verdict *verdict)
{
    e->action = (uint8_t)decision->action;
    e->reason = (uint8_t)decision->reason;
    if (verdict) {
        e->value_ns = verdict->value_ns;
        e->wait_ns = verdict->wait_ns;
    }
}

void bide__event_call(struct bide__event *e, uint32_t attempts,
                      bide_reason reason, const bide_outcome *last,
                      int64_t begin_ns, int64_t end_ns)
{
    start(e, BIDE__EVENT_CALL, begin_ns, end_ns);
    e->action = BIDE_DONE;
    e->reason = (uint8_t)reason;
    e->attempt = attempts;
    e->cls = BIDE_IGNORED; /* unless there was an attempt: nothing happened */
    if (last)
        set_outcome(e, last);
}

void bide__event_breaker(struct bide__event *e, const char *dep,
                         bide_breaker_state from, bide_breaker_state to,
                         int64_t now_ns)
{
    start(e, BIDE__EVENT_BREAKER, now_ns, now_ns);
    e->from = (uint8_t)from;
    e->to = (uint8_t)to;
    bide__event_put(e, BIDE__DEP, dep, strlen(dep));
}

bool bide__event_decides(const struct bide__event *e)
{
    if (e->reason == BIDE_BECAUSE_SUCCESS || e->kind == BIDE__EVENT_BREAKER)
        return false;
    return e->kind == BIDE__EVENT_ATTEMPT || e->attempt == 0 ||
           e->reason == BIDE_BECAUSE_CUT_SHORT;
}

bool bide__event_saved(const struct bide__event *e)
{
    return e->kind == BIDE__EVENT_ATTEMPT && e->attempt > 1 &&
           e->why != BIDE_BECAUSE_HEDGE && e->reason == BIDE_BECAUSE_SUCCESS &&
           e->cls == BIDE_SUCCESS;
}
