/* bide fetch: HTTP requests under a policy. A program of its own, which `bide
 * fetch` executes (cmd/common/exec.h says why). */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "cmd/common/files.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/fetch.h"

static const struct flag flag_list[] = {
    { "request", 'X', "METHOD", "the method (GET, or what the rest implies)" },
    { "header", 'H', "'K: V'",
      "a header field of the request; may be repeated. 'K:' leaves one out, "
      "'K;' sends it empty" },
    { "data", 'd', "DATA",
      "send this with POST; @FILE is what a file holds, without the ends of "
      "its lines. Several are joined with &" },
    { "data-binary", 0, "DATA", "the same, with the ends of lines" },
    { "upload-file", 'T', "FILE",
      "send a file with PUT; to a URL that ends with / under its own name" },
    { "output", 'o', "FILE",
      "write the answer to a file; the second -o is for the second URL" },
    { "remote-name", 'O', NULL,
      "write each answer to a file named as the last part of its URL" },
    { "head", 'I', NULL, "ask for the header only, and show it" },
    { "location", 'L', NULL, "follow redirects" },
    { "fail", 'f', NULL, "do not output the body of an HTTP error" },
    { "user", 'u', "NAME:PASSWORD", "log in" },
    { "cacert", 0, "FILE", "trust the authorities in this file" },
    { "insecure", 'k', NULL, "do not check certificates" },
    { "silent", 's', NULL, "no progress bar, and no word about failures" },
    { "show-error", 'S', NULL, "with -s: tell failures nevertheless" },
    { "verbose", 'v', NULL, "show what is sent and received" },
    { "explain", 0, NULL, "print each decision as it is made" },
    { "hedge", 0, "p95|50ms",
      "no retries, but a second request beside one that is slow" },
    { "idempotency-key", 0, "auto|KEY",
      "make a POST or PATCH safe to retry, where the server knows such keys" },
    { "parallel-max", 'Z', "N", "how many URLs are fetched at once (8)" },
    { "connect-timeout", 0, "D", "how long it may take to connect (10s)" },
    { "stall-timeout", 0, "D",
      "how long nothing at all may come, in whole seconds (30s)" },
    { "json", 0, "FILE", "write a summary; - is stdout, N a descriptor" },
    { "tell", 0, "WHOM",
      "who is told that bide retries (X-Bide-*, baggage): servers at private "
      "addresses (private), all or nobody" },
    POLICY_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide fetch [options] URL...",
    "Makes an HTTP request, and makes it again where that helps and does no "
    "harm. A download that broke off goes on where it was; a file is there "
    "whole or not at all. The options are curl's, where curl has them. An "
    "attempt has no timeout unless one is set.",
    flag_list,
    "Exit codes, of the first URL that failed: 0 the last answer was a good "
    "one, 22 it was an HTTP error (400 or above), with or without -f, 75 bide "
    "gave up (deadline, budget, breaker or a limit), 2 a mistake in the "
    "arguments or in the policy, else that of curl, such as 6 no such host, 7 "
    "not connected, 18 broken off, 23 cannot write, 28 timed out, 60 bad "
    "certificate.\n\n"
    "Examples:\n"
    "  bide fetch https://example.org/\n"
    "  bide fetch -fLO --deadline 10m https://example.org/big.iso\n"
    "  bide fetch --idempotency-key auto -d amount=10 https://example.org/pay\n"
    "  bide fetch --explain --attempts 6 -sS https://example.org/api",
};

static int fetch(int argc, char **argv)
{
    struct fetch_args args = {
        .policy = POLICY_CHOICE_INIT,
        .connect_timeout_ns = 10 * BIDE_SECOND,
        .stall_timeout_ns = 30 * BIDE_SECOND,
        .parallel = 8,
        .tell = BIDE_CURL_TELL_PRIVATE,
    };
    int first, rc;

    args.policy.command = argv[0];
    bide_policy_preset(&args.policy.conf, "patient");
    rc = flags_parse(&flags, argc, argv, fetch_take, &args, &first);
    if (rc < 0) {
        args.urls = argv + first;
        args.n_urls = (size_t)(argc - first);
        rc = fetch_settle(&args);
    }
    if (rc < 0)
        rc = fetch_loop(&args);
    fetch_args_done(&args);
    return rc;
}

int main(int argc, char **argv)
{
    static char name[] = "fetch";
    int rc;

    hold_standard_files();
    setlocale(LC_CTYPE, ""); /* numbers keep their decimal point */
    if (argc < 1)
        return EXIT_USAGE;
    argv[0] = name;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    rc = fetch(argc, argv);
    curl_global_cleanup();
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain(NULL, "cannot write the output: %s", strerror(errno));
    return rc;
}
