/* Logarithm, exponential and the normal quantile, the same on every machine.
 *
 * The log() and exp() of different C libraries may differ in the last digit,
 * and one digit in one draw is another simulation a second later. These use
 * only what IEEE 754 defines exactly (+ - * / and the bits of a double), and
 * sim/ is compiled without contraction to fused operations. */
#ifndef BIDE_SIM_MODEL_NUMBER_H
#define BIDE_SIM_MODEL_NUMBER_H

/* Natural logarithm of a normal x > 0; relative error below 1e-15. */
double sim_log(double x);

/* e^x; 0 below -700, and e^700 above 700. */
double sim_exp(double x);

/* Square root, of x >= 0. */
double sim_sqrt(double x);

/* The value below which a standard normal variable stays with probability p,
 * 0 < p < 1; relative error below 2e-9. */
double sim_normal_quantile(double p);

#endif
