/* replay_main.c: an ordinary main for a fuzz target. It feeds every file of the
 * given directories, and the empty input, to LLVMFuzzerTestOneInput, so that
 * what fuzzing once found is tested in every run, under every sanitizer.
 *
 * Each input is copied into a block of exactly its size: a read one byte past
 * the end is then seen by ASan and by valgrind. A directory without a file is a
 * failure; a corpus that has gone missing must not look like one that passed. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static int replay_file(const char *path, size_t size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    int rc = -1;

    if (f && data && fread(data, 1, size, f) == size) {
        if (size == 0) {
            free(data);
            data = NULL;
        }
        LLVMFuzzerTestOneInput(data, size);
        rc = 0;
    } else {
        perror(path);
    }
    free(data);
    if (f)
        fclose(f);
    return rc;
}

/* Returns the number of files replayed, or -1. */
static long replay_dir(const char *dir)
{
    struct dirent **entries;
    long count = 0;
    int n = scandir(dir, &entries, NULL, alphasort);

    if (n < 0) {
        perror(dir);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        char path[4096];
        struct stat st;

        snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
        free(entries[i]);
        if (count < 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        /* On stderr before the input runs: a crash names its file. */
        fprintf(stderr, "%s\n", path);
        count = replay_file(path, (size_t)st.st_size) ? -1 : count + 1;
    }
    free(entries);
    return count;
}

int main(int argc, char **argv)
{
    long total = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: %s CORPUS_DIR...\n", argv[0]);
        return 2;
    }
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    LLVMFuzzerTestOneInput(NULL, 0);
    for (int i = 1; i < argc; i++) {
        long n = replay_dir(argv[i]);

        if (n <= 0) {
            fprintf(stderr, "%s: nothing replayed\n", argv[i]);
            return 1;
        }
        total += n;
    }
    printf("%ld inputs replayed\n", total);
    return 0;
}
