/* proxy/counters.h: what a worker has done so far, and what it is doing now.
 *
 *     count(&worker->counters.requests);
 *     gauge_up(&pool->in_flight);
 *     ...
 *     uint64_t n = counted(&worker->counters.requests);   // any thread
 *     uint32_t m = gauged(&pool->in_flight);
 *
 * One writer each, so that an increment is a plain load and store; readers
 * never see a torn value. Threads: owned to write, shared to read. */
#ifndef BIDE_PROXY_COUNTERS_H
#define BIDE_PROXY_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic(uint64_t) counter;

/* X(name, help) */
#define PROXY_COUNTERS(X)                                                      \
    X(accepted, "connections of clients that were accepted")                   \
    X(shed, "connections that were answered 503 at once: too many")            \
    X(client_connections,                                                      \
      "connections refused: their address has as many as it may")              \
    X(client_handshakes,                                                       \
      "connections closed before their handshake: too many from an address")   \
    X(client_rate, "requests answered 429: too many from an address")          \
    X(client_untracked,                                                        \
      "connections not counted by address: the table was full")                \
    X(closed, "connections of clients that have ended")                        \
    X(http2_clients, "connections of clients that speak HTTP/2")               \
    X(http2_streams, "streams of theirs, a request each")                      \
    X(http2_failed, "connections of theirs that were closed with an error")    \
    X(grpc_ok, "gRPC calls that ended with OK")                                \
    X(grpc_unavailable, "gRPC calls that ended with UNAVAILABLE")              \
    X(grpc_deadline_exceeded, "gRPC calls that ended with DEADLINE_EXCEEDED")  \
    X(grpc_resource_exhausted,                                                 \
      "gRPC calls that ended with RESOURCE_EXHAUSTED")                         \
    X(grpc_other, "gRPC calls that ended with another status")                 \
    X(grpc_no_status, "gRPC calls that ended without a status")                \
    X(requests, "requests whose head was read")                                \
    X(refused, "requests that were not HTTP as it should be")                  \
    X(cancelled, "requests whose client went away")                            \
    X(timed_out, "clients that were too slow")                                 \
    X(answered_1xx, "answers that were passed on beforehand")                  \
    X(answered_2xx, "answers with a status of 200 to 299")                     \
    X(answered_3xx, "answers with a status of 300 to 399")                     \
    X(answered_4xx, "answers with a status of 400 to 499")                     \
    X(answered_5xx, "answers with a status of 500 to 599")                     \
    X(own_answers, "of all answers, those that no endpoint gave")              \
    X(cut_short, "answers that broke off in the middle")                       \
    X(attempts, "attempts begun")                                              \
    X(connects, "connections to endpoints begun")                              \
    X(connect_failures, "of those, failed")                                    \
    X(reused, "attempts on a connection that was there already")               \
    X(stale, "connections found closed when they were to be used")             \
    X(waited_for_link, "attempts that had to wait for a connection")           \
    X(faults_injected, "attempts that failed or were held up on purpose")      \
    X(fallback_static, "answers that a route has for when it is given up")     \
    X(fallback_stale, "stale copies given when a route was given up")          \
    X(fallback_upstream, "good answers of the upstream fallen back on")        \
    X(fallback_missed, "given up, with a fallback that had nothing either")    \
    X(idempotency_claims, "requests that were the first of their key")         \
    X(idempotency_waits, "times that a request waited for the store")          \
    X(idempotency_waited, "microseconds that they waited")                     \
    X(idempotency_kept, "answers that were kept for their key")                \
    X(idempotency_replays, "answers given again to a repeated key")            \
    X(idempotency_released, "keys released: nothing had been done")            \
    X(idempotency_missing, "requests without the key that they need")          \
    X(idempotency_invalid, "requests with a key that is none")                 \
    X(idempotency_mismatch, "requests with the key of another request")        \
    X(idempotency_in_progress, "requests whose key was in progress")           \
    X(idempotency_unknown, "requests whose key has an unknown outcome")        \
    X(idempotency_too_large,                                                   \
      "requests whose key has an answer that was too large to be kept")        \
    X(idempotency_down, "requests answered 503: the store was down")           \
    X(idempotency_full, "requests answered 503: the store was full")           \
    X(idempotency_passed, "requests let through without the store")            \
    X(idempotency_detached, "requests that went on without their client")      \
    X(idempotency_lost, "keys left to their lease: the outcome was lost")      \
    X(idempotency_unwritten, "answers that the store did not take in time")    \
    X(tunnels, "connections that were upgraded")                               \
    X(bytes_in, "from clients, bodies and heads")                              \
    X(bytes_out, "to clients, bodies and heads")

struct counters {
#define X(name, help) counter name;
    PROXY_COUNTERS(X)
#undef X
};

static inline void count_n(counter *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static inline void count(counter *c)
{
    count_n(c, 1);
}

static inline uint64_t counted(const counter *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

/* A number that also decreases. Not `++`: that would lock the bus against other
 * writers, of which there are none. */
typedef _Atomic(uint32_t) gauge;

static inline uint32_t gauged(const gauge *g)
{
    return atomic_load_explicit(g, memory_order_relaxed);
}

static inline void gauge_up(gauge *g)
{
    atomic_store_explicit(g, gauged(g) + 1, memory_order_relaxed);
}

static inline void gauge_down(gauge *g)
{
    atomic_store_explicit(g, gauged(g) - 1, memory_order_relaxed);
}

#endif
