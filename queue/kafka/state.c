/* The text of a partition's state: "bide1 WORKER RUNNING|marks|done". A mark is
 * "index.deliveries.deaths.flags"; what is done is written as lengths, in turn not
 * done and done, or as bits in base64 behind a '=' where that is shorter. */
#include "queue/kafka/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                             "0123456789-_";

enum { BITS_TEXT = KF_WINDOW / 6 + 2 };

const struct kf_mark *kf_state_mark(const struct kf_state *s, int64_t offset)
{
    for (size_t i = 0; i < s->n_marks; i++)
        if (s->marks[i].offset == offset)
            return &s->marks[i];
    return NULL;
}

void kf_state_add_mark(struct kf_state *s, const struct kf_mark *m)
{
    size_t i = 0;

    if (s->n_marks < KF_MARKS) {
        s->marks[s->n_marks++] = *m;
        return;
    }
    if (!kf_mark_matters(m))
        return;
    while (i < KF_MARKS && kf_mark_matters(&s->marks[i]))
        i++;
    if (i < KF_MARKS)
        s->marks[i] = *m;
}

/* ===== writing ===== */

static bool bit(const struct kf_state *s, int i)
{
    return s->done[i / 8] >> (i % 8) & 1;
}

static int last_done(const struct kf_state *s)
{
    int i = KF_WINDOW - 1;

    while (i >= 0 && !s->done[i / 8])
        i -= 8;
    while (i >= 0 && !bit(s, i))
        i--;
    return i;
}

/* False: longer than the bits would be. */
static bool write_lengths(char *to, const struct kf_state *s, int last)
{
    size_t len = 0;
    bool now = false;

    for (int i = 0; i <= last; now = !now) {
        int from = i;
        while (i <= last && bit(s, i) == now)
            i++;
        if (len + 8 > (size_t)last / 6 + 8)
            return false;
        len += (size_t)snprintf(to + len, 8, "%s%d", len ? "." : "", i - from);
    }
    return true;
}

static void write_bits(char *to, const struct kf_state *s, int last)
{
    size_t len = 0;

    to[len++] = '=';
    for (int i = 0; i <= last; i += 6) {
        unsigned six = 0;
        for (int j = 0; j < 6 && i + j <= last; j++)
            six |= (unsigned)bit(s, i + j) << j;
        to[len++] = digits[six];
    }
    to[len] = '\0';
}

/* Behind what it wrote. By hand: a commit has hundreds of them. */
static char *write_number(char *to, int64_t n)
{
    char reversed[20];
    size_t len = 0;

    do {
        reversed[len++] = (char)('0' + n % 10);
    } while ((n /= 10) > 0);
    while (len > 0)
        *to++ = reversed[--len];
    return to;
}

static uint32_t at_most(uint32_t n)
{
    return n < KF_COUNT ? n : KF_COUNT;
}

enum { MARK_TEXT = 24 }; /* "8191.99999.99999.sr," */

/* False: no room. */
static bool write_marks(char *to, size_t room, const struct kf_state *s, bool all)
{
    const char *end = to + room;
    char *at = to;

    for (size_t i = 0; i < s->n_marks; i++) {
        const struct kf_mark *m = &s->marks[i];
        if (!all && !kf_mark_matters(m))
            continue;
        if (end - at < MARK_TEXT) {
            *at = '\0';
            return false;
        }
        if (at > to)
            *at++ = ',';
        at = write_number(at, m->offset - s->base);
        *at++ = '.';
        at = write_number(at, at_most(m->deliveries));
        *at++ = '.';
        at = write_number(at, at_most(m->deaths));
        *at++ = '.';
        if (m->suspect)
            *at++ = 's';
        if (m->running)
            *at++ = 'r';
    }
    *at = '\0';
    return true;
}

void kf_state_write(char to[KF_STATE_TEXT], const struct kf_state *s)
{
    char done[BITS_TEXT + 16] = "";
    char marks[KF_STATE_TEXT - BITS_TEXT - 48];
    int last = last_done(s);

    if (last >= 0 && !write_lengths(done, s, last))
        write_bits(done, s, last);
    if (!write_marks(marks, sizeof marks, s, true))
        (void)write_marks(marks, sizeof marks, s, false);
    snprintf(to, KF_STATE_TEXT, "bide1 %s %u|%s|%s", *s->worker ? s->worker : "-",
             s->n_running, marks, done);
}

/* ===== reading ===== */

static int read_marks(struct kf_state *s, const char *at, const char *end)
{
    while (at < end) {
        long long index;
        unsigned deliveries, deaths;
        int used = 0;
        if (s->n_marks == KF_MARKS ||
            sscanf(at, "%lld.%u.%u.%n", &index, &deliveries, &deaths, &used) < 3 ||
            used == 0 || index < 0 || index >= KF_WINDOW)
            return -1;
        struct kf_mark *m = &s->marks[s->n_marks++];
        *m = (struct kf_mark){ .offset = s->base + index,
                               .deliveries = deliveries,
                               .deaths = deaths };
        for (at += used; at < end && *at != ','; at++) {
            m->suspect = m->suspect || *at == 's';
            m->running = m->running || *at == 'r';
        }
        at += at < end;
    }
    return 0;
}

static int read_lengths(struct kf_state *s, const char *at)
{
    bool now = false;
    long i = 0;

    while (*at) {
        char *end;
        long n = strtol(at, &end, 10);
        if (end == at || n < 0 || i + n > KF_WINDOW)
            return -1;
        for (; n > 0; n--, i++)
            if (now)
                kf_state_set_done(s, s->base + i);
        now = !now;
        at = end + (*end == '.');
    }
    return 0;
}

static int read_bits(struct kf_state *s, const char *at)
{
    for (int i = 0; *at; i += 6, at++) {
        const char *digit = strchr(digits, *at);
        if (!digit)
            return -1;
        for (int j = 0; j < 6; j++)
            if ((digit - digits) >> j & 1) {
                if (i + j >= KF_WINDOW)
                    return -1;
                kf_state_set_done(s, s->base + i + j);
            }
    }
    return 0;
}

int kf_state_read(struct kf_state *s, int64_t base, const char *text)
{
    int used = 0;

    *s = (struct kf_state){ .base = base };
    if (sscanf(text, "bide1 %8s %u|%n", s->worker, &s->n_running, &used) < 2 ||
        used == 0)
        goto foreign;
    const char *marks = text + used, *done = strchr(marks, '|');
    if (!done || read_marks(s, marks, done) != 0 ||
        (done[1] == '=' ? read_bits(s, done + 2) : read_lengths(s, done + 1)) != 0)
        goto foreign;
    if (strcmp(s->worker, "-") == 0)
        s->worker[0] = '\0';
    return 0;
foreign:
    *s = (struct kf_state){ .base = base };
    return -1;
}
