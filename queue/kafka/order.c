/* Lines by due time, and chains of keys. */
#include "queue/kafka/order.h"

#include <stdlib.h>
#include <string.h>

int kf_order_init(struct kf_order *o)
{
    *o = (struct kf_order){ .keys = calloc(KF_BUCKETS, sizeof(struct kf_key *)) };
    return o->keys ? 0 : -1;
}

void kf_order_done(struct kf_order *o)
{
    for (int i = 0; o->keys && i < KF_BUCKETS; i++)
        for (struct kf_key *k = o->keys[i], *next; k; k = next) {
            next = k->next;
            free(k);
        }
    free(o->keys);
    free(o->fresh.at);
    free(o->retries.at);
}

/* ===== lines ===== */

static bool is_earlier(const struct kf_slot *a, const struct kf_slot *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->turn < b->turn;
}

static void sink(struct kf_line *l, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
            if (child < l->n && is_earlier(l->at[child], l->at[least]))
                least = child;
        if (least == i)
            return;
        struct kf_slot *s = l->at[i];
        l->at[i] = l->at[least];
        l->at[least] = s;
        i = least;
    }
}

static int push(struct kf_line *l, struct kf_slot *s)
{
    if (l->n == l->size) {
        size_t size = l->size ? 2 * l->size : 256;
        struct kf_slot **more = realloc(l->at, size * sizeof *more);
        if (!more)
            return -1;
        l->at = more;
        l->size = size;
    }
    size_t i = l->n++;
    for (; i > 0 && is_earlier(s, l->at[(i - 1) / 2]); i = (i - 1) / 2)
        l->at[i] = l->at[(i - 1) / 2];
    l->at[i] = s;
    s->in_line = true;
    return 0;
}

struct kf_slot *kf_first(const struct kf_line *line)
{
    return line->n ? line->at[0] : NULL;
}

struct kf_slot *kf_pop(struct kf_line *line)
{
    struct kf_slot *s = kf_first(line);

    if (!s)
        return NULL;
    line->at[0] = line->at[--line->n];
    sink(line, 0);
    s->in_line = false;
    return s;
}

static void take_out(struct kf_line *line, const struct kf_slot *one,
                     const struct kf_lane *lane)
{
    size_t n = 0;

    for (size_t i = 0; i < line->n; i++) {
        struct kf_slot *s = line->at[i];
        if (s == one || (lane && s->window->lane == lane))
            s->in_line = false;
        else
            line->at[n++] = s;
    }
    line->n = n;
    for (size_t i = n / 2 + 1; i-- > 0 && n > 0;)
        if (i < n)
            sink(line, i);
}

void kf_unline(struct kf_order *o, struct kf_slot *s)
{
    if (!s->in_line)
        return;
    take_out(&o->fresh, s, NULL);
    take_out(&o->retries, s, NULL);
}

int kf_line_up(struct kf_order *o, struct kf_slot *s)
{
    if (s->in_line || s->stage != KF_WAITING || (s->key && s->key->first != s))
        return 0;
    return push(s->attempt > 0 ? &o->retries : &o->fresh, s);
}

/* ===== keys ===== */

static struct kf_key **bucket(struct kf_order *o, const char *text, size_t len)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return &o->keys[h % KF_BUCKETS];
}

static struct kf_key *find_key(struct kf_order *o, const char *text, size_t len)
{
    struct kf_key **at = bucket(o, text, len), *k;

    for (k = *at; k; k = k->next)
        if (k->len == len && memcmp(k->text, text, len) == 0)
            return k;
    k = calloc(1, sizeof *k + len + 1);
    if (!k)
        return NULL;
    memcpy(k->text, text, len);
    k->len = len;
    k->next = *at;
    *at = k;
    return k;
}

static void drop_key(struct kf_order *o, struct kf_key *k)
{
    struct kf_key **at = bucket(o, k->text, k->len);

    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    free(k);
}

/* Mostly at the end: that is where we begin to look. */
static void link_in(struct kf_key *k, struct kf_slot *s)
{
    struct kf_slot *before = k->last;

    while (before && before->place > s->place)
        before = before->before;
    s->key = k;
    s->before = before;
    s->behind = before ? before->behind : k->first;
    if (s->before)
        s->before->behind = s;
    else
        k->first = s;
    if (s->behind)
        s->behind->before = s;
    else
        k->last = s;
}

int kf_enter(struct kf_order *o, struct kf_slot *s, const char *key, size_t len)
{
    struct kf_key *k = len ? find_key(o, key, len) : NULL;

    s->turn = ++o->turns;
    if (len && !k)
        return -1;
    if (k) {
        link_in(k, s);
        if (k->first == s && s->behind)
            kf_unline(o, s->behind);
    }
    return kf_line_up(o, s);
}

void kf_leave(struct kf_order *o, struct kf_slot *s)
{
    struct kf_key *k = s->key;

    kf_unline(o, s);
    if (!k)
        return;
    if (s->before)
        s->before->behind = s->behind;
    else
        k->first = s->behind;
    if (s->behind)
        s->behind->before = s->before;
    else
        k->last = s->before;
    s->before = s->behind = NULL;
    s->key = NULL;
    if (!k->first)
        drop_key(o, k);
    else
        (void)kf_line_up(o, k->first);
}

void kf_forget(struct kf_order *o, const struct kf_lane *lane)
{
    take_out(&o->fresh, NULL, lane);
    take_out(&o->retries, NULL, lane);
    for (int t = 0; t < KF_TOPICS; t++)
        for (int i = 0; lane->windows[t].slots && i < KF_WINDOW; i++) {
            struct kf_slot *s = lane->windows[t].slots[i];
            if (s && s != &kf_gone && s->key)
                kf_leave(o, s);
        }
    /* what kf_leave() has lined up in between belongs to the lane, too */
    take_out(&o->fresh, NULL, lane);
    take_out(&o->retries, NULL, lane);
}
