/* The dashboard, as built: one HTML file with everything inside
 * (web/dist/index.html, converted to C by scripts/embed.py), and its header
 * lines, in which the content security policy names the hashes of the script
 * and the style. Nothing else may run, and nothing may be loaded from
 * anywhere. */
#ifndef BIDE_OBSERVE_ADMIN_PAGE_H
#define BIDE_OBSERVE_ADMIN_PAGE_H

#include <stddef.h>

extern const char bide__page[];
extern const size_t bide__page_len;
extern const char bide__page_headers[];

#endif
