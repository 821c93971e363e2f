/* A picture of a scenario for documents: load, capacity and goodput of each
 * variant side by side, as one self-contained SVG with light and dark colours.
 * The curves are those of the report (sheet.c); words are text here, since the
 * size is fixed. */
#include "sim/report/picture/picture.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "sim/report/load.h"
#include "sim/report/models.h"
#include "sim/report/picture/study.h"
#include "sim/report/plot/row.h"
#include "sim/report/plot/sheet.h"
#include "sim/report/text.h"

/* Colours are spelled out for each element that has one: not every SVG viewer
 * supports variables. */
#define COLOUR(class, colour)                                                  \
    ".line.c-" class ",.steps.c-" class "{stroke:" colour "}.tint.c-" class    \
        ",.over.c-" class ",.band.c-" class ",.l.c-" class "{fill:" colour "}"

/* Variants, and what becomes of a system. */
#define SERIES(a, b, c, d, e, f)                                               \
    COLOUR("s0", a)                                                            \
    COLOUR("s1", b)                                                            \
    COLOUR("s2", c) COLOUR("s3", d) COLOUR("s4", e) COLOUR("s5", f)
#define FATES(recovers, vulnerable, never, overloaded, none)                   \
    ".recovers{fill:" recovers "}.vulnerable{fill:" vulnerable                 \
    "}.never{fill:" never "}.overloaded{fill:" overloaded "}.none{fill:" none  \
    "}"

static const char style[] =
    "svg{font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "path,rect{vector-effect:non-scaling-stroke}.line,.steps{fill:none}"
    ".line{stroke-width:1.6;stroke-linejoin:round}"
    ".steps{stroke-width:1.3;stroke-dasharray:5 3}"
    ".tint{fill-opacity:.1}.over{fill-opacity:.3}.band{fill-opacity:.22}"
    ".b,.l{font-weight:600}"
    ".t{font-size:20px;font-weight:650}.m{text-anchor:middle}"
    ".e{text-anchor:end}.s{font-size:12px}";

static const char light[] =
    ".paper{fill:#fdfdfb}.ink,.t{fill:#1d2126}.mute{fill:#666e78}"
    ".grid{stroke:#e4e5e0}.fault{fill:#f5ddd0;stroke:#9a4a24;stroke-opacity:.4}"
    ".warm{fill:#f3f3ef}"
    ".ft{fill:#9a4a24}" COLOUR("offered", "#2f6db3") COLOUR("good", "#0b8f6b")
        COLOUR("fail", "#cf4a1b") COLOUR("capacity", "#1d2126")
            SERIES("#2f6db3", "#cf9300", "#6a5bb0", "#3b8ea5", "#b0609a",
                   "#8a6d3b") FATES("#c2e0d5", "#e8ca80", "#cf4a1b", "#d2d3d2",
                                    "#f4f4f0") ".inverse{fill:#fff}";

static const char dark[] =
    "@media(prefers-color-scheme:dark){.paper{fill:#14171b}"
    ".ink,.t{fill:#e7e9ea}.mute{fill:#9aa2ac}.grid{stroke:#2c3137}"
    ".fault{fill:#442c21;stroke:#e59b74;stroke-opacity:.4}.warm{fill:#1b1e23}."
    "ft{fill:#e59b74}" COLOUR("offered", "#6ea8e6") COLOUR("good", "#35c496")
        COLOUR("fail", "#f2764a") COLOUR("capacity", "#e7e9ea")
            SERIES("#6ea8e6", "#e8b93c", "#a79be6", "#6fc0d6", "#dd96c8",
                   "#c3a169") FATES("#1b4639", "#73602b", "#f2764a", "#43474b",
                                    "#1c2025") ".inverse{fill:#14171b}}";

enum { MOST_TEXT = 512 };

static double end_of(const struct sim_summary *s)
{
    double end = 1;

    for (uint32_t v = 0; v < s->n_variants; v++)
        if (page_run(s, v))
            end = fmax(end, (double)page_run(s, v)->step_ns *
                                page_run(s, v)->n_steps);
    return end;
}

/* How many bytes of a text fit into so many px, at about 7 a character. */
static size_t fitting(const char *text, int px)
{
    size_t len = text ? strlen(text) : 0, at = 0;

    for (int room = px / 7; at < len && room > 0; room--) {
        size_t n = bide__utf8_next(text + at, len - at, NULL);

        if (at + n >= MOST_TEXT)
            break;
        at += n ? n : 1;
    }
    return at;
}

void picture_text(FILE *out, const char *text, int px)
{
    size_t at = fitting(text, px);
    char piece[MOST_TEXT + 1];

    if (at == 0)
        return;
    memcpy(piece, text, at);
    piece[at] = '\0';
    page_text(out, piece);
    if (text[at])
        fputs("…", out);
}

int picture_text_px(const char *text, int px)
{
    int wide = (int)fitting(text, px) * 7;

    return wide < px ? wide : px;
}

static void layout(struct picture *p)
{
    int n = (int)p->s->n_variants;

    p->columns = n < 1 ? 1 : n <= 3 ? n : n == 4 ? 2 : 3;
    p->column = p->columns == 1 ? 560 : p->columns == 2 ? 460 : 380;
    p->width = p->columns * p->column + (p->columns - 1) * PAD + 2 * PAD;
}

void picture_open(FILE *out, const struct sim_summary *s, int width, int height)
{
    const char *title =
        page_is_mixed(s) ? "Scenarios side by side" : s->model->title;

    title = title ? title : "A simulation";
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
            "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
            width, height, width, height);
    page_text(out, title);
    fprintf(out, "</title>\n<style>%s%s%s</style>\n", style, light, dark);
    fprintf(out,
            "<rect class=\"paper\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n"
            "<text class=\"t\" x=\"%d\" y=\"%d\">",
            width, height, PAD, PAD + 18);
    picture_text(out, title, (width - 2 * PAD) * 2 / 3);
    fputs("</text>\n", out);
}

static void caption(struct picture *p, int y)
{
    fprintf(p->out, "<text class=\"mute\" x=\"%d\" y=\"%d\">Attempts ", PAD, y);
    if (p->deep != SIM_NONE) {
        fputs("at ", p->out);
        picture_text(p->out, p->s->model->services[p->deep].name, 200);
        fputs(" ", p->out);
    }
    fputs(p->shows == DEATHS ? "and messages done a second"
                             : "and successful calls a second",
          p->out);
    if (p->columns > 1)
        fputs("; red: more was asked than can be served", p->out);
    if (p->s->n_variants && p->s->variants[0].n_runs > 1)
        fprintf(p->out, ". Median and middle 80 %% of %u seeds</text>\n",
                p->s->variants[0].n_runs);
    else
        fprintf(p->out, ". bide sim, seed %" PRIu64 "</text>\n", p->s->seed);
    fputs("</svg>\n", p->out);
}

/* Dead messages of a queue; duplicate work if that is forbidden; else the time
 * to recover, if there was any; else the share of successes; else, if nearly
 * all succeed, the time of the slowest calls. */
static enum shown most_telling(const struct sim_summary *s)
{
    enum shown shown = TAIL;

    if (page_is_queue(s->model))
        return DEATHS;
    if (page_minds_twice(s->model))
        return TWICE;
    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_interval *r = &s->variants[v].figure[SIM_FIG_RECOVER];

        if (r->infinite || r->overloaded || (r->n && r->mean >= 1))
            return RECOVERY;
        if (!(s->variants[v].figure[SIM_FIG_SUCCESS].mean >= 0.95))
            shown = GOODPUT;
    }
    return shown;
}

static int picture_run(FILE *out, const struct sim_summary *s)
{
    struct picture p = { .out = out,
                         .s = s,
                         .end_ns = end_of(s),
                         .deep = page_short_tier(s),
                         .shows = most_telling(s) };
    struct page_load load;
    int tall = NAME + HEIGHT + UNDER, rows, height;

    layout(&p);
    rows = ((int)s->n_variants + p.columns - 1) / p.columns;
    height = TOP + rows * tall + FOOT;
    picture_open(out, s, p.width, height);
    page_load_of(&load, s->model, p.deep);
    page_sheet_make(&p.sheet, s, &load.row);
    for (uint32_t v = 0; v < s->n_variants; v++)
        if (page_run(s, v))
            picture_plot(&p, v, PAD + (int)v % p.columns * (p.column + PAD),
                         TOP + (int)v / p.columns * tall);
    page_sheet_done(&p.sheet);
    caption(&p, height - PAD + 4);
    fflush(out);
    return ferror(out) ? -1 : 0;
}

int sim_page_picture(FILE *out, const struct sim_summary *s,
                     const struct sim_page_context *ctx)
{
    return ctx && (ctx->n_maps || ctx->n_grids) ? picture_study(out, s, ctx)
                                                : picture_run(out, s);
}
