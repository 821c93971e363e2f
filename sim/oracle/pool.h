/* Oracles: several servers, asked at once (oracle_fan_out.c) or one of them
 * (oracle_pool.c). The numbers are those of their rows. */
#ifndef BIDE_SIM_ORACLE_POOL_H
#define BIDE_SIM_ORACLE_POOL_H

struct sim_report;

void sim_oracle_fan_out(struct sim_report *r);       /* 14 */
void sim_oracle_fan_out_hedge(struct sim_report *r); /* 15 */
void sim_oracle_copies(struct sim_report *r);        /* 16 */
void sim_oracle_choices(struct sim_report *r);       /* 17 */
void sim_oracle_black_hole(struct sim_report *r);    /* 18 */

#endif
