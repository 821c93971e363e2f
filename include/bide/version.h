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

BIDE_BEGIN_DECLS

/* Returns the version of the running library, as in "0.1.0". */
BIDE_API const char *bide_version(void);

BIDE_END_DECLS
#endif
