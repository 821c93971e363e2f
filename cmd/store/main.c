/* bide store: the records of a store, shown and removed. A program of its own,
 * which `bide store` executes (cmd/common/exec.c): it has SQLite in it. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "bide/config.h"
#include "cmd/common/files.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/store/store.h"
#include "config/field/value.h"
#include "config/store/conf.h"

enum { SHOWN = 100 };

/* Four times as long for a server (store/batch.h): it may be slow, and who waits
 * for an answer wants to be told soon that there is none. */
enum { PATIENCE_MS = 2500 };

static const struct flag flag_list[] = {
    { "config", 'c', "FILE", "the store of this policy file" },
    { "store", 's', "URL",
      "this store: sqlite:PATH, redis://..., postgresql://..." },
    { "scope", 0, "TEXT", "only records of this scope" },
    { "older-than", 0, "D",
      "purge: only records claimed at least this long ago: 7d" },
    { "limit", 'n', "N", "ls: the newest N (100); 0 for all" },
    { "answer", 0, NULL, "show: print the stored response" },
    { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    .usage = "bide store ls [options]\n"
             "bide store show [options] KEY\n"
             "bide store purge --older-than D [options]",
    .about = "Lists, shows and removes idempotency records. A record is in "
             "progress, done, with the response that a repeat will get, or "
             "unknown, because whoever worked on it was lost. Once a record is "
             "purged, a repeat of its key takes effect again.",
    .list = flag_list,
    .after = "Exit codes: 0 done, 1 there is no such record, 2 an error in the "
             "arguments or in the file, or the store cannot be used.\n\n"
             "Examples:\n"
             "  bide store ls -c bide.yaml\n"
             "  bide store show 8e03978e -c bide.yaml\n"
             "  bide store purge --older-than 7d --store "
             "sqlite:/var/lib/bide/keys.db",
};

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct args *a = ctx;
    char *end;
    if (strcmp(name, "config") == 0)
        a->config = argument;
    else if (strcmp(name, "store") == 0)
        a->url = argument;
    else if (strcmp(name, "scope") == 0)
        a->scope = argument;
    else if (strcmp(name, "json") == 0)
        a->json = true;
    else if (strcmp(name, "answer") == 0)
        a->answer = true;
    else if (strcmp(name, "older-than") == 0)
        return bide_parse_duration(argument, strlen(argument), &a->older_ns) < 0
                   ? "a duration, as in 7d"
                   : NULL;
    else {
        errno = 0;
        a->most = strtoull(argument, &end, 10);
        if (errno || end == argument || *end || argument[0] == '-')
            return "a count";
    }
    return NULL;
}

/* ===== opening ===== */

/* The store of a policy file; NULL after a complaint. */
static const struct bide__store_settings *settings_of(const char *path,
                                                      bide_config **ret)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    int rc = notes ? bide_config_read(ret, path, notes) : BIDE_ENOMEM;
    if (rc < 0 && notes)
        bide_diagnostics_print(notes, stderr, use_colours(stderr));
    if (rc == BIDE_ENOMEM)
        complain("store", "out of memory");
    bide_diagnostics_free(notes);
    return rc < 0 ? NULL : bide__config_store(*ret);
}

static bool open_store(struct opened *to, const struct args *args,
                       bide_config **config)
{
    struct bide__store_settings settings = BIDE__STORE_SETTINGS_INIT;
    char why[512] = "";
    if (args->config) {
        const struct bide__store_settings *found =
            settings_of(args->config, config);
        if (!found)
            return false;
        settings = *found;
    } else {
        settings.url = args->url;
    }
    struct bide__store_setup setup = { .url = settings.url,
                                       .timeout_ns = PATIENCE_MS * BIDE_MILLISECOND,
                                       .limit_bytes = settings.limit_bytes,
                                       .relaxed = true,
                                       .existing = true };
    to->url = settings.url;
    to->kind = bide__store_kind_of(settings.url, &setup.rest);
    if (!to->kind)
        complain("store", "`%s`: " BIDE__STORE_KINDS_EXPECTED, settings.url);
    else if (to->kind == &bide__store_memory)
        complain("store", "the records are in the memory of the program that "
                          "made them: nobody else can see them");
    else if (to->kind->open(&to->self, &setup, why, sizeof why) < 0)
        complain("store", "%s", why[0] ? why : "out of memory");
    else
        return true;
    return false;
}

/* ===== commands ===== */

static int purge(const struct opened *store, const struct args *args)
{
    struct bide__store_query query = { .scope = args->scope,
                                       .older_ns = args->older_ns };
    uint64_t removed = 0, before;
    char why[512] = "";
    int rc;
    do {
        before = removed;
        rc = store->kind->purge(store->self, &query, &removed, why, sizeof why);
    } while (rc == 0 && removed > before);
    if (args->json)
        printf("{ \"removed\": %llu }\n", (unsigned long long)removed);
    else if (rc == 0 || removed > 0)
        printf("%llu record%s removed\n", (unsigned long long)removed,
               removed == 1 ? "" : "s");
    return rc < 0 ? complain("store", "%s", why) : EXIT_OK;
}

static int usage(const char *what)
{
    complain("store", "%s", what);
    fputs("  see `bide store --help`\n", stderr);
    return EXIT_USAGE;
}

static int unknown(const char *command)
{
    static const char *const known[] = { "ls", "show", "purge", NULL };
    complain("store", "unknown command `%s`", command);
    suggest(command, known);
    return EXIT_USAGE;
}

/* What is wrong with the operands; NULL: nothing. */
static const char *mistake(const struct args *args, char **operands, int n)
{
    bool show = strcmp(operands[0], "show") == 0;
    if (!args->config == !args->url)
        return "say which store: -c FILE or --store URL";
    if (show && n < 2)
        return "show: expected a key";
    if (n > (show ? 2 : 1))
        return "too many arguments";
    if (strcmp(operands[0], "purge") == 0 && args->older_ns < 0)
        return "purge: say how old, as in --older-than 7d";
    return NULL;
}

static int run(const struct args *args, char **operands)
{
    struct opened store = { 0 };
    bide_config *config = NULL;
    int rc = EXIT_USAGE;
    if (open_store(&store, args, &config)) {
        if (strcmp(operands[0], "ls") == 0)
            rc = store_list(&store, args);
        else if (strcmp(operands[0], "show") == 0)
            rc = store_show(&store, args, operands[1]);
        else
            rc = purge(&store, args);
        store.kind->close(store.self);
    }
    bide_config_free(config);
    return rc;
}

int main(int argc, char **argv)
{
    struct args args = { .older_ns = -1, .most = SHOWN };
    int first;
    hold_standard_files();
    setlocale(LC_CTYPE, "");
    int rc = flags_parse(&flags, argc, argv, take, &args, &first);
    if (rc >= 0)
        return rc;
    char **operands = argv + first;
    int n = argc - first;
    if (n < 1)
        return usage("expected ls, show or purge");
    if (strcmp(operands[0], "ls") != 0 && strcmp(operands[0], "show") != 0 &&
        strcmp(operands[0], "purge") != 0)
        return unknown(operands[0]);
    const char *wrong = mistake(&args, operands, n);
    if (wrong)
        return usage(wrong);
    rc = run(&args, operands);
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain("store", "cannot write the output: %s",
                        strerror(errno));
    return rc;
}
