/* Which of libcurl's functions a program or a library calls by itself.
 * Threads: shared. */
#ifndef BIDE_CURL_MODULE_H
#define BIDE_CURL_MODULE_H

#include <stdbool.h>

/* True if the module (the program, or a shared library) that the address `here`
 * lies in certainly calls no function of libcurl that changes a handle, other
 * than through bide: it asks the dynamic linker for none of them, and libcurl is
 * not a part of it. */
bool bide__module_records_all(const void *here);

#endif
