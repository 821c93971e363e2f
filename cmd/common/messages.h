/* cmd/common/messages.h: messages on standard error that never wait for its
 * reader.
 *
 *     messages_begin();
 *     fprintf(stderr, "bide proxy: ending\n");
 *     messages_end();
 *
 * In between, `stderr` is a stream whose lines a thread writes
 * (observe/event/sink.h). The descriptor is unchanged, so that crash output is
 * visible. A forked child must begin again: threads are not inherited. */
#ifndef BIDE_CMD_COMMON_MESSAGES_H
#define BIDE_CMD_COMMON_MESSAGES_H

void messages_begin(void);

/* Writes the rest, within a moment. */
void messages_end(void);

#endif
