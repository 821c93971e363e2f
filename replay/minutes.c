/* The books and the report of a log that went through a policy. */
#include <stdlib.h>

#include "base/json.h"
#include "base/people.h"
#include "replay/answer.h"
#include "replay/log.h"
#include "replay/summary.h"
#include "replay/instant.h"
#include "replay/traffic.h"

/* ===== books ===== */

/* Makes room for one more; false if there is no memory. */
static bool make_room(void **list, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity)
        return true;
    size_t more = *capacity ? 2 * *capacity : 64;
    void *bigger = realloc(*list, more * size);
    if (!bigger)
        return false;
    *list = bigger;
    *capacity = more;
    return true;
}

/* Time only goes on, so it is the last one, or a new one. */
struct minute *traffic_minute(struct traffic *t, int64_t at_ns)
{
    int64_t begin = at_ns - at_ns % BIDE_MINUTE;
    void *list = t->minutes;
    if (t->n_minutes && t->minutes[t->n_minutes - 1].at_ns == begin)
        return &t->minutes[t->n_minutes - 1];
    if (!make_room(&list, t->n_minutes, &t->minutes_capacity,
                   sizeof t->minutes[0])) {
        t->no_memory = true;
        return NULL;
    }
    t->minutes = list;
    t->minutes[t->n_minutes] = (struct minute){ .at_ns = begin };
    return &t->minutes[t->n_minutes++];
}

void traffic_open(struct traffic *t, int64_t from_ns, int64_t until_ns)
{
    void *list = t->open;
    if (!make_room(&list, t->n_open, &t->open_capacity, sizeof t->open[0])) {
        t->no_memory = true;
        return;
    }
    t->open = list;
    t->open[t->n_open++] = (struct open_time){ from_ns, until_ns };
}

void traffic_done(struct traffic *t)
{
    free(t->minutes);
    free(t->open);
    t->minutes = NULL;
    t->open = NULL;
}

/* How long the breaker was open between two times since 1970. *from is the
 * first opening that may matter; it moves on with the minutes. */
static int64_t open_between(const struct traffic *t, int64_t lo, int64_t hi,
                            size_t *from)
{
    int64_t sum = 0;
    while (*from < t->n_open && t->origin_ns + t->open[*from].until_ns <= lo)
        (*from)++;
    for (size_t i = *from; i < t->n_open; i++) {
        int64_t begin = t->origin_ns + t->open[i].from_ns;
        int64_t end = t->origin_ns + t->open[i].until_ns;
        if (begin >= hi)
            break;
        begin = begin > lo ? begin : lo;
        end = end < hi ? end : hi;
        sum += end > begin ? end - begin : 0;
    }
    return sum;
}

int64_t traffic_open_time(const struct traffic *t)
{
    size_t from = 0;
    return open_between(t, t->origin_ns, t->origin_ns + t->end_ns, &from);
}

/* Steps of a length that people count in, so many that a picture has detail. */
void traffic_divide(struct traffic *t, int64_t length_ns)
{
    static const int seconds[] = { 1,   2,   5,   10,   15,   30,   60,
                                   120, 300, 600, 1800, 3600, 86400 };
    size_t i = 0;
    for (t->step_ns = BIDE_SECOND; length_ns / t->step_ns >= TRAFFIC_STEPS_MAX;)
        t->step_ns = ++i < sizeof seconds / sizeof seconds[0]
                         ? seconds[i] * BIDE_SECOND
                         : 2 * t->step_ns;
    t->n_steps = (size_t)(length_ns / t->step_ns) + 1;
}

/* What comes after the log belongs to its last step. */
struct step *traffic_step(struct traffic *t, int64_t at_ns)
{
    size_t i = (size_t)(at_ns / t->step_ns);
    return &t->steps[i < t->n_steps ? i : t->n_steps - 1];
}

/* ===== the report ===== */

const char traffic_assumes[] =
    "each line is a call whose first attempt began at its time; a retry meets "
    "what the next line after its start met, other than answers about one "
    "request alone; what the policy adds or spares changes nothing for other "
    "lines";

double traffic_extra(uint64_t attempts, uint64_t calls)
{
    return calls ? ((double)attempts - (double)calls) / (double)calls : 0;
}

static void json_reasons(struct bide__json *j, const char *key,
                         const uint64_t *n)
{
    bide__json_object(j, key);
    for (int i = 0; i < BIDE_N_REASONS; i++)
        if (n[i])
            bide__json_integer(j, bide_reason_name((bide_reason)i),
                               (int64_t)n[i]);
    bide__json_end(j);
}

static void json_minutes(const struct traffic *t)
{
    size_t from = 0;
    for (size_t i = 0; i < t->n_minutes; i++) {
        const struct minute *m = &t->minutes[i];
        struct bide__json j;
        char text[40];
        replay_time_minute(m->at_ns, text, sizeof text);
        bide__json_init(&j, t->printer->out, false);
        bide__json_object(&j, NULL);
        bide__json_text(&j, "minute", text);
        bide__json_integer(&j, "calls", (int64_t)m->calls);
        bide__json_integer(&j, "failed", (int64_t)m->failed);
        bide__json_integer(&j, "attempts", (int64_t)m->attempts);
        bide__json_integer(&j, "rescued", (int64_t)m->rescued);
        bide__json_integer(&j, "refused", (int64_t)m->refused);
        bide__json_number(
            &j, "breaker_open_ms",
            (double)open_between(t, m->at_ns, m->at_ns + BIDE_MINUTE, &from) /
                1e6);
        bide__json_end(&j);
        bide__json_done(&j);
    }
}

static void json_summary(const struct traffic *t, const struct replay_log *log,
                         const bide_stats *s)
{
    struct bide__json j;
    bide__json_init(&j, t->printer->out, false);
    bide__json_object(&j, NULL);
    bide__json_object(&j, "summary");
    replay_json_ends(&j, s);
    bide__json_number(&j, "extra_load", traffic_extra(s->attempts, s->calls));
    bide__json_integer(&j, "failed_in_log", (int64_t)t->failed);
    bide__json_integer(&j, "failed_after", (int64_t)t->lost);
    bide__json_integer(&j, "newly_failed", (int64_t)t->newly);
    bide__json_integer(&j, "retried", (int64_t)t->retried);
    bide__json_integer(&j, "rescued", (int64_t)t->rescued);
    json_reasons(&j, "given_up", t->given_up);
    json_reasons(&j, "refused", t->refused);
    bide__json_integer(&j, "refused_good", (int64_t)t->refused_good);
    bide__json_number(&j, "breaker_open_ms",
                      (double)traffic_open_time(t) / 1e6);
    bide__json_integer(&j, "lines", (int64_t)log->n_read);
    bide__json_integer(&j, "lines_not_understood", (int64_t)log->n_bad);
    bide__json_flag(&j, "latency_known", log->has_latency);
    bide__json_text(&j, "assumes", traffic_assumes);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
}

static void text_minutes(const struct traffic *t)
{
    FILE *out = t->printer->out;
    size_t from = 0;
    fprintf(out, "%-16s %9s %9s %9s %9s %9s %8s %9s\n", "MINUTE (UTC)", "CALLS",
            "FAILED", "ATTEMPTS", "RESCUED", "REFUSED", "EXTRA", "OPEN");
    for (size_t i = 0; i < t->n_minutes; i++) {
        const struct minute *m = &t->minutes[i];
        char text[40], brief[32];
        int64_t open = open_between(t, m->at_ns, m->at_ns + BIDE_MINUTE, &from);
        replay_time_minute(m->at_ns, text, sizeof text);
        fprintf(out, "%-16s %9llu %9llu %9llu %9llu %9llu %+7.1f%% %9s\n", text,
                (unsigned long long)m->calls, (unsigned long long)m->failed,
                (unsigned long long)m->attempts, (unsigned long long)m->rescued,
                (unsigned long long)m->refused,
                100 * traffic_extra(m->attempts, m->calls),
                bide__brief_duration(open, brief, sizeof brief));
    }
}

static void text_reasons(FILE *out, const char *what, const uint64_t *n)
{
    bool first = true;
    for (int i = 0; i < BIDE_N_REASONS; i++) {
        if (!n[i])
            continue;
        fprintf(out, "%s %s %llu", first ? what : ",",
                bide_reason_name((bide_reason)i), (unsigned long long)n[i]);
        first = false;
    }
    if (!first)
        fputc('\n', out);
}

static void text_summary(const struct traffic *t, const struct replay_log *log,
                         const bide_stats *s)
{
    FILE *out = t->printer->out;
    char brief[32];
    fputc('\n', out);
    replay_text_ends(out, s);
    fprintf(out, "extra load: %+.1f%%; breaker open for %s\n",
            100 * traffic_extra(s->attempts, s->calls),
            bide__brief_duration(traffic_open_time(t), brief, sizeof brief));
    fprintf(out,
            "failures in the log: %llu; calls that would have been retried: "
            "%llu, rescued: %llu\n",
            (unsigned long long)t->failed, (unsigned long long)t->retried,
            (unsigned long long)t->rescued);
    text_reasons(out, "given up after a failure:", t->given_up);
    text_reasons(out, "refused before the first attempt:", t->refused);
    if (t->refused_good)
        fprintf(out, "of the refused, %llu had worked in the log\n",
                (unsigned long long)t->refused_good);
    if (!log->has_latency)
        fprintf(out, "the log has no latency: attempts are taken to last no "
                     "time\n");
    fputc('\n', out);
    bide__print_wrapped(out, "Assumed:", 0, 0, t->printer->width);
    bide__print_wrapped(out, traffic_assumes, 0, 0, t->printer->width);
}

void traffic_print(const struct traffic *t, const struct replay_log *log)
{
    if (t->printer->json) {
        json_minutes(t);
        json_summary(t, log, &t->stats);
        return;
    }
    if (t->printer->rows)
        fputc('\n', t->printer->out);
    replay_print_answer(t->printer->out, t, t->printer->width);
    fputc('\n', t->printer->out);
    text_minutes(t);
    text_summary(t, log, &t->stats);
}
