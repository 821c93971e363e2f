/* Figures for people: a value to three digits with its unit, and looking up a
 * figure by its name.
 *
 *     char text[SIM_TEXT];
 *     sim_figure_text(SIM_FIG_P99, 0.412, text, sizeof text);   // "412ms"
 *
 * Threads: immutable, all of it. */
#ifndef BIDE_SIM_STUDY_FIGURE_TEXT_H
#define BIDE_SIM_STUDY_FIGURE_TEXT_H

#include "sim/study/summary.h"

enum sim_unit {
    SIM_PER_SECOND, /* 280/s, 1.24k/s */
    SIM_SHARE,      /* 0..1: 12.5% */
    SIM_SECONDS,    /* 412ms, 3.1s, never */
    SIM_TIMES,      /* 1.21x */
    SIM_COUNT       /* 17 */
};

enum sim_unit sim_figure_unit(enum sim_figure f);

/* The unit's name in JSON and CSV: "per_second", "share", "seconds", "times",
 * "count". */
const char *sim_figure_unit_name(enum sim_figure f);

/* 1: more is better; -1: less is better; 0: neither. */
int sim_figure_better(enum sim_figure f);

/* The figure with this name, or SIM_FIGURES. */
enum sim_figure sim_figure_find(const char *name, size_t len);

/* A value with its unit, to three digits: "1.21x", "412ms", "99.3%", "never",
 * "-" for NaN. And an interval: "412 \u00b112ms" (without utf8 "+-"), "1.2s
 * (0.7..2.1)" if it is lopsided, "4.1s, 3 never", "overloaded", and for shares
 * of the runs "3/10 (11..60%)". Written to `buffer`; SIM_TEXT bytes are
 * enough. */
#define SIM_TEXT 48
const char *sim_figure_text(enum sim_figure f, double x, char *buffer,
                            size_t size);
const char *sim_interval_text(enum sim_figure f, const struct sim_interval *i,
                              bool utf8, char *buffer, size_t size);

#endif
