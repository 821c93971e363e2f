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
#include "cmd/fetch/flag_list.h"
#include "cmd/fetch/secrets.h"

static const struct flags flags = {
    "bide fetch [options] URL...",
    "Makes an HTTP request, and repeats it where that helps and does no harm. "
    "An interrupted download is resumed; a file is written whole or not at "
    "all. The options are curl's, where curl has them. An "
    "attempt has no timeout unless one is set.",
    fetch_flag_list,
    "Exit codes, of the first URL that failed: 0 the last answer was a good "
    "one, 22 it was an HTTP error (400 or above), with or without -f, 75 bide "
    "gave up (deadline, budget, breaker or a limit), 2 an error in the "
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
        .continue_at = CONTINUE_NOT,
    };
    int first, rc;

    args.policy.command = argv[0];
    bide_policy_preset(&args.policy.conf, "patient");
    rc = flags_parse(&flags, argc, argv, fetch_take, &args, &first);
    if (rc < 0) {
        for (; rc < 0 && first < argc; first++)
            if (!fetch_add_url(&args, argv[first]))
                rc = complain("fetch", "out of memory");
    }
    if (rc < 0)
        rc = fetch_settle(&args);
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
    argv = secrets_own(&argc, argv);
    if (!argv)
        return complain("fetch", "out of memory");
    argv[0] = name;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    rc = fetch(argc, argv);
    curl_global_cleanup();
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain(NULL, "cannot write the output: %s", strerror(errno));
    return rc;
}
