/* Waiting for a word to change (Linux). */
#ifndef BIDE_RUN_FUTEX_H
#define BIDE_RUN_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/run.h"

/* Sleeps while *word is `value`, until `until_ns` on the monotonic clock; false
 * if that time has come. May wake for no reason. */
bool bide__futex_wait(uint32_t *word, uint32_t value, int64_t until_ns);
void bide__futex_wake_all(uint32_t *word);

#endif
