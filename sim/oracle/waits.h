/* Oracles: slots and waits. The numbers are those of their rows. */
#ifndef BIDE_SIM_ORACLE_WAITS_H
#define BIDE_SIM_ORACLE_WAITS_H

struct sim_report;

void sim_oracle_slots(struct sim_report *r); /*  1 */
void sim_oracle_waits(struct sim_report *r); /*  2 */

#endif
