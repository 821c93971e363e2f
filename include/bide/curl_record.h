/* bide/curl_record.h: how bide knows what a program has set on a handle.
 * bide/curl.h includes it.
 *
 * libcurl cannot be asked for the value of an option. So in a source file that
 * includes this header, the functions that make, change and end a handle are
 * bide's: they do what libcurl's do, and note the few options that bide has to
 * set itself during a call (headers, write, header and read functions, their
 * data, timeouts). Nothing else changes, not even libcurl's type checks.
 *
 * A handle is *recorded* if it was made in a program or library of which every
 * file that sets options includes this header; bide looks at what that program
 * or library imports, and so never has to guess:
 *
 *     if (!bide_curl_recorded(easy))
 *         ...              // some file calls libcurl's curl_easy_setopt()
 *
 * Handles that are not recorded work as well, with less: see bide/curl.h. Where
 * libcurl or libbide-curl is linked statically, no handle is recorded.
 *
 * To leave libcurl's functions alone, define BIDE_CURL_NO_RECORD before this
 * header is included. */
#ifndef BIDE_CURL_RECORD_H
#define BIDE_CURL_RECORD_H

#include <curl/curl.h>
#include <stdbool.h>

#include "version.h"

BIDE_BEGIN_DECLS

/* Returns whether bide knows what was set on this handle. */
BIDE_API bool bide_curl_recorded(CURL *easy);

/* As curl_easy_init(); `here` is any address inside the program or library
 * that makes the handle. */
BIDE_API CURL *bide_curl_easy_init(const void *here);

/* As libcurl's functions of the same name. */
BIDE_API CURLcode bide_curl_easy_setopt(CURL *easy, CURLoption option, ...);
BIDE_API void bide_curl_easy_reset(CURL *easy);
BIDE_API CURL *bide_curl_easy_duphandle(CURL *easy);
BIDE_API void bide_curl_easy_cleanup(CURL *easy);

#ifndef BIDE_CURL_NO_RECORD
#define curl_easy_init() bide_curl_easy_init("")
#if defined(__GNUC__)
/* A label rather than a macro, as the C library does for 64-bit file offsets:
 * so libcurl's own macro around it stays, and so do pointers to the function.
 * (Used before it is included? Then include this header earlier.) */
CURLcode(curl_easy_setopt)(CURL *easy, CURLoption option, ...)
    __asm__("bide_curl_easy_setopt");
void(curl_easy_reset)(CURL *easy) __asm__("bide_curl_easy_reset");
CURL *(curl_easy_duphandle)(CURL *easy) __asm__("bide_curl_easy_duphandle");
void(curl_easy_cleanup)(CURL *easy) __asm__("bide_curl_easy_cleanup");
#else
#undef curl_easy_setopt
#define curl_easy_setopt bide_curl_easy_setopt
#define curl_easy_reset bide_curl_easy_reset
#define curl_easy_duphandle bide_curl_easy_duphandle
#define curl_easy_cleanup bide_curl_easy_cleanup
#endif
#endif

BIDE_END_DECLS
#endif
