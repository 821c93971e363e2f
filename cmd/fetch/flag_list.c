/* The flags of `bide fetch`: curl's, where curl has them. */
#include "cmd/fetch/flag_list.h"

#include <string.h>

#include "cmd/common/policy_choice.h"

/* clang-format off */
const struct flag fetch_flag_list[] = {
    /* the request */
    { "request", 'X', "METHOD", "the method (GET, or what the rest implies)" },
    { "header", 'H', "'K: V'",
      "a header field of the request; may be repeated. 'K:' leaves one out, "
      "'K;' sends it empty, @FILE has one on each line" },
    { "data", 'd', "DATA",
      "send this with POST; @FILE is what a file holds, without the ends of "
      "its lines. Several are joined with &" },
    { "data-binary", 0, "DATA", "the same, with the ends of lines" },
    { "data-raw", 0, "DATA", "the same, where @ means nothing" },
    { "data-urlencode", 0, "DATA",
      "the same, encoded: CONTENT, =CONTENT, NAME=CONTENT, @FILE, NAME@FILE" },
    { "get", 'G', NULL, "put the data into the URL, and send a GET" },
    { "form", 'F', "N=CONTENT",
      "send a form with POST (multipart); N=@FILE uploads a file, N=<FILE is "
      "its text; ;type= and ;filename= may follow" },
    { "form-string", 0, "N=TEXT", "the same, where @, < and ; mean nothing" },
    { "upload-file", 'T', "FILE",
      "send a file with PUT; to a URL that ends with / under its own name" },
    { "user-agent", 'A', "NAME", "the User-Agent; empty: none" },
    { "cookie", 'b', "DATA|FILE",
      "send these cookies, N=V; without a =, those of a file" },
    { "cookie-jar", 'c', "FILE", "write all cookies to a file at the end" },
    { "range", 'r', "RANGE", "ask for a part: 0-499, 500-, -500" },
    { "compressed", 0, NULL, "let the server compress the answer" },
    { "url", 0, "URL", "a URL, for configuration files" },
    /* the answer */
    { "output", 'o', "FILE",
      "write the answer to a file; the second -o is for the second URL" },
    { "remote-name", 'O', NULL,
      "write each answer to a file named as the last part of its URL" },
    { "remote-header-name", 'J', NULL,
      "with -O: as the server names it; a file that is there is kept" },
    { "output-dir", 0, "DIR", "where -o and -O put their files" },
    { "create-dirs", 0, NULL, "make the directories that these need" },
    { "continue-at", 'C', "OFFSET|-",
      "continue a partial file (-), or from a byte offset" },
    { "remote-time", 'R', NULL, "give the file the server's time" },
    { "head", 'I', NULL, "ask for the header only, and show it" },
    { "include", 'i', NULL, "show the header before the body" },
    { "dump-header", 'D', "FILE", "write the header to a file" },
    { "write-out", 'w', "FORMAT",
      "print this at the end: %{http_code}, %{time_total}, %{json} ..." },
    { "location", 'L', NULL, "follow redirects" },
    { "fail", 'f', NULL, "do not output the body of an HTTP error" },
    /* the connection */
    { "user", 'u', "NAME:PASSWORD", "log in" },
    { "netrc", 'n', NULL, "log in with what ~/.netrc has for the host" },
    { "proxy", 'x', "[PROTO://]HOST[:PORT]", "go through this proxy" },
    { "proxy-user", 'U', "NAME:PASSWORD", "log in to the proxy" },
    { "noproxy", 0, "HOSTS", "go through no proxy to these; * is all" },
    { "unix-socket", 0, "PATH", "connect to this socket" },
    { "resolve", 0, "HOST:PORT:ADDR", "use this address for a host" },
    { "ipv4", '4', NULL, "use IPv4 addresses only" },
    { "ipv6", '6', NULL, "use IPv6 addresses only" },
    { "http1.1", 0, NULL, "use HTTP/1.1" },
    { "http2", 0, NULL, "use HTTP/2 if the server can, too" },
    { "http2-prior-knowledge", 0, NULL, "use HTTP/2 without asking first" },
    { "cacert", 0, "FILE", "trust the authorities in this file" },
    { "cert", 'E', "FILE[:PASSWORD]", "our own certificate" },
    { "key", 0, "FILE", "the key of that certificate" },
    { "insecure", 'k', NULL, "do not check certificates" },
    { "limit-rate", 0, "SPEED", "bytes a second at most, such as 500k or 2M" },
    { "connect-timeout", 0, "D", "how long it may take to connect (10s)" },
    { "stall-timeout", 0, "D",
      "how long nothing at all may come, in whole seconds (30s)" },
    { "max-time", 'm', "SECONDS",
      "how long all of it may take; --deadline, with curl's exit code" },
    { "parallel-max", 'Z', "N", "how many URLs are fetched at once (8)" },
    /* what is said */
    { "silent", 's', NULL, "no progress bar and no error messages" },
    { "show-error", 'S', NULL, "with -s: show error messages nevertheless" },
    { "verbose", 'v', NULL, "show what is sent and received" },
    { "explain", 0, NULL, "print each decision as it is made" },
    { "json", 0, NULL,
      "a summary on stderr as JSON, instead of messages and bar" },
    { "log-file", 0, "FILE",
      "write that summary to a file; - is stdout, N a descriptor" },
    { "config", 'K', "FILE", "read flags from a file, as curl does; - is stdin" },
    /* the policy */
    { "hedge", 0, "p95|50ms",
      "no retries, but a second request beside one that is slow" },
    { "idempotency-key", 0, "auto|KEY",
      "make a POST or PATCH safe to retry, where the server knows such keys" },
    { "tell", 0, "WHOM",
      "who is told that bide retries (X-Bide-*, baggage): servers at private "
      "addresses (private), all or nobody" },
    POLICY_FLAGS,
    { "retry", 0, "N", "as in curl: --attempts N+1" },
    { "retry-delay", 0, "SECONDS",
      "as in curl: --base SECONDS --factor 1 --jitter none" },
    { "retry-max-time", 0, "SECONDS", "as in curl: --deadline SECONDS" },
    { "retry-connrefused", 0, NULL, "as in curl; always on" },
    /* what else curl has */
    { "retry-all-errors", 0, flag_elsewhere,
      "a policy says what is retried: --policy FILE with retry_on" },
    { "speed-time", 'y', flag_elsewhere, "use --stall-timeout D" },
    { "speed-limit", 'Y', flag_elsewhere, "use --stall-timeout D" },
    { "fail-with-body", 0, flag_elsewhere,
      "leave it out: without -f the body is shown, and the exit code is 22" },
    { "fail-early", 0, flag_elsewhere, "fetch the URLs one by one" },
    { "parallel", 0, flag_elsewhere, "use -Z N; there are 8 at once anyway" },
    { "progress-bar", '#', flag_elsewhere, "leave it out: there is one" },
    { "no-progress-meter", 0, flag_elsewhere, "use -sS" },
    { "globoff", 'g', flag_elsewhere, "leave it out: URLs are literal" },
    { "no-buffer", 'N', flag_elsewhere, "leave it out: nothing is buffered" },
    { "next", 0, flag_elsewhere, "make two calls of `bide fetch`" },
    { "basic", 0, flag_elsewhere, "leave it out: -u is Basic" },
    { "digest", 0, flag_elsewhere, "use curl: here -u is Basic" },
    { "oauth2-bearer", 0, flag_elsewhere,
      "use -H 'Authorization: Bearer TOKEN'" },
    { "trace", 0, flag_elsewhere, "use -v" },
    { "trace-ascii", 0, flag_elsewhere, "use -v" },
    { "referer", 'e', flag_elsewhere, "use -H 'Referer: URL'" },
    { "max-redirs", 0, flag_elsewhere, "leave it out: 50 are followed" },
    { "disable", 'q', flag_elsewhere, "leave it out: no ~/.curlrc is read" },
    { NULL, 0, NULL, NULL },
};
/* clang-format on */

const struct flag *fetch_flag_named(const char *name, size_t len)
{
    for (const struct flag *f = fetch_flag_list; f->name; f++)
        if (strlen(f->name) == len && strncmp(f->name, name, len) == 0)
            return f;
    return NULL;
}

const struct flag *fetch_flag_lettered(char letter)
{
    for (const struct flag *f = fetch_flag_list; f->name; f++)
        if (f->letter == letter)
            return f;
    return NULL;
}
