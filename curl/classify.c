/* Maps CURLcode, status and header fields to the engine's terms.
 *
 * The engine's own table does the rest: this only says what happened. If
 * libcurl does not say whether the server has seen the request, it may have. */
#include "curl/classify.h"

#include <errno.h>
#include <string.h>

/* The codes that say more than "other". */
static const struct {
    CURLcode code;
    bide_fault fault;
} faults[] = {
    { CURLE_HTTP_RETURNED_ERROR, BIDE_FAULT_NONE }, /* the status decides */
    { CURLE_COULDNT_RESOLVE_HOST, BIDE_FAULT_DNS },
    { CURLE_COULDNT_RESOLVE_PROXY, BIDE_FAULT_DNS },
    { CURLE_COULDNT_CONNECT, BIDE_FAULT_CONNECT },
    { CURLE_PROXY, BIDE_FAULT_CONNECT },
    { CURLE_OPERATION_TIMEDOUT, BIDE_FAULT_TIMEOUT },
    { CURLE_SEND_ERROR, BIDE_FAULT_RESET },
    { CURLE_RECV_ERROR, BIDE_FAULT_RESET },
    { CURLE_GOT_NOTHING, BIDE_FAULT_RESET },
    { CURLE_PARTIAL_FILE, BIDE_FAULT_RESET },
    { CURLE_HTTP2, BIDE_FAULT_RESET },
    { CURLE_HTTP2_STREAM, BIDE_FAULT_RESET },
    { CURLE_HTTP3, BIDE_FAULT_RESET },
    { CURLE_QUIC_CONNECT_ERROR, BIDE_FAULT_RESET },
    /* A handshake that broke off: a restarting server does that. */
    { CURLE_SSL_CONNECT_ERROR, BIDE_FAULT_RESET },
    { CURLE_PEER_FAILED_VERIFICATION, BIDE_FAULT_TLS },
    { CURLE_SSL_CERTPROBLEM, BIDE_FAULT_TLS },
    { CURLE_SSL_CIPHER, BIDE_FAULT_TLS },
    { CURLE_SSL_CACERT_BADFILE, BIDE_FAULT_TLS },
    { CURLE_SSL_CRL_BADFILE, BIDE_FAULT_TLS },
    { CURLE_SSL_ISSUER_ERROR, BIDE_FAULT_TLS },
    { CURLE_SSL_PINNEDPUBKEYNOTMATCH, BIDE_FAULT_TLS },
    { CURLE_SSL_INVALIDCERTSTATUS, BIDE_FAULT_TLS },
    { CURLE_SSL_CLIENTCERT, BIDE_FAULT_TLS },
    { CURLE_SSL_ENGINE_NOTFOUND, BIDE_FAULT_TLS },
    { CURLE_SSL_ENGINE_SETFAILED, BIDE_FAULT_TLS },
    { CURLE_SSL_ENGINE_INITFAILED, BIDE_FAULT_TLS },
    { CURLE_USE_SSL_FAILED, BIDE_FAULT_TLS },
    { CURLE_URL_MALFORMAT, BIDE_FAULT_URL },
    { CURLE_UNSUPPORTED_PROTOCOL, BIDE_FAULT_URL },
    { CURLE_WEIRD_SERVER_REPLY, BIDE_FAULT_MALFORMED },
    { CURLE_BAD_CONTENT_ENCODING, BIDE_FAULT_MALFORMED },
    { CURLE_TOO_MANY_REDIRECTS, BIDE_FAULT_MALFORMED },
    { CURLE_FILESIZE_EXCEEDED, BIDE_FAULT_MALFORMED },
    { CURLE_RANGE_ERROR, BIDE_FAULT_MALFORMED },
    { CURLE_OUT_OF_MEMORY, BIDE_FAULT_LOCAL },
    { CURLE_FAILED_INIT, BIDE_FAULT_LOCAL },
    { CURLE_INTERFACE_FAILED, BIDE_FAULT_LOCAL },
    { CURLE_NO_CONNECTION_AVAILABLE, BIDE_FAULT_LOCAL },
    { CURLE_UNRECOVERABLE_POLL, BIDE_FAULT_LOCAL },
    { CURLE_ABORTED_BY_CALLBACK, BIDE_FAULT_CANCELLED },
    { CURLE_WRITE_ERROR, BIDE_FAULT_CANCELLED }, /* the caller refused data */
};

bool bide__curl_unsent(CURL *easy)
{
    long head = 0;
    curl_off_t body = 0;
    curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &head);
    curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &body);
    return head == 0 && body == 0;
}

/* Out of local sockets or ports, which libcurl reports as a failure to
 * connect. */
static bool is_local(CURL *easy)
{
    long err = 0;
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &err);
    return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM ||
           err == EADDRNOTAVAIL;
}

static bide_fault seen_fault(CURL *easy, CURLcode code)
{
    bide_fault fault = BIDE_FAULT_OTHER;
    long verify = 0;
    if (code == CURLE_OK)
        return BIDE_FAULT_NONE;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (faults[i].code == code)
            fault = faults[i].fault;
    if (fault == BIDE_FAULT_URL && !bide__curl_unsent(easy))
        return BIDE_FAULT_MALFORMED; /* a response that is not HTTP */
    if (fault == BIDE_FAULT_CONNECT && is_local(easy))
        return BIDE_FAULT_LOCAL;
    if (code == CURLE_SSL_CONNECT_ERROR &&
        curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &verify) == 0 &&
        verify != 0)
        return BIDE_FAULT_TLS;
    return fault;
}

/* The engine takes some faults as proof that nothing was sent. They are not if
 * something was: a keep-alive connection broke, and libcurl could not open
 * another to send the request again; or memory ran out. So check which it
 * is. */
static bide_fault fault_of(CURL *easy, CURLcode code, bool unproved)
{
    bide_fault fault = seen_fault(easy, code);
    const bide_response alone = { .fault = fault };
    return unproved && bide_classify(NULL, &alone).not_processed
               ? BIDE_FAULT_RESET
               : fault;
}

enum { MAX_FIELDS = 128 };

/* The fields of the last response, if there were several. */
static size_t fields_of(CURL *easy, unsigned from, bide_header *fields)
{
    struct curl_header *h = NULL;
    size_t n = 0;
    while (n < MAX_FIELDS && (h = curl_easy_nextheader(easy, from, -1, h)))
        fields[n++] = (bide_header){ h->name, strlen(h->name), h->value,
                                     strlen(h->value) };
    return n;
}

/* The status with which a proxy refused the tunnel; 0: none did. */
static long tunnel_refusal(CURL *easy, CURLcode code)
{
    long status = 0;
    if (code != CURLE_OK)
        curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 400 ? status : 0;
}

/* The request has not been sent, and the status is not the server's. But the
 * proxy's status counts as if it were: 403 will not improve, 503 may. The proxy
 * was there and worked, so this is no failure to connect, which would not count
 * as an attempt. */
static bide_outcome classify_refusal(const bide_dep *dep, CURL *easy,
                                     long status, const char *method)
{
    bide_header fields[MAX_FIELDS];
    const bide_response r = {
        .status = (int)status,
        .method = method,
        .headers = fields,
        .n_headers = fields_of(easy, CURLH_CONNECT, fields),
        .wall_s = bide_wall_s(),
    };
    bide_outcome out = bide_classify(dep, &r);
    out.fault = BIDE_FAULT_OTHER;
    out.not_processed = true;
    out.status = 0;
    return out;
}

bide_outcome bide__curl_classify(const bide_dep *dep, CURL *easy, CURLcode code,
                                 const struct bide__facts *facts)
{
    const bide_policy_conf *policy = dep ? bide_dep_policy(dep) : NULL;
    bide_header fields[MAX_FIELDS];
    long status = 0;
    if (!facts->unanswered)
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status == 0)
        return BIDE_OUTCOME_SUCCESS; /* a file, or HTTP/0.9 */
    if (bide__is_good_answer(policy, code, status))
        return (bide_outcome){ .cls = BIDE_SUCCESS, .status = (int)status };
    bool unproved = status == 0 && !facts->not_sent;
    long refusal = facts->not_sent ? tunnel_refusal(easy, code) : 0;
    if (refusal)
        return classify_refusal(dep, easy, refusal, facts->method);
    const bide_response r = {
        .status = (int)status,
        .fault = facts->status_only ? BIDE_FAULT_NONE
                 : facts->refused   ? BIDE_FAULT_REFUSED_STREAM
                                    : fault_of(easy, code, unproved),
        .not_sent = facts->not_sent,
        .method = facts->method,
        .headers = fields,
        .n_headers = fields_of(easy, CURLH_HEADER | CURLH_TRAILER, fields),
        .body = facts->body,
        .body_len = facts->body_len,
        .wall_s = bide_wall_s(),
    };
    return bide_classify(dep, &r);
}

bide_outcome bide_curl_classify(const bide_dep *dep, CURL *easy, CURLcode code)
{
    if (!easy)
        return bide_classify(dep, NULL);
    const struct bide__facts facts = { .not_sent = bide__curl_unsent(easy) };
    return bide__curl_classify(dep, easy, code, &facts);
}
