/* claimer URL SEED KEYS EFFECTS ACKS refuse|retry: claims keys at random, does each
 * (a line in the file EFFECTS), completes it, and notes in the file ACKS that it was
 * acknowledged; until it is killed. torture.py starts and kills many.
 *
 * A line is written by one write() to the end of a file: what was written stays,
 * whoever dies. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bide/policy.h"
#include "bide/store.h"

static int effects, acks;

static void append(int fd, const char *key)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%s\n", key);

    if (write(fd, line, (size_t)n) != n)
        exit(1);
}

static int open_end(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

    if (fd < 0)
        exit(1);
    return fd;
}

static void once(bide_store *store, const char *key, bool retry)
{
    bide_store_op op = BIDE_STORE_OP_INIT;

    op.key = key;
    op.room = "torture";
    op.lease_ns = 2 * BIDE_SECOND;
    op.take_over = retry;
    bide_store_do(store, &op);
    if (op.result == BIDE_STORE_FIRST) {
        append(effects, key);
        if (rand() % 4 == 0)
            usleep((useconds_t)(rand() % 3000));
        bide_store_complete(store, &op, 200, key, strlen(key));
        if (op.result == BIDE_STORE_OK)
            append(acks, key);
    } else if (op.result == BIDE_STORE_DONE &&
               (op.len != strlen(key) || memcmp(op.data, key, op.len) != 0)) {
        append(effects, "another key's answer");
    }
    bide_store_op_done(&op);
}

int main(int argc, char **argv)
{
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    bide_store *store;
    char why[512] = "", key[32];

    if (argc != 7)
        return 2;
    srand((unsigned)atoi(argv[2]));
    effects = open_end(argv[4]);
    acks = open_end(argv[5]);
    if (bide_store_open(&store, argv[1], &conf, why, sizeof why) < 0) {
        fprintf(stderr, "claimer: %s\n", why);
        return 1;
    }
    for (int keys = atoi(argv[3]);;) {
        snprintf(key, sizeof key, "key %d", rand() % keys);
        once(store, key, strcmp(argv[6], "retry") == 0);
    }
}
