/* The dashboard, as it was built: one file of HTML with all that it needs
 * inside (web/dist/index.html, turned into C by scripts/embed.py), and the
 * header lines that go with it, of which the content security policy names the
 * hashes of the script and the style in it. Nothing else may run, and nothing
 * may be loaded from anywhere. */
#ifndef BIDE_OBSERVE_ADMIN_PAGE_H
#define BIDE_OBSERVE_ADMIN_PAGE_H

#include <stddef.h>

extern const char bide__page[];
extern const size_t bide__page_len;
extern const char bide__page_headers[];

#endif
