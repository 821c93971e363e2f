/* Oracles: how many attempts there are, and what hedging does. The numbers are
 * those of their rows. */
#ifndef BIDE_SIM_ORACLE_ATTEMPTS_H
#define BIDE_SIM_ORACLE_ATTEMPTS_H

struct sim_report;

void sim_oracle_attempts(struct sim_report *r); /*  3 */
void sim_oracle_chain(struct sim_report *r);    /*  4 */
void sim_oracle_hedge(struct sim_report *r);    /*  6 */

#endif
