/* Reading and writing the attribute `bide`. */
#include "queue/sqs/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "queue/foreign.h"

static void read_id(struct sq_value v, char to[QUEUE_ID_MAX + 1])
{
    size_t len = 0;
    char *text = sq_text(v, &len);

    if (text && len > 0)
        foreign_id(to, text, len);
    free(text);
}

static uint32_t count(struct sq_value in, const char *name)
{
    int64_t n = sq_number(sq_member(in, name), 0);

    return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static void read_counts(struct sq_state *s, struct sq_value in)
{
    s->attempt = count(in, "attempt");
    s->delivered = count(in, "delivered");
    s->deaths = count(in, "deaths");
    s->generation = count(in, "generation");
    s->suspect = count(in, "suspect") != 0;
    s->unsure = count(in, "unsure") != 0;
    s->base64 = count(in, "base64") != 0;
    s->queued_ms = sq_number(sq_member(in, "queued"), 0);
    s->wait_ms = sq_number(sq_member(in, "wait"), 0);
    s->died_ms = sq_number(sq_member(in, "died"), 0);
    s->lock_until_ms = sq_number(sq_member(in, "locked"), 0);
    sq_copy(sq_member(in, "reason"), s->reason, sizeof s->reason);
    sq_copy(sq_member(in, "class"), s->cls, sizeof s->cls);
}

int sq_state_read(struct sq_state *s, struct sq_value message)
{
    struct sq_value attributes = sq_member(message, "MessageAttributes");
    struct sq_value ours =
        sq_member(sq_member(attributes, "bide"), "StringValue");
    struct sq_value id =
        sq_member(sq_member(attributes, "bide.id"), "StringValue");
    size_t len = 0;

    *s = (struct sq_state){ .native = attributes };
    read_id(id, s->id);
    if (ours.len > 0) {
        s->text = sq_text(ours, &len);
        struct sq_value in = { s->text, s->text ? len : 0 };
        read_counts(s, in);
        read_id(sq_member(in, "id"), s->id);
        read_id(sq_member(in, "key"), s->key);
        read_id(sq_member(in, "trial"), s->trial);
        s->errors = sq_text(sq_member(in, "errors"), NULL);
        s->packed = sq_member(in, "attributes");
        s->lock = sq_member(in, "lock");
        s->tail = sq_member(in, "tail");
        if (sq_member(in, "native").len > 0) {
            s->native = sq_member(in, "native");
            s->native_inside = true;
        }
        if (!s->text)
            return -1;
    }
    if (!*s->id)
        read_id(sq_member(message, "MessageId"), s->id);
    return 0;
}

static void put_count(struct bide__json *j, const char *name, int64_t n)
{
    if (n)
        bide__json_integer(j, name, n);
}

static void put_value(struct bide__json *j, const char *name, struct sq_value v)
{
    char *text = v.len ? sq_raw_copy(v) : NULL;

    if (text)
        bide__json_raw(j, name, text);
    free(text);
}

void sq_state_write(const struct sq_state *s, struct bide__out *out,
                    enum sq_state_part part)
{
    struct bide__json j;

    bide__json_into(&j, out);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "id", s->id);
    if (*s->key)
        bide__json_text(&j, "key", s->key);
    put_count(&j, "attempt", s->attempt);
    put_count(&j, "delivered", s->delivered);
    put_count(&j, "deaths", s->deaths);
    put_count(&j, "generation", s->generation);
    put_count(&j, "suspect", s->suspect);
    put_count(&j, "unsure", s->unsure);
    put_count(&j, "base64", s->base64);
    put_count(&j, "queued", s->queued_ms);
    put_count(&j, "wait", s->wait_ms);
    if (*s->reason) {
        bide__json_text(&j, "reason", s->reason);
        bide__json_text(&j, "class", s->cls);
        bide__json_integer(&j, "died", s->died_ms);
    }
    if (*s->trial)
        bide__json_text(&j, "trial", s->trial);
    if (s->lock.len) {
        put_value(&j, "lock", s->lock);
        bide__json_integer(&j, "locked", s->lock_until_ms);
    }
    put_value(&j, "attributes", s->packed);
    if (s->native_inside)
        put_value(&j, "native", s->native);
    if (part < SQ_STATE_SHORT && s->errors && *s->errors)
        bide__json_text(&j, "errors", s->errors);
    if (part < SQ_STATE_NO_TAIL)
        put_value(&j, "tail", s->tail);
    bide__json_end(&j);
}

void sq_state_done(struct sq_state *s)
{
    free(s->errors);
    free(s->text);
}
