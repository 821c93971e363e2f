/* The rows of the table: the figures of the whole model, then those of each
 * fleet and each service, if there are several.
 *
 *     struct table_row rows[TABLE_ROWS];
 *     uint32_t n = table_rows(s, rows);
 *     const struct sim_interval *i = table_cell(s, 0, &rows[0]);
 *
 * Threads: immutable, once listed. */
#ifndef BIDE_CMD_SIM_TABLE_ROWS_H
#define BIDE_CMD_SIM_TABLE_ROWS_H

#include "sim/study/summary.h"

enum { TABLE_ROWS = 400 };

enum table_part { TABLE_MODEL, TABLE_FLEET, TABLE_SERVICE, TABLE_HEADING };

struct table_row {
    const char *head;
    enum table_part part;
    uint32_t number; /* of the fleet or service */
    enum sim_figure figure;
};

/* Lists the rows that say something. */
uint32_t table_rows(const struct sim_summary *s,
                    struct table_row rows[TABLE_ROWS]);

/* A variant's value; NULL in a heading. */
const struct sim_interval *table_cell(const struct sim_summary *s, uint32_t v,
                                      const struct table_row *row);

#endif
