/* told [-r] [-t MS] URL: a store, told what to do by lines of its input:
 *
 *   claim KEY [ROOM [LEASE_MS]]   complete KEY BYTES   release KEY   look KEY
 *   stats                         sleep MS
 *
 * Each answers by a line: the result, and how many milliseconds it took. A
 * change of state is a line by itself: `# down: WHY`, `# up`. Keys have no blank,
 * but may have %XX. -r: relaxed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "bide/policy.h"
#include "bide/run.h"
#include "bide/store.h"

enum { MOST = 100000 };

/* Tokens of what was claimed here. */
static struct {
    char *key;
    uint64_t token;
} claims[MOST];
static int n_claims;

static void changed(void *ctx, bool up, const char *why)
{
    (void)ctx;
    printf(up ? "# up\n" : "# down: %s\n", why);
    fflush(stdout);
}

static void unescape(char *text)
{
    char *to = text;

    for (; *text; text++) {
        int byte = *text == '%' ? bide__hex_byte(text + 1) : -1;
        *to++ = byte > 0 ? (char)byte : *text;
        text += byte > 0 ? 2 : 0;
    }
    *to = '\0';
}

static uint64_t token_of(const char *key)
{
    for (int i = n_claims; i-- > 0;) {
        if (strcmp(claims[i].key, key) == 0)
            return claims[i].token;
    }
    return 0;
}

static void note(const bide_store_op *op)
{
    if (n_claims == MOST || !(claims[n_claims].key = strdup(op->key)))
        exit(1);
    claims[n_claims++].token = op->token;
}

static void say(const bide_store_op *op, int64_t began_ns)
{
    printf("%s %.1f %d %zu\n", bide_store_result_name(op->result),
           (double)(bide_now_ns() - began_ns) / 1e6, (int)op->status, op->len);
    fflush(stdout);
}

static void obey(bide_store *store, char *line)
{
    bide_store_op op = BIDE_STORE_OP_INIT;
    const char *verb = strtok(line, " \n");
    char *key = strtok(NULL, " \n"), *more = strtok(NULL, " \n");
    const char *lease = strtok(NULL, " \n");
    int64_t began_ns = bide_now_ns();

    if (!verb || !key) {
        printf("what?\n");
        fflush(stdout);
        return;
    }
    unescape(key);
    op.key = key;
    op.token = token_of(key);
    if (strcmp(verb, "claim") == 0) {
        op.room = more ? more : "";
        if (lease)
            op.lease_ns = atoi(lease) * BIDE_MILLISECOND;
        bide_store_do(store, &op);
        if (op.result == BIDE_STORE_FIRST)
            note(&op);
    } else if (strcmp(verb, "complete") == 0) {
        size_t len = more ? (size_t)atoi(more) : 0;
        char *answer = calloc(1, len + 1);
        bide_store_complete(store, &op, 201, answer, len);
        free(answer);
    } else if (strcmp(verb, "release") == 0) {
        bide_store_release(store, &op);
    } else {
        op.verb = BIDE_STORE_LOOK_UP;
        bide_store_do(store, &op);
    }
    say(&op, began_ns);
    bide_store_op_done(&op);
}

int main(int argc, char **argv)
{
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    bide_store *store;
    char why[600] = "";
    static char line[8192];
    int c;

    conf.on_change = changed;
    while ((c = getopt(argc, argv, "rt:")) != -1) {
        if (c == 'r')
            conf.relaxed = true;
        else
            conf.timeout_ns = atoi(optarg) * BIDE_MILLISECOND;
    }
    if (bide_store_open(&store, argv[optind], &conf, why, sizeof why) < 0) {
        printf("refused: %s\n", why);
        return 2;
    }
    while (fgets(line, sizeof line, stdin))
        obey(store, line);
    bide_store_close(store);
    return 0;
}
