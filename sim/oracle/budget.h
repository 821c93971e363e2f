/* Oracles: budgets and contention. The numbers are those of their rows. */
#ifndef BIDE_SIM_ORACLE_BUDGET_H
#define BIDE_SIM_ORACLE_BUDGET_H

struct sim_report;

void sim_oracle_throttle(struct sim_report *r);   /*  7 */
void sim_oracle_grpc(struct sim_report *r);       /*  8 */
void sim_oracle_invariant(struct sim_report *r);  /*  9 */
void sim_oracle_in_flight(struct sim_report *r);  /* 10 */
void sim_oracle_contention(struct sim_report *r); /* 12 */

#endif
