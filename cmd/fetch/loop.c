/* Runs all transfers: --parallel-max at a time, each origin a dependency of its
 * own, with output in the order of the URLs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/files.h"
#include "cmd/common/output.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/bar.h"
#include "cmd/fetch/fetch.h"
#include "cmd/fetch/names.h"
#include "cmd/fetch/sink.h"
#include "cmd/fetch/progress.h"
#include "cmd/fetch/transfer.h"
#include "cmd/fetch/write_out.h"

/* How often the bar is drawn and signals are checked. */
enum { TICK_NS = 100 * 1000 * 1000 };

/* Output that waits for its turn is an open file. */
enum { SPOOLS_MAX = 256 };

/* ===== signals ===== */

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

static void catch_signals(void)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction act = { .sa_handler = on_signal }, old;

    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ending[i], &act, NULL);
    signal(SIGPIPE, SIG_IGN); /* write() reports it, too */
    signal(SIGXFSZ, SIG_IGN);
}

/* The parent process should see which signal ended this one. */
static int end_by_signal(void)
{
    signal(caught, SIG_DFL);
    raise(caught);
    return 128 + caught;
}

/* ===== dependencies ===== */

static bide_dep *dep_for(struct fetch *f, const char *url)
{
    const struct policy_choice *p = &f->args->policy;
    struct fetch_dep *d = f->deps;
    char origin[sizeof d->origin];

    if (!fetch_origin(url, origin, sizeof origin))
        return NULL;
    for (; d < f->deps + f->n_deps; d++)
        if (strcmp(d->origin, origin) == 0)
            return d->dep;
    memcpy(d->origin, origin, sizeof origin);
    if (bide_dep_new_in(&d->dep, origin, &p->conf,
                        &(bide_host){ .seed = &p->seed }) < 0)
        return NULL;
    f->n_deps++;
    return d->dep;
}

/* ===== setting up ===== */

static const char *label_of(const struct fetch_transfer *t)
{
    const char *name = t->output ? t->output : t->url;
    const char *slash = strrchr(name, '/');

    return slash && slash[1] ? slash + 1 : name;
}

/* With -J, the server may name what the URL does not. */
static bool name_by_url(struct fetch_transfer *t)
{
    char *name = fetch_remote_name(t->all->args->urls[t->index]);

    if (!name && t->all->args->header_name)
        name = strdup("download");
    if (name)
        t->output = t->own_output = fetch_output_path(t->all->args, name);
    free(name);
    if (t->output)
        return true;
    complain("fetch", "--remote-name: %s names no file", t->url);
    fprintf(stderr, "  say which: --output FILE\n");
    return false;
}

static bool make_output(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;

    if (t->index >= a->n_outputs)
        return !a->remote_name || name_by_url(t);
    if (strcmp(a->outputs[t->index], "-") == 0)
        return true;
    t->output = t->own_output = fetch_output_path(a, a->outputs[t->index]);
    if (!t->output)
        complain("fetch", "out of memory");
    return t->output != NULL;
}

static bool make_transfer(struct fetch *f, size_t i)
{
    const struct fetch_args *a = f->args;
    struct fetch_transfer *t = &f->transfers[i];

    t->all = f;
    t->index = i;
    t->url = a->urls[i];
    if (a->upload)
        t->url = t->own_url = fetch_upload_url(t->url, a->upload);
    else if (a->get && a->data.given)
        t->url = t->own_url = fetch_get_url(t->url, a->data.at ? a->data.at
                                                               : "");
    if (!t->url)
        complain("fetch", "%s: not a URL, or out of memory", a->urls[i]);
    if (!t->url || !make_output(t))
        return false;
    t->label = label_of(t);
    t->upload = f->upload;
    t->rng = bide_rng_seed(&t->random, a->policy.seed + i);
    for (size_t j = 0; t->output && j < i; j++) {
        const char *other = f->transfers[j].output;
        if (other && strcmp(other, t->output) == 0) {
            complain("fetch", "two URLs would be written to %s", t->output);
            return false;
        }
    }
    return true;
}

static int make_all(struct fetch *f)
{
    const struct fetch_args *a = f->args;

    f->upload.fd = -1;
    if (a->cookie_jar || a->cookie_files) {
        f->cookies = curl_share_init();
        curl_share_setopt(f->cookies, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    }
    f->transfers = calloc(a->n_urls, sizeof *f->transfers);
    f->deps = calloc(a->n_urls, sizeof *f->deps);
    if (!f->transfers || !f->deps || bide_curl_multi_new(&f->multi) < 0)
        return complain("fetch", "out of memory");
    f->n = a->n_urls;
    for (size_t i = 0; i < f->n; i++)
        f->transfers[i].sink.fd = -1; /* not open, rather than standard input */
    if (a->upload && !fetch_upload_open(&f->upload, a->upload)) {
        complain("fetch", "%s: %s", a->upload, strerror(errno));
        return (int)CURLE_READ_ERROR;
    }
    for (size_t i = 0; i < f->n; i++)
        if (!make_transfer(f, i))
            return EXIT_USAGE;
    return -1;
}

/* ===== running ===== */

static void begin_more(struct fetch *f)
{
    if (f->beginning)
        return;
    f->beginning = true;
    while (!caught && f->next < f->n && f->running < f->args->parallel &&
           f->next - f->printed < SPOOLS_MAX) {
        struct fetch_transfer *t = &f->transfers[f->next++];
        f->running++;
        t->dep = dep_for(f, t->url);
        fetch_transfer_begin(t);
    }
    f->beginning = false;
}

static void failed_to_write(struct fetch_transfer *t)
{
    t->os_error = errno;
    t->result.code = CURLE_WRITE_ERROR;
    t->exit = (int)CURLE_WRITE_ERROR;
    fetch_print_failure(t);
}

/* -D: the headers of all transfers, in the order of the URLs. */
static bool dump_head(struct fetch *f, const struct fetch_transfer *t)
{
    const char *path = f->args->dump_header;
    int how =
        O_WRONLY | O_CREAT | O_CLOEXEC | (f->head_dumped ? O_APPEND : O_TRUNC);
    int fd = strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : open(path, how, 0666);
    int err = fd < 0 ? errno : write_whole(fd, t->head.data, t->head.len);

    f->head_dumped = true;
    if (fd >= 0)
        close(fd);
    errno = err;
    return err == 0;
}

/* In the order of the URLs. */
static void print_ended(struct fetch *f)
{
    for (; f->printed < f->next; f->printed++) {
        struct fetch_transfer *t = &f->transfers[f->printed];
        if (t->state != FETCH_ENDED)
            return;
        if (f->args->dump_header && !dump_head(f, t))
            failed_to_write(t);
        if (t->sink.kind == SINK_SPOOL && t->sink.fd >= 0) {
            fetch_bar_clear(f);
            if (!fetch_sink_keep(&t->sink, -1))
                failed_to_write(t);
        }
        if (!fetch_write_out(t))
            failed_to_write(t);
    }
}

void fetch_ended(struct fetch_transfer *t)
{
    struct fetch *f = t->all;

    f->running--;
    f->ended++;
    f->failed += t->exit != EXIT_OK;
    f->finished_bytes += t->now;
    print_ended(f);
    begin_more(f);
}

static void run(struct fetch *f)
{
    begin_more(f);
    while (f->running > 0 && !caught) {
        bide_curl_multi_run(f->multi, bide_now_ns() + TICK_NS);
        begin_more(f);
        if (f->running > 0)
            fetch_bar_draw(f);
    }
    fetch_bar_clear(f);
}

static int exit_of_all(const struct fetch *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->transfers[i].exit != EXIT_OK)
            return f->transfers[i].exit;
    return EXIT_OK;
}

static void done(struct fetch *f)
{
    bide_curl_multi_free(f->multi);
    for (size_t i = 0; f->transfers && i < f->n; i++)
        fetch_transfer_done(&f->transfers[i]);
    for (size_t i = 0; i < f->n_deps; i++)
        bide_dep_free(f->deps[i].dep);
    curl_share_cleanup(f->cookies);
    if (f->upload.fd >= 0)
        close(f->upload.fd);
    free(f->transfers);
    free(f->deps);
}

int fetch_loop(const struct fetch_args *args)
{
    struct fetch f = { .args = args, .bar = fetch_bar_wanted(args),
                       .upload = { .fd = -1 }, .began_ns = bide_now_ns() };
    int rc = make_all(&f);

    if (rc < 0) {
        catch_signals();
        run(&f);
        rc = exit_of_all(&f);
        if (!caught && (args->json || args->log_file) && !fetch_json(&f, rc)) {
            complain("fetch", "%s: %s",
                     args->log_file ? args->log_file : "--json",
                     strerror(errno));
            rc = rc ? rc : (int)CURLE_WRITE_ERROR;
        }
    }
    f.quiet = true; /* transfers still running are abandoned */
    done(&f);
    return caught ? end_by_signal() : rc;
}
