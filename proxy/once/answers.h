/* proxy/once/answers.h: what a request with a key gets instead of being
 * processed. Threads: owned. */
#ifndef BIDE_PROXY_ONCE_ANSWERS_H
#define BIDE_PROXY_ONCE_ANSWERS_H

#include <stdbool.h>

#include "proxy/once/key.h"

struct exchange;
struct once;

/* The answer to a claim that was not FIRST. */
void once_refuse(struct once *o);

/* ... to a request whose key is missing or invalid. */
void once_refuse_key(struct exchange *ex, enum once_key what);

/* ... to one that could be left behind by its stream, as too many were. */
void once_refuse_crowd(struct exchange *ex);

/* 504: its client has waited long enough. */
void once_refuse_late(struct exchange *ex, bool goes_on);

#endif
