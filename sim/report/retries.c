/* Retries, and why calls ended without success; then the states behind that,
 * and how long calls took. */
#include "sim/report/retries.h"

#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/plot/sheet.h"
#include "sim/report/text.h"

void page_retries(struct page *p)
{
    static const struct page_layer attempts[] = {
        { "first attempts", "offered", PAGE_STACK, page_first_attempts, 0 },
        { "retries", "retry", PAGE_STACK, page_of_fleets, SIM_RETRIES },
        { "hedges", "hedge", PAGE_STACK, page_of_fleets, SIM_HEDGES },
    };
    struct page_layer reasons[BIDE_N_REASONS];
    uint32_t n = 0;

    page_row(p, &(struct page_row){ .title = "Attempts",
                                    .about = "What the load is made of.",
                                    .unit = PAGE_RATE,
                                    .legend = true,
                                    .layers = attempts,
                                    .n_layers = 3 });
    for (uint32_t i = 0; i < BIDE_N_REASONS; i++)
        if (i != BIDE_BECAUSE_SUCCESS)
            reasons[n++] =
                (struct page_layer){ bide_reason_name((bide_reason)i),
                                     bide_reason_name((bide_reason)i),
                                     PAGE_STACK, page_reason, i };
    page_row(p, &(struct page_row){
                    .title = "Why calls failed",
                    .about = "Calls that ended without success, by the reason "
                             "that the engine gave for no further attempt.",
                    .unit = PAGE_RATE,
                    .legend = true,
                    .layers = reasons,
                    .n_layers = n });
}

static void breakers(struct page *p)
{
    static const struct page_layer layers[] = {
        { "open", "open", PAGE_STACK, page_breakers, SIM_BREAKER_OPEN },
        { "half-open", "half", PAGE_STACK, page_breakers, SIM_BREAKER_HALF },
    };

    page_row(p, &(struct page_row){ .title = "Breakers",
                                    .about = "Share of the processes whose "
                                             "breaker is not closed.",
                                    .unit = PAGE_SHARE,
                                    .top = 1,
                                    .legend = true,
                                    .layers = layers,
                                    .n_layers = 2 });
}

static void budget(struct page *p)
{
    static const struct page_layer layers[] = {
        { "budget", "budget", PAGE_AREA, page_budget, 0 },
    };

    page_row(p, &(struct page_row){
                    .title = "Retry budget",
                    .about = "Retries that the budgets of all processes "
                             "together would still grant.",
                    .unit = PAGE_COUNT,
                    .layers = layers,
                    .n_layers = 1 });
}

static void under_way(struct page *p)
{
    static const struct page_layer layers[] = {
        { "in all", "offered", PAGE_LINE, page_level_of_fleets,
          SIM_IN_PROGRESS },
        { "waiting", "retry", PAGE_AREA, page_level_of_fleets, SIM_WAITING },
    };

    page_row(p, &(struct page_row){
                    .title = "Calls under way",
                    .about = "All of them, and those that wait for their next "
                             "attempt.",
                    .unit = PAGE_COUNT,
                    .layers = layers,
                    .n_layers = 2 });
}

static void latency(struct page *p)
{
    static const struct page_layer layers[] = {
        { "p99", "p99", PAGE_LINE, page_p99, 0 },
        { "p50", "p50", PAGE_LINE, page_p50, 0 },
    };

    page_row(p, &(struct page_row){
                    .title = "Latency",
                    .about = p->s->model->n_fleets > 1
                                 ? "Of calls that succeeded, waits and retries "
                                   "included, of the slowest fleet at each "
                                   "moment, on a logarithmic scale."
                                 : "Of calls that succeeded, waits and retries "
                                   "included, on a logarithmic scale. No "
                                   "line: none did.",
                    .unit = PAGE_SECONDS,
                    .log = true,
                    .layers = layers,
                    .n_layers = 2 });
}

static void messages(struct page *p)
{
    static const struct page_layer depth[] = {
        { "in all", "offered", PAGE_LINE, page_level_of_fleets,
          SIM_IN_PROGRESS },
        { "due", "retry", PAGE_AREA, page_level_of_fleets, SIM_DUE },
    };
    static const struct page_layer oldest[] = {
        { "oldest", "p99", PAGE_LINE, page_oldest, 0 },
    };

    page_row(p, &(struct page_row){
                    .title = "Messages in the queue",
                    .about = "All of them, and those that are due and wait for "
                             "a worker. The others run, or wait for their next "
                             "attempt.",
                    .unit = PAGE_COUNT,
                    .layers = depth,
                    .n_layers = 2 });
    page_row(p, &(struct page_row){
                    .title = "Age of the oldest",
                    .about = "How long the oldest message has waited that is "
                             "due. No line: none waits.",
                    .unit = PAGE_SECONDS,
                    .layers = oldest,
                    .n_layers = 1 });
}

void page_states(struct page *p)
{
    breakers(p);
    budget(p);
    if (page_is_queue(p->s->model))
        messages(p);
    else
        under_way(p);
    latency(p);
}
