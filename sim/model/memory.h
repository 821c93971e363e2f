/* Memory that grows. A simulation that runs out of memory has nothing to show:
 * the program reports it and exits. */
#ifndef BIDE_SIM_MODEL_MEMORY_H
#define BIDE_SIM_MODEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* calloc() and realloc() that do not fail. */
void *sim_new(size_t n, size_t size);
void *sim_resize(void *memory, size_t n, size_t size);

/* Aligned memory whose size is a power of 2. Its content is undefined. */
void *sim_new_aligned(size_t bytes);

/* Makes room for at least one more than n elements in a list, by doubling. */
void *sim_grow(void *list, uint32_t n, uint32_t *room, size_t size);

#endif
