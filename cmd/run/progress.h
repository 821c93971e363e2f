/* bide run: messages for people (progress.c) and for machines (log.c). */
#ifndef BIDE_CMD_RUN_PROGRESS_H
#define BIDE_CMD_RUN_PROGRESS_H

#include <stdint.h>

#include "bide/call.h"

struct run;

void print_not_started(const struct run *r); /* after such an attempt */
void print_wait(struct run *r, const bide_decision *d);

/* Draws the live line; gives when it is to be drawn again. */
int64_t print_countdown(struct run *r, const bide_decision *d);
void print_clear(struct run *r);
void print_end(struct run *r, const bide_decision *d);

int log_open(const char *where); /* -1 and errno */
void log_decision(struct run *r, const bide_decision *d);

#endif
