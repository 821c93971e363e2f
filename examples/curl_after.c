/* Prints a page. curl_before.c is the same program without bide. */
#include <bide/curl.h>
#include <curl/curl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s URL\n", argv[0]);
        return 2;
    }
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    if (bide_dep_new(&dep, "page", &conf) < 0)
        return 1;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL *easy = curl_easy_init();
    if (!easy)
        return 1;
    curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);

    CURLcode rc = bide_curl_perform(dep, easy, NULL);
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (rc != CURLE_OK)
        fprintf(stderr, "%s: %s\n", argv[1], curl_easy_strerror(rc));
    else if (status >= 400)
        fprintf(stderr, "%s: status %ld\n", argv[1], status);

    curl_easy_cleanup(easy);
    curl_global_cleanup();
    bide_dep_free(dep);
    return rc != CURLE_OK || status >= 400;
}
