/* What the examples of curl/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* curl/transfer.h */
bide_dep *dep;
CURL *easy;
bide_curl_opts *opts;
bide_decision d;
struct bide__transfer t;
int64_t now;
int64_t wait_until(int64_t at_ns);
