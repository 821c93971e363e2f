/* bide/version.h: the only place where the version is defined, and how public
 * symbols are marked. The build reads the three numbers from here. */
#ifndef BIDE_VERSION_H
#define BIDE_VERSION_H

#define BIDE_VERSION_MAJOR 0
#define BIDE_VERSION_MINOR 1
#define BIDE_VERSION_PATCH 0

#if defined(__GNUC__)
#define BIDE_API __attribute__((visibility("default")))
#else
#define BIDE_API
#endif

#ifdef __cplusplus
#define BIDE_BEGIN_DECLS extern "C" {
#define BIDE_END_DECLS }
#else
#define BIDE_BEGIN_DECLS
#define BIDE_END_DECLS
#endif

/* How structures grow without breaking programs that are already compiled:
 *
 *   - Those that are passed by pointer get new members at their end. The
 *     functions that take them are inline and pass on how long the program
 *     thinks they are (`..._sized`). A member that the program does not know is
 *     zero; one that only the program knows, and that is not zero, is refused
 *     with BIDE_ESIZE.
 *   - Those that are passed by value, or inside others, keep their size: new
 *     members take some of `_room`, which must be zero.
 *
 * So set structures to zero, or with an initializer, before you fill them in. */

BIDE_BEGIN_DECLS

/* Returns the version of the running library, as in "0.1.0". */
BIDE_API const char *bide_version(void);

BIDE_END_DECLS
#endif
