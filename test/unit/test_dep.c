/* test_dep.c: a dependency is made whole or not at all, owns all that it was
 * given, and draws what no other draws.
 *
 * The kernel's answers are stood in for: getrandom() and madvise() below are
 * what lib/host.c calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "dep.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define S            BIDE_SECOND

/* ===== the kernel ===== */

static bool entropy_fails, entropy_short, wipe_on_fork_fails;

ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    if (entropy_fails) {
        errno = ENOSYS;
        return -1;
    }
    return syscall(SYS_getrandom, buffer, entropy_short ? size - 1 : size,
                   flags);
}

int madvise(void *at, size_t size, int advice)
{
    if (wipe_on_fork_fails && advice == MADV_WIPEONFORK) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}

/* ===== a host that counts ===== */

struct heap {
    size_t fails_at;  /* the nth allocation; 0: none */
    size_t allocated; /* how often */
    size_t released;
    size_t size;   /* of the last */
    size_t offset; /* what addresses are made odd by */
    char *block;   /* what malloc gave for the last */
};

static void *heap_alloc(void *ctx, size_t size)
{
    struct heap *h = ctx;
    h->allocated++;
    if (h->allocated == h->fails_at)
        return NULL;
    h->size = size;
    h->block = malloc(h->offset + size);
    return h->block + h->offset;
}

static void heap_release(void *ctx, void *memory)
{
    struct heap *h = ctx;
    assert_ptr_equal(memory, h->block + h->offset);
    h->released++;
    free(h->block);
    h->block = NULL;
}

static bide_host host_of(struct heap *h)
{
    return (
        bide_host){ .ctx = h, .alloc = heap_alloc, .release = heap_release };
}

static bide_policy_conf defaults(void)
{
    return (bide_policy_conf)BIDE_POLICY_CONF_INIT;
}

static bide_dep *make(const bide_policy_conf *conf)
{
    bide_dep *dep = NULL;
    assert_int_equal(bide_dep_new(&dep, "payments", conf), 0);
    assert_non_null(dep);
    return dep;
}

static bide_dep *make_default(void)
{
    bide_policy_conf conf = defaults();
    return make(&conf);
}

static bide_dep *make_seeded(uint64_t seed)
{
    bide_policy_conf conf = defaults();
    bide_dep *dep = NULL;
    bide_host host = { .seed = &seed };
    assert_int_equal(bide_dep_new_in(&dep, "payments", &conf, &host), 0);
    return dep;
}

static uint64_t draw(bide_dep *dep)
{
    return dep->rng.next(dep->rng.state);
}

/* One call: a failure, a retry, a success. */
static void use(bide_dep *dep)
{
    bide_call call;
    bide_op op = { .idempotent = true };
    int64_t now = S;
    bide_call_begin(&call, dep, &op, now);
    for (;;) {
        bide_decision d = bide_call_next(&call, now);
        if (d.action == BIDE_DONE)
            break;
        if (d.action == BIDE_WAIT) {
            now = d.at_ns;
            continue;
        }
        bide_outcome out = BIDE_OUTCOME_SUCCESS;
        if (d.attempt == 1)
            out.cls = BIDE_TRANSIENT;
        now += BIDE_MILLISECOND;
        assert_int_equal(bide_call_report(&call, d.attempt, &out, now), 0);
    }
    bide_call_end(&call, now);
}

/* ===== arguments ===== */

static void dep_arguments_missing_are_refused(void **state)
{
    bide_policy_conf conf = defaults();
    bide_host host = { .ctx = NULL };
    bide_dep *dep = (bide_dep *)&conf;

    (void)state;
    assert_int_equal(bide_dep_new(NULL, "x", &conf), BIDE_EINVAL);
    assert_int_equal(bide_dep_new(&dep, NULL, &conf), BIDE_EINVAL);
    assert_int_equal(bide_dep_new(&dep, "x", NULL), BIDE_EINVAL);
    assert_int_equal(bide_dep_new_in(NULL, "x", &conf, &host), BIDE_EINVAL);
    assert_int_equal(bide_dep_new_in(&dep, NULL, &conf, &host), BIDE_EINVAL);
    assert_int_equal(bide_dep_new_in(&dep, "x", NULL, &host), BIDE_EINVAL);
    assert_int_equal(bide_dep_new_in(&dep, "x", &conf, NULL), BIDE_EINVAL);
    assert_ptr_equal(dep, (bide_dep *)&conf);
}

static void dep_name_up_to_255_bytes_is_copied(void **state)
{
    bide_policy_conf conf = defaults();
    char name[257];
    bide_dep *dep = NULL;

    (void)state;
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    assert_int_equal(bide_dep_new(&dep, name, &conf), BIDE_EINVAL);
    assert_null(dep);
    name[255] = '\0';
    assert_int_equal(bide_dep_new(&dep, name, &conf), 0);
    assert_string_equal(bide_dep_name(dep), name);
    name[0] = 'x';
    assert_int_equal(bide_dep_name(dep)[0], 'n');
    bide_dep_free(dep);

    assert_int_equal(bide_dep_new(&dep, "", &conf), 0);
    assert_string_equal(bide_dep_name(dep), "");
    bide_dep_free(dep);
}

static void dep_policy_refused_says_which_field(void **state)
{
    bide_policy_conf conf = defaults();
    struct heap heap = { 0 };
    bide_host host = host_of(&heap);
    bide_dep *dep = NULL;
    int rc;

    (void)state;
    conf.backoff.cap_ns = 0;
    rc = bide_dep_new_in(&dep, "x", &conf, &host);
    assert_string_equal(bide_error_name(rc), "backoff.cap");
    conf = defaults();
    conf.n_rules = 1;
    assert_int_equal(bide_dep_new_in(&dep, "x", &conf, &host), BIDE_ERULE);
    assert_null(dep);
    assert_int_equal(heap.allocated, 0);
}

static void dep_null_views_are_harmless(void **state)
{
    (void)state;
    bide_dep_free(NULL);
    assert_null(bide_dep_name(NULL));
    assert_null(bide_dep_policy(NULL));
    assert_int_equal(bide_dep_size(NULL), 0);
    assert_int_equal(bide_dep_breaker(NULL, 0), BIDE_BREAKER_CLOSED);
    assert_int_equal(bide_dep_budget_left(NULL, 0), 0);
    assert_true(bide_dep_rate(NULL, 0) == 0);
    assert_int_equal(bide_dep_latency(NULL, 0.5, 0), -1);
    assert_int_equal(bide_dep_force_breaker(NULL, BIDE_BREAKER_NORMAL),
                     BIDE_EINVAL);
}

/* ===== size and memory ===== */

static void dep_default_fits_64_kib(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    assert_in_range(bide_dep_size(&conf), 1000, 64 * 1024);
    assert_in_range(sizeof(bide_call), 1, 256);
}

/* A policy of each kind that takes memory of its own. */
static void vary(bide_policy_conf *conf, unsigned i, const bide_rule *rules,
                 size_t n_rules)
{
    *conf = defaults();
    if (i & 1) {
        conf->breaker.kind = BIDE_BREAKER_COUNT;
        conf->breaker.window_calls = 1 + i * 37 % 1024;
        conf->breaker.min_calls = 1;
        conf->breaker.mode = BIDE_BREAKER_DRY_RUN;
    }
    if (i & 2)
        conf->latency.measure = false;
    if (i & 4) {
        conf->rules = rules;
        conf->n_rules = n_rules;
    }
    conf->lanes = 1u << (i >> 3) % 7;
}

enum { VARIETIES = 8 * 7 };

static const bide_rule rules[] = {
    { .method = "POST", .cls = BIDE_PERMANENT },
    { .header = "X-A", .header_value = "b*", .cls = BIDE_OVERLOADED },
    { .problem_type = "urn:c", .cls = BIDE_THROTTLED, .not_processed = true },
    { .status_min = 500, .status_max = 599, .cls = BIDE_TRANSIENT },
};

static void dep_size_is_what_is_allocated_but_for_the_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < VARIETIES; i++) {
        bide_policy_conf conf;
        struct heap heap = { 0 };
        bide_host host = host_of(&heap);
        bide_dep *dep;

        vary(&conf, i, rules, COUNT(rules));
        assert_int_equal(bide_dep_new_in(&dep, "four", &conf, &host), 0);
        assert_int_equal(heap.allocated, 1);
        assert_int_equal(heap.size, bide_dep_size(&conf) + sizeof "four");
        bide_dep_free(dep);
        assert_int_equal(heap.released, 1);
    }
}

/* An allocator may return any address; each block ends right behind what was
 * asked for, so that a sanitizer sees one byte too many. */
static void dep_memory_at_odd_addresses_works(void **state)
{
    (void)state;
    for (size_t offset = 0; offset < 65; offset++) {
        bide_policy_conf conf;
        struct heap heap = { .offset = offset };
        bide_host host = host_of(&heap);
        bide_dep *dep;
        bide_stats stats;

        vary(&conf, (unsigned)offset % VARIETIES, rules, COUNT(rules));
        assert_int_equal(bide_dep_new_in(&dep, "odd", &conf, &host), 0);
        assert_int_equal((uintptr_t)dep % 64, 0);
        assert_int_equal((uintptr_t)dep->lanes % 64, 0);
        assert_string_equal(bide_dep_name(dep), "odd");
        use(dep);
        assert_int_equal(bide_dep_stats(dep, 5 * S, &stats), 0);
        assert_int_equal(stats.late_successes, 1);
        bide_dep_free(dep);
        assert_null(heap.block);
    }
}

static void dep_allocation_failing_leaves_nothing_behind(void **state)
{
    bide_policy_conf conf = defaults();
    size_t nth = 1;

    (void)state;
    conf.rules = rules;
    conf.n_rules = COUNT(rules);
    for (;; nth++) { /* until it no longer gets as far as the nth */
        struct heap heap = { .fails_at = nth };
        bide_host host = host_of(&heap);
        bide_dep *dep = (bide_dep *)&heap;
        int rc = bide_dep_new_in(&dep, "x", &conf, &host);

        if (rc == 0) {
            bide_dep_free(dep);
            assert_int_equal(heap.released, heap.allocated);
            break;
        }
        assert_int_equal(rc, BIDE_ENOMEM);
        assert_ptr_equal(dep, (bide_dep *)&heap);
        assert_int_equal(heap.released, heap.allocated - 1);
    }
    assert_true(nth > 1);
}

static void dep_without_entropy_is_refused(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    for (int partly = 0; partly < 2; partly++) {
        struct heap heap = { 0 };
        bide_host host = host_of(&heap);
        bide_dep *dep = (bide_dep *)&heap;

        entropy_fails = !partly;
        entropy_short = partly;
        int rc = bide_dep_new_in(&dep, "x", &conf, &host);
        int plain =
            bide_dep_new(&dep, "x", &conf); /* malloc gets it back too */
        entropy_fails = entropy_short = false;
        assert_int_equal(rc, BIDE_EENTROPY);
        assert_int_equal(plain, BIDE_EENTROPY);
        assert_ptr_equal(dep, (bide_dep *)&heap);
        assert_int_equal(heap.allocated, 1);
        assert_int_equal(heap.released, 1);
    }
}

/* With a seed of the caller's, the kernel is not asked. */
static void dep_seeded_needs_no_entropy(void **state)
{
    (void)state;
    entropy_fails = true;
    bide_dep *dep = make_seeded(1);
    entropy_fails = false;
    use(dep);
    bide_dep_free(dep);
}

/* An arena has an alloc and no release: it frees all at once, later. */
static void dep_alloc_without_release_frees_nothing(void **state)
{
    bide_policy_conf conf = defaults();
    struct heap heap = { 0 };
    bide_host host = { .ctx = &heap, .alloc = heap_alloc };
    bide_dep *dep;

    (void)state;
    assert_int_equal(bide_dep_new_in(&dep, "x", &conf, &host), 0);
    bide_dep_free(dep);
    assert_int_equal(heap.released, 0);
    free(heap.block);
}

/* ===== what it owns ===== */

static void dep_policy_and_rules_are_deep_copies(void **state)
{
    char method[] = "POST", header[] = "X-Why", value[] = "busy*",
         type[] = "urn:x";
    bide_rule mine[2] = {
        { .method = method,
          .header = header,
          .header_value = value,
          .problem_type = type,
          .cls = BIDE_OVERLOADED },
        { .status_min = 500, .status_max = 599, .cls = BIDE_PERMANENT },
    };
    bide_policy_conf conf = defaults();

    (void)state;
    conf.attempts = 7;
    conf.rules = mine;
    conf.n_rules = 2;
    bide_dep *dep = make(&conf);
    memset(&conf, 0xff, sizeof conf);
    memset(mine, 0xff, sizeof mine);
    memset(method, '!', sizeof method);
    memset(header, '!', sizeof header);
    memset(value, '!', sizeof value);
    memset(type, '!', sizeof type);

    const bide_policy_conf *kept = bide_dep_policy(dep);
    assert_int_equal(kept->attempts, 7);
    assert_int_equal(kept->n_rules, 2);
    assert_true(kept->rules != mine);
    assert_string_equal(kept->rules[0].method, "POST");
    assert_string_equal(kept->rules[0].header, "X-Why");
    assert_string_equal(kept->rules[0].header_value, "busy*");
    assert_string_equal(kept->rules[0].problem_type, "urn:x");
    assert_int_equal(kept->rules[0].cls, BIDE_OVERLOADED);
    assert_int_equal(kept->rules[1].status_max, 599);
    assert_null(kept->rules[1].method);

    bide_response r = { .status = 503 };
    assert_int_equal(bide_classify(dep, &r).cls, BIDE_PERMANENT);
    assert_int_equal(bide_classify(NULL, &r).cls, BIDE_TRANSIENT);
    bide_dep_free(dep);
}

static void dep_most_and_longest_rules_are_copied(void **state)
{
    static char text[BIDE_MAX_RULE_TEXT + 1];
    static bide_rule many[BIDE_MAX_RULES];
    bide_policy_conf conf = defaults();

    (void)state;
    memset(text, 't', BIDE_MAX_RULE_TEXT);
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = (bide_rule){ .method = text,
                               .header = text,
                               .header_value = text,
                               .problem_type = text };
    conf.rules = many;
    conf.n_rules = COUNT(many);
    bide_dep *dep = make(&conf);
    text[0] = 'x';
    const bide_rule *last = &bide_dep_policy(dep)->rules[BIDE_MAX_RULES - 1];
    assert_int_equal(last->problem_type[0], 't');
    assert_int_equal(strlen(last->problem_type), BIDE_MAX_RULE_TEXT);
    bide_dep_free(dep);
}

static void dep_no_rules_keep_no_pointer(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    conf.rules = rules;
    conf.n_rules = 0;
    bide_dep *dep = make(&conf);
    assert_null(bide_dep_policy(dep)->rules);
    bide_dep_free(dep);
}

/* ===== drawing ===== */

static void dep_same_seed_draws_the_same(void **state)
{
    bide_dep *a = make_seeded(9), *b = make_seeded(9), *c = make_seeded(10);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t word = draw(a);
        assert_int_equal(draw(b), word);
        assert_int_not_equal(draw(c), word);
    }
    bide_dep_free(a);
    bide_dep_free(b);
    bide_dep_free(c);
}

static void dep_unseeded_two_draw_differently(void **state)
{
    bide_dep *a = make_default(), *b = make_default();

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_not_equal(draw(a), draw(b));
    bide_dep_free(a);
    bide_dep_free(b);
}

/* Forks; what the child draws first comes back. */
static uint64_t draw_in_child(bide_dep *dep)
{
    uint64_t word = 0;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        word = draw(dep);
        ssize_t n = write(pipes[1], &word, sizeof word);
        _exit(n == (ssize_t)sizeof word ? 0 : 1);
    }
    assert_int_equal(read(pipes[0], &word, sizeof word), sizeof word);
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return word;
}

static void dep_forked_children_draw_differently(void **state)
{
    bide_dep *dep = make_default();

    (void)state;
    draw(dep);
    uint64_t first = draw_in_child(dep);
    uint64_t second = draw_in_child(dep);
    uint64_t parent = draw(dep);
    assert_int_not_equal(first, second);
    assert_int_not_equal(first, parent);
    assert_int_not_equal(second, parent);
    bide_dep_free(dep);
}

/* Where the kernel gives the child no seed either, it makes do, differently. */
static void dep_forked_child_without_entropy_draws_differently(void **state)
{
    bide_dep *dep = make_default();

    (void)state;
    entropy_fails = true;
    uint64_t child = draw_in_child(dep);
    entropy_fails = false;
    assert_int_not_equal(child, draw(dep));
    bide_dep_free(dep);
}

/* A seed of the caller's is kept to, in a child as well: that is what it is
 * for. This is also what the test above would see if forks went unnoticed. */
static void dep_forked_child_of_a_seeded_one_repeats(void **state)
{
    bide_dep *dep = make_seeded(5);

    (void)state;
    uint64_t child = draw_in_child(dep);
    assert_int_equal(child, draw(dep));
    bide_dep_free(dep);
}

/* In a child once more, and in a child of that. */
static void dep_grandchild_draws_differently(void **state)
{
    bide_dep *dep = make_default();
    uint64_t words[3] = { 0 };
    int pipes[2];

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        words[0] = draw(dep);
        words[1] = draw_in_child(dep);
        words[2] = draw(dep);
        ssize_t n = write(pipes[1], words, sizeof words);
        _exit(n == (ssize_t)sizeof words ? 0 : 1);
    }
    assert_int_equal(read(pipes[0], words, sizeof words), sizeof words);
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    uint64_t parent = draw(dep);
    for (int i = 0; i < 3; i++) {
        assert_int_not_equal(words[i], parent);
        assert_int_not_equal(words[i], words[(i + 1) % 3]);
    }
    bide_dep_free(dep);
}

/* The same once more within one process, where coverage is counted: the mark as
 * a fork leaves it. */
static void dep_wiped_mark_seeds_anew_once(void **state)
{
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        bide_dep *dep = make_default();
        uint64_t before = dep->seed;

        draw(dep);
        assert_int_equal(dep->seed, before);
        *dep->fork_mark = 0;
        entropy_fails = refused;
        draw(dep);
        entropy_fails = false;
        uint64_t after = dep->seed;
        assert_int_not_equal(after, before);
        assert_int_equal(*dep->fork_mark, 1);
        draw(dep);
        assert_int_equal(dep->seed, after);
        bide_dep_free(dep);
    }
}

/* A kernel that cannot tell of forks does not keep a dependency from working.
 */
static void dep_without_fork_mark_still_works(void **state)
{
    (void)state;
    wipe_on_fork_fails = true;
    bide_dep *dep = make_default();
    wipe_on_fork_fails = false;
    assert_null(dep->fork_mark);
    use(dep);
    bide_dep_free(dep);
}

enum { DRAWS = 20000, THREADS = 4 };

struct drawer {
    bide_dep *dep;
    uint64_t word[DRAWS];
};

static void *draw_many(void *arg)
{
    struct drawer *d = arg;
    for (int i = 0; i < DRAWS; i++)
        d->word[i] = draw(d->dep);
    return NULL;
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void dep_threads_never_draw_the_same_word(void **state)
{
    static struct drawer drawers[THREADS];
    static uint64_t all[THREADS * DRAWS];
    pthread_t threads[THREADS];
    bide_dep *dep = make_default();

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        drawers[i].dep = dep;
        assert_int_equal(
            pthread_create(&threads[i], NULL, draw_many, &drawers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        memcpy(all + i * DRAWS, drawers[i].word, sizeof drawers[i].word);
    }
    qsort(all, COUNT(all), sizeof all[0], compare_words);
    for (size_t i = 1; i < COUNT(all); i++)
        assert_int_not_equal(all[i], all[i - 1]);
    bide_dep_free(dep);
}

/* ===== views ===== */

static void dep_fresh_gauges_read_as_documented(void **state)
{
    static const int64_t times[] = { INT64_MIN, -1, 0, S, INT64_MAX };
    bide_policy_conf off = defaults();

    (void)state;
    off.budget.kind = BIDE_BUDGET_OFF;
    off.latency.measure = false;
    bide_dep *dep = make_default(), *none = make(&off);
    for (size_t i = 0; i < COUNT(times); i++) {
        assert_int_equal(bide_dep_breaker(dep, times[i]), BIDE_BREAKER_CLOSED);
        assert_int_equal(bide_dep_budget_left(dep, times[i]), 10);
        assert_true(isinf(bide_dep_rate(dep, times[i])));
        assert_int_equal(bide_dep_latency(dep, 0.5, times[i]), -1);
        assert_int_equal(bide_dep_budget_left(none, times[i]), BIDE_FOREVER);
        assert_int_equal(bide_dep_latency(none, 0.5, times[i]), -1);
    }
    bide_dep_free(dep);
    bide_dep_free(none);
}

static void dep_latency_quantile_out_of_range_is_unknown(void **state)
{
    static const double bad[] = { -0.001, 1.001, NAN, INFINITY, -INFINITY };
    bide_dep *dep = make_default();
    bide_call call;
    bide_outcome out = BIDE_OUTCOME_SUCCESS;

    (void)state;
    bide_call_begin(&call, dep, NULL, S);
    assert_int_equal(bide_call_next(&call, S).action, BIDE_TRY);
    assert_int_equal(bide_call_report(&call, 1, &out, 2 * S), 0);
    bide_call_end(&call, 2 * S);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(bide_dep_latency(dep, bad[i], 2 * S), -1);
    for (int q = 0; q <= 2; q++)
        assert_in_range(bide_dep_latency(dep, q / 2.0, 2 * S), S / 50 * 49,
                        S / 50 * 51);
    bide_dep_free(dep);
}

static void dep_forced_breaker_refuses_and_lets_go(void **state)
{
    bide_dep *dep = make_default();
    bide_call call;

    (void)state;
    assert_int_equal(bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN), 0);
    bide_call_begin(&call, dep, NULL, S);
    bide_decision d = bide_call_next(&call, S);
    assert_int_equal(d.action, BIDE_DONE);
    assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
    bide_call_end(&call, S);

    assert_int_equal(bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL), 0);
    bide_call_begin(&call, dep, NULL, S);
    assert_int_equal(bide_call_next(&call, S).action, BIDE_TRY);
    bide_call_end(&call, S);

    assert_int_equal(bide_dep_force_breaker(dep, (bide_breaker_mode)4),
                     BIDE_EINVAL);
    assert_int_equal(bide_dep_force_breaker(dep, (bide_breaker_mode)-1),
                     BIDE_EINVAL);
    bide_dep_free(dep);
}

static void dep_breaker_view_of_a_fresh_one_is_closed(void **state)
{
    bide_dep *dep = make_default();
    bide_breaker_view view;

    (void)state;
    assert_int_equal(bide_dep_breaker_view(NULL, S, &view), BIDE_EINVAL);
    assert_int_equal(bide_dep_breaker_view(dep, S, NULL), BIDE_EINVAL);
    memset(&view, 0xa5, sizeof view);
    assert_int_equal(bide_dep_breaker_view(dep, INT64_MIN, &view), 0);
    assert_int_equal(view.state, BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

static void dep_breaker_states_have_names(void **state)
{
    (void)state;
    assert_string_equal(bide_breaker_state_name(BIDE_BREAKER_CLOSED), "closed");
    assert_string_equal(bide_breaker_state_name(BIDE_BREAKER_OPEN), "open");
    assert_string_equal(bide_breaker_state_name(BIDE_BREAKER_HALF_OPEN),
                        "half_open");
    assert_null(bide_breaker_state_name((bide_breaker_state)3));
    assert_null(bide_breaker_state_name((bide_breaker_state)-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dep_arguments_missing_are_refused),
        cmocka_unit_test(dep_name_up_to_255_bytes_is_copied),
        cmocka_unit_test(dep_policy_refused_says_which_field),
        cmocka_unit_test(dep_null_views_are_harmless),
        cmocka_unit_test(dep_default_fits_64_kib),
        cmocka_unit_test(dep_size_is_what_is_allocated_but_for_the_name),
        cmocka_unit_test(dep_memory_at_odd_addresses_works),
        cmocka_unit_test(dep_allocation_failing_leaves_nothing_behind),
        cmocka_unit_test(dep_without_entropy_is_refused),
        cmocka_unit_test(dep_seeded_needs_no_entropy),
        cmocka_unit_test(dep_alloc_without_release_frees_nothing),
        cmocka_unit_test(dep_policy_and_rules_are_deep_copies),
        cmocka_unit_test(dep_most_and_longest_rules_are_copied),
        cmocka_unit_test(dep_no_rules_keep_no_pointer),
        cmocka_unit_test(dep_same_seed_draws_the_same),
        cmocka_unit_test(dep_unseeded_two_draw_differently),
        cmocka_unit_test(dep_forked_children_draw_differently),
        cmocka_unit_test(dep_forked_child_without_entropy_draws_differently),
        cmocka_unit_test(dep_forked_child_of_a_seeded_one_repeats),
        cmocka_unit_test(dep_grandchild_draws_differently),
        cmocka_unit_test(dep_wiped_mark_seeds_anew_once),
        cmocka_unit_test(dep_without_fork_mark_still_works),
        cmocka_unit_test(dep_threads_never_draw_the_same_word),
        cmocka_unit_test(dep_fresh_gauges_read_as_documented),
        cmocka_unit_test(dep_latency_quantile_out_of_range_is_unknown),
        cmocka_unit_test(dep_forced_breaker_refuses_and_lets_go),
        cmocka_unit_test(dep_breaker_view_of_a_fresh_one_is_closed),
        cmocka_unit_test(dep_breaker_states_have_names),
    };

    return cmocka_run_group_tests_name("dep", tests, NULL, NULL);
}
