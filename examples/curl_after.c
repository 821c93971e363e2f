/* Fetches pages, each in a thread. curl_before.c is the same without bide. */
#include <bide/config.h>
#include <bide/curl.h>
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bide_dep *dep; /* for all threads */

/* The policy of the file; every mistake in it is shown. */
static int read_policy(const char *path)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;
    int rc = bide_config_read(&config, path, notes);
    if (rc == 0)
        rc = bide_dep_new(&dep, "pages", bide_config_policy(config, NULL));
    bide_diagnostics_print(notes, stderr, false);
    bide_diagnostics_free(notes);
    bide_config_free(config);
    return rc;
}

struct page {
    const char *url;
    pthread_t thread;
    char *text;
    size_t len;
    CURLcode rc;
    long status;
};

static size_t append(char *data, size_t size, size_t n, void *arg)
{
    struct page *p = arg;
    char *more = realloc(p->text, p->len + size * n);
    if (!more)
        return 0;
    p->text = more;
    memcpy(p->text + p->len, data, size * n);
    p->len += size * n;
    return size * n;
}

static void *fetch(void *arg)
{
    struct page *p = arg;
    CURL *easy = curl_easy_init();
    struct curl_slist *headers =
        curl_slist_append(NULL, "Authorization: Bearer secret");
    curl_easy_setopt(easy, CURLOPT_URL, p->url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, p);
    p->rc = bide_curl_perform(dep, easy, NULL);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &p->status);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    return NULL;
}

static int print(const struct page *p)
{
    fwrite(p->text, 1, p->len, stdout);
    if (p->rc != CURLE_OK)
        fprintf(stderr, "%s: %s\n", p->url, curl_easy_strerror(p->rc));
    else if (p->status >= 400)
        fprintf(stderr, "%s: status %ld\n", p->url, p->status);
    return p->rc != CURLE_OK || p->status >= 400;
}

int main(int argc, char **argv)
{
    struct page pages[16] = { { .url = NULL } };
    int n = argc - 1, failed = 0;
    if (n < 1 || n > 16) {
        fprintf(stderr, "usage: %s URL... (up to 16)\n", argv[0]);
        return 2;
    }
    const char *policy = getenv("BIDE_POLICY");
    if (read_policy(policy ? policy : "examples/policy.yaml") < 0)
        return 2;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    for (int i = 0; i < n; i++) {
        pages[i].url = argv[i + 1];
        if (pthread_create(&pages[i].thread, NULL, fetch, &pages[i]) != 0)
            abort();
    }
    for (int i = 0; i < n; i++) {
        pthread_join(pages[i].thread, NULL);
        failed |= print(&pages[i]);
        free(pages[i].text);
    }
    curl_global_cleanup();
    bide_dep_free(dep);
    return failed;
}
