/* Memory that grows. A simulation that has run out of it has nothing to show
 * and nobody to go on for: the program says so and ends. */
#ifndef BIDE_SIM_MODEL_MEMORY_H
#define BIDE_SIM_MODEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* calloc() and realloc() that do not fail. */
void *sim_new(size_t n, size_t size);
void *sim_resize(void *memory, size_t n, size_t size);

/* As many bytes as a power of 2 says, at a multiple of it. What is in them is not
 * defined. */
void *sim_new_aligned(size_t bytes);

/* Makes room for at least one more than n things in a list, by doubling. */
void *sim_grow(void *list, uint32_t n, uint32_t *room, size_t size);

#endif
