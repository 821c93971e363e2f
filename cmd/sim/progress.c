/* A progress bar for long runs, and Ctrl-C. */
#include "cmd/sim/progress.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/common/output.h"
#include "cmd/sim/ask.h"

/* A shorter run is over before anyone could read a bar. */
static const double shown_after_s = 0.5, between_s = 0.1;

static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
    (void)sig;
    interrupted = 1;
}

bool was_interrupted(void)
{
    return interrupted;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(struct progress *p, const struct sim_ask *ask)
{
    struct sigaction action = { .sa_handler = interrupt,
                                .sa_flags = (int)(SA_RESETHAND | SA_RESTART) };

    *p = (struct progress){ .shown = isatty(STDERR_FILENO) &&
                                     !ask->no_progress && !ask->quiet,
                            .began_s = seconds(),
                            .size = 1 };
    sigaction(SIGINT, &action, NULL);
}

void progress_part(struct progress *p, uint32_t n, uint32_t of)
{
    p->from = (double)n / of;
    p->size = 1.0 / of;
    p->before = p->events;
}

/* Overwrites with blanks instead of using an escape sequence: every terminal
 * understands a carriage return. */
static void draw(struct progress *p, double done, double now_s)
{
    enum { CELLS = 24 };
    double took_s = now_s - p->began_s;
    double left_s = done > 0.01 ? took_s / done - took_s : 0;
    int full = (int)(done * CELLS);
    char bar[CELLS + 1], left[32] = "", line[128];

    memset(bar, '.', CELLS);
    memset(bar, '#', (size_t)(full < CELLS ? full : CELLS));
    bar[CELLS] = '\0';
    if (left_s >= 1)
        snprintf(left, sizeof left, ", %.0f s left", left_s);
    snprintf(line, sizeof line, "[%s] %3.0f%%  %.3g M events/s%s", bar,
             done * 100, (double)p->events / took_s / 1e6, left);
    fprintf(stderr, "\r%-*s", p->width, line);
    fflush(stderr);
    if (p->width < (int)strlen(line))
        p->width = (int)strlen(line);
}

bool progress_tell(void *self, double done, uint64_t events)
{
    struct progress *p = self;
    double now_s = p->shown ? seconds() : 0;

    p->events = p->before + events;
    if (p->shown && now_s - p->began_s > shown_after_s &&
        now_s - p->last_s > between_s) {
        p->last_s = now_s;
        draw(p, p->from + done * p->size, now_s);
    }
    return !interrupted;
}

double progress_end(struct progress *p)
{
    if (p->last_s > 0)
        fprintf(stderr, "\r%*s\r", p->width, "");
    return seconds() - p->began_s;
}

void print_took(double took_s, uint64_t events)
{
    struct paint p = paint_for(stdout);

    if (isatty(STDOUT_FILENO) && took_s > 0)
        printf("%s%.3g million events in %.2f s, %.3g million a second%s\n",
               p.dim, (double)events / 1e6, took_s,
               (double)events / took_s / 1e6, p.plain);
}
