/* How a thread of observe/ starts.
 *
 *     bide__thread_begin("bide-admin");
 *
 * A closed connection is reported by an error, not by SIGPIPE: OpenSSL writes
 * to its socket as to a file, and cannot use MSG_NOSIGNAL. */
#ifndef BIDE_OBSERVE_EVENT_THREAD_H
#define BIDE_OBSERVE_EVENT_THREAD_H

#include <pthread.h>
#include <signal.h>

/* name: at most 15 characters. */
static inline void bide__thread_begin(const char *name)
{
    sigset_t set;

    pthread_setname_np(pthread_self(), name);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

#endif
