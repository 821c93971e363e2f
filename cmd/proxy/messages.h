/* cmd/proxy/messages.h: what the program says on standard error, without ever
 * waiting for whoever reads it.
 *
 *     messages_begin();
 *     fprintf(stderr, "bide proxy: ending\n");
 *     messages_end();
 *
 * In between, `stderr` is a stream whose lines a thread writes (observe/event/sink.h).
 * The descriptor stays as it is: what a crash says there is seen. A process
 * that forks begins again in the child: threads do not go along. */
#ifndef BIDE_CMD_PROXY_MESSAGES_H
#define BIDE_CMD_PROXY_MESSAGES_H

void messages_begin(void);

/* Gives it what is left, and a moment to take it. */
void messages_end(void);

#endif
