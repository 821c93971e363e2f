/* The picture of a sweep or of a stability map: a block for each map, or for
 * each figure, in rows. */
#include "sim/report/picture/study.h"

#include <inttypes.h>

#include "sim/report/heat.h"
#include "sim/report/picture/cells.h"
#include "sim/report/picture/lines.h"
#include "sim/report/picture/picture.h"

enum { NARROWEST = 640, WIDEST = 1500, LEGEND = 36 };

/* Where the next block goes. */
struct flow {
    struct picture_size block;
    int columns, n, top;
};

static int across(int n, int block_px, int wanted)
{
    int fit = (WIDEST - PAD) / (block_px + PAD);

    wanted = wanted < n ? wanted : n;
    wanted = wanted < fit ? wanted : fit;
    return wanted < 1 ? 1 : wanted;
}

static int x_next(const struct flow *f)
{
    return PAD + f->n % f->columns * (f->block.wide + PAD);
}

static int y_next(const struct flow *f)
{
    return f->top + f->n / f->columns * f->block.tall;
}

static int width_of(const struct flow *f)
{
    int wide = PAD + f->columns * (f->block.wide + PAD);

    return wide > NARROWEST ? wide : NARROWEST;
}

static void begin(FILE *out, const struct sim_summary *s, struct flow *f)
{
    int rows = (f->n + f->columns - 1) / f->columns;

    picture_open(out, s, width_of(f), f->top + rows * f->block.tall + FOOT);
    f->n = 0;
}

static void end(FILE *out, const struct sim_summary *s, struct flow *f,
                const char *words)
{
    int rows = (f->n + f->columns - 1) / f->columns;

    fprintf(out,
            "<text class=\"mute s\" x=\"%d\" y=\"%d\">%s. %u run%s, seed "
            "%" PRIu64 "%s</text>\n</svg>\n",
            PAD, f->top + rows * f->block.tall + FOOT - PAD + 4, words,
            s->replications, s->replications == 1 ? "" : "s of each", s->seed,
            s->cut_short ? "; stopped before its time" : "");
}

static void draw_maps(FILE *out, const struct sim_summary *s,
                      const struct sim_page_context *ctx)
{
    struct flow f = { picture_cells_size(&ctx->maps->x, &ctx->maps->y), 1,
                      (int)ctx->n_maps, TOP + LEGEND };

    f.columns = across(f.n, f.block.wide, f.n == 4 ? 2 : 3);
    begin(out, s, &f);
    picture_map_legend(out, PAD, TOP, width_of(&f));
    for (uint32_t i = 0; i < ctx->n_maps; i++, f.n++)
        picture_map(out, &ctx->maps[i], x_next(&f), y_next(&f));
    end(out, s, &f, "Load and length of the fault: what becomes of the system");
}

/* Blocks of the same kind as the first that say something. */
static bool is_drawn(const struct sim_page_context *ctx, uint32_t i)
{
    return (ctx->grids[i].y.n > 1) == (ctx->grids[0].y.n > 1) &&
           page_is_swept(ctx, ctx->grids[i].figure);
}

static int count(const struct sim_page_context *ctx)
{
    int n = 0;

    for (uint32_t i = 0; i < ctx->n_grids; i += page_grids_together(ctx, i))
        n += is_drawn(ctx, i);
    return n;
}

/* How many variants there are: grids of the first figure. */
static int variants(const struct sim_page_context *ctx)
{
    int n = 0;

    while ((uint32_t)n < ctx->n_grids &&
           ctx->grids[n].figure == ctx->grids[0].figure)
        n++;
    return n;
}

static void draw_grids(FILE *out, const struct sim_summary *s,
                       const struct sim_page_context *ctx)
{
    bool cells = ctx->grids->y.n > 1;
    struct flow f = { cells ? picture_cells_size(&ctx->grids->x, &ctx->grids->y)
                            : picture_lines_size,
                      1, count(ctx), cells ? TOP : TOP + LEGEND };

    f.columns = across(f.n, f.block.wide, cells ? variants(ctx) : 3);
    begin(out, s, &f);
    if (!cells)
        picture_lines_legend(out, ctx->grids, (uint32_t)variants(ctx), PAD, TOP,
                             width_of(&f));
    for (uint32_t i = 0; i < ctx->n_grids; i += page_grids_together(ctx, i)) {
        if (!is_drawn(ctx, i))
            continue;
        if (cells)
            picture_grid(out, ctx, &ctx->grids[i], x_next(&f), y_next(&f));
        else
            picture_lines(out, &ctx->grids[i], page_grids_together(ctx, i),
                          x_next(&f), y_next(&f));
        f.n++;
    }
    end(out, s, &f,
        cells
            ? "Green is better, red is worse, blue is neither"
            : "Means with their 95 % confidence intervals; a cross: runs that "
              "never recover");
}

int picture_study(FILE *out, const struct sim_summary *s,
                  const struct sim_page_context *ctx)
{
    if (ctx->n_maps)
        draw_maps(out, s, ctx);
    else
        draw_grids(out, s, ctx);
    fflush(out);
    return ferror(out) ? -1 : 0;
}
