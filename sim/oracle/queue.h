/* Oracles: queues under load and overload. The numbers are those of their rows. */
#ifndef BIDE_SIM_ORACLE_QUEUE_H
#define BIDE_SIM_ORACLE_QUEUE_H

struct sim_report;

void sim_oracle_erlang(struct sim_report *r);   /*  5 */
void sim_oracle_growth(struct sim_report *r);   /* 11 */
void sim_oracle_overload(struct sim_report *r); /* 13 */

#endif
