/* test/store/power.h: a VFS of SQLite under which power can fail.
 *
 *     power_vfs_install();                 // before the first store is opened
 *     ...
 *     power_cut("/tmp/after", rng);        // what a disk would hold now
 *
 * It passes everything on to the usual VFS, and keeps beside each file what is
 * sure to be on the disk: what was there at its last sync. What was written since
 * then may or may not be there after a power failure, in any combination, sector
 * by sector. power_cut() draws one, and writes the files into another directory,
 * while the store goes on. Threads: shared. */
#ifndef BIDE_TEST_STORE_POWER_H
#define BIDE_TEST_STORE_POWER_H

#include <stdbool.h>

/* Makes it the default VFS. `honest`: a sync is one; otherwise nothing ever is,
 * as on a disk that lies. */
void power_vfs_install(void);
void power_vfs_honest(bool honest);

/* Writes every file whose name begins with `from` to the same name beginning with
 * `to`, as it may be found after a power failure at this moment. */
void power_cut(const char *from, const char *to, unsigned *seed);

/* How often something was synced. */
unsigned long power_syncs(void);

#endif
