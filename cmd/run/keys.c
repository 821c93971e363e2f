/* The keys of --key: which there are, and forgetting one.
 *
 * What is told of a key is the note that its last invocation left; the state
 * itself can be read only with the policy that it was made for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/people.h"
#include "bide/run.h"
#include "cmd/common/output.h"
#include "cmd/run/args.h"
#include "cmd/run/state.h"

struct key {
    char name[72];
    struct state_note note;
    bool current; /* else it is replaced when it is used next */
    bool in_use;
    int64_t age_s;
};

static bool read_key(int dir, const char *file, struct key *k)
{
    int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct state_header h = { .page = 0 };
    struct stat st;

    if (fd < 0)
        return false;
    *k = (struct key){ .in_use = flock(fd, LOCK_EX | LOCK_NB) < 0 };
    snprintf(k->name, sizeof k->name, "%.*s",
             (int)(strlen(file) - strlen(STATE_SUFFIX)), file);
    k->current = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                 pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
                 state_is_current(&h) &&
                 (uint64_t)st.st_size == h.page + h.size &&
                 pread(fd, &k->note, sizeof k->note, STATE_NOTE_AT) ==
                     (ssize_t)sizeof k->note;
    k->age_s = time(NULL) - st.st_mtime;
    close(fd);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct key *)a)->name, ((const struct key *)b)->name);
}

static bool is_state(const char *file)
{
    size_t len = strlen(file), suffix = strlen(STATE_SUFFIX);

    return file[0] != '.' && len > suffix && len - suffix <= 64 &&
           strcmp(file + len - suffix, STATE_SUFFIX) == 0;
}

/* The keys, sorted; the caller frees them. */
static size_t read_keys(int dir, struct key **ret)
{
    DIR *d = fdopendir(dir);
    struct key *keys = NULL;
    size_t n = 0;
    struct dirent *e;

    while (d && (e = readdir(d)) != NULL) {
        struct key *more;
        if (!is_state(e->d_name))
            continue;
        more = realloc(keys, (n + 1) * sizeof *keys);
        if (!more)
            break;
        keys = more;
        n += read_key(dir, e->d_name, &keys[n]);
    }
    if (d)
        closedir(d);
    if (n > 0)
        qsort(keys, n, sizeof *keys, by_name);
    *ret = keys;
    return n;
}

/* ===== for people ===== */

/* How long the breaker is open still; 0 if it is not. */
static int64_t open_for(const struct key *k, int64_t now)
{
    return k->current && k->note.breaker == BIDE_BREAKER_OPEN &&
                   k->note.open_until_ns > now
               ? k->note.open_until_ns - now
               : 0;
}

static const char *breaker_name(const struct key *k)
{
    static const char *const names[] = { "closed", "open", "half_open" };

    return k->note.breaker < 3 ? names[k->note.breaker] : "unknown";
}

static void print_key(const struct key *k, int width, int64_t now)
{
    char age[32] = "just now", left[32];
    int64_t open = open_for(k, now);

    if (k->age_s > 0) {
        bide__brief_duration(k->age_s * BIDE_SECOND, age, sizeof age - 4);
        strcat(age, " ago");
    }
    printf("%-*s  %-9s  ", width, k->name, age);
    if (!k->current)
        printf("stale: it will start afresh when next used");
    else if (k->note.written_s == 0)
        printf("no run has ended yet");
    else if (open > 0)
        printf("breaker open for another %s",
               bide__brief_duration(open, left, sizeof left));
    else if (k->note.breaker != BIDE_BREAKER_CLOSED)
        printf("breaker open, the next run is a probe");
    else
        printf("breaker closed, %llu of %llu runs failed",
               (unsigned long long)k->note.failed,
               (unsigned long long)k->note.runs);
    printf("%s\n", k->in_use ? ", in use" : "");
}

static void print_keys(const struct key *keys, size_t n)
{
    int64_t now = bide_now_ns();
    int width = 3;

    for (size_t i = 0; i < n; i++)
        if ((int)strlen(keys[i].name) > width)
            width = (int)strlen(keys[i].name);
    for (size_t i = 0; i < n; i++)
        print_key(&keys[i], width, now);
    if (n == 0)
        puts("no key is in use: `bide run --key NAME` begins one");
}

/* ===== for machines ===== */

static void put_key(struct bide__json *j, const struct key *k, int64_t now)
{
    bool noted = k->current && k->note.written_s != 0;

    bide__json_object(j, NULL);
    bide__json_text(j, "key", k->name);
    bide__json_integer(j, "age_s", k->age_s);
    bide__json_flag(j, "in_use", k->in_use);
    bide__json_flag(j, "stale", !k->current);
    bide__json_text(j, "breaker", noted ? breaker_name(k) : NULL);
    if (noted) {
        bide__json_number(j, "open_ms", (double)open_for(k, now) / 1e6);
        bide__json_integer(j, "budget_left", k->note.budget_left);
        bide__json_count(j, "runs", k->note.runs);
        bide__json_count(j, "failed", k->note.failed);
    }
    bide__json_end(j);
}

static void put_keys(const struct key *keys, size_t n)
{
    struct bide__json j;
    int64_t now = bide_now_ns();

    bide__json_init(&j, stdout, true);
    bide__json_object(&j, NULL);
    bide__json_list(&j, "keys");
    for (size_t i = 0; i < n; i++)
        put_key(&j, &keys[i], now);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
}

int keys_list(bool json)
{
    char problem[512];
    int dir = state_dir(problem, sizeof problem);
    struct key *keys = NULL;
    size_t n;

    if (dir < 0) {
        complain("run", "--list: %s", problem);
        return EXIT_BIDE_FAILED;
    }
    n = read_keys(dir, &keys);
    if (json)
        put_keys(keys, n);
    else
        print_keys(keys, n);
    free(keys);
    return EXIT_OK;
}

/* ===== forgetting ===== */

/* Those who use it now go on with what they have; whoever comes next begins
 * anew. A link or anything else that is no state is removed as well: nothing
 * but files of ours belongs there. */
int keys_reset(const char *key, bool quiet)
{
    char problem[512], file[80];
    int dir = state_dir(problem, sizeof problem), err;

    if (dir < 0) {
        complain("run", "--reset: %s", problem);
        return EXIT_BIDE_FAILED;
    }
    snprintf(file, sizeof file, "%.64s%s", key, STATE_SUFFIX);
    err = unlinkat(dir, file, 0) < 0 ? errno : 0;
    close(dir);
    if (err && err != ENOENT) {
        complain("run", "--reset: %s: %s", file, strerror(err));
        return EXIT_BIDE_FAILED;
    }
    if (err && !quiet)
        complain("run", "there is no state of the key %s", key);
    return -1;
}
