/* Times in text. */
#ifndef BIDE_REPLAY_INSTANT_H
#define BIDE_REPLAY_INSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All return nanoseconds since 1970, or BIDE_EPARSE. *ret_whole: the text has
 * no fraction of a second. */
int replay_time_clf(const char *text, size_t len, int64_t *ret_ns);
int replay_time_iso(const char *text, size_t len, int64_t *ret_ns,
                    bool *ret_whole);
int replay_time_epoch(const char *text, size_t len, int64_t *ret_ns);

/* "12.5" in units of `unit_ns`; BIDE_EPARSE for anything but digits and a dot.
 * Saturates. */
int replay_decimal(const char *text, size_t len, int64_t unit_ns,
                   int64_t *ret_ns);

/* Writes "2026-01-02 03:04" for nanoseconds since 1970. */
void replay_time_minute(int64_t ns, char *buffer, size_t size);

#endif
