/* test_dep_draw.c: what one dependency draws, no other draws.
 *
 * The kernel's answers are stood in for: getrandom() and madvise() below are
 * what lib/host.c calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dep_make.h"

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

/* ===== drawing ===== */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dep_without_entropy_is_refused),
        cmocka_unit_test(dep_seeded_needs_no_entropy),
        cmocka_unit_test(dep_same_seed_draws_the_same),
        cmocka_unit_test(dep_unseeded_two_draw_differently),
        cmocka_unit_test(dep_forked_children_draw_differently),
        cmocka_unit_test(dep_forked_child_without_entropy_draws_differently),
        cmocka_unit_test(dep_forked_child_of_a_seeded_one_repeats),
        cmocka_unit_test(dep_grandchild_draws_differently),
        cmocka_unit_test(dep_wiped_mark_seeds_anew_once),
        cmocka_unit_test(dep_without_fork_mark_still_works),
        cmocka_unit_test(dep_threads_never_draw_the_same_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
