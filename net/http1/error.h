/* net/http1/error.h: why a message is refused.
 *
 * What two readers could understand differently is refused, not repaired: that
 * is how requests are smuggled. Every refusal has a number that does not
 * change, a name, a text and the status to respond with. */
#ifndef BIDE_NET_HTTP1_ERROR_H
#define BIDE_NET_HTTP1_ERROR_H

/* X(error, value, status, name, text). Status is what a server responds to such
 * a request; for a response it means nothing (a proxy responds with 502). */
/* clang-format off */
#define HTTP1_ERRORS(X)                                                        \
    X(HTTP1_EMETHOD, -1, 400, "method",                                        \
      "the method is not a token")                                             \
    X(HTTP1_ETARGET, -2, 400, "target",                                        \
      "the request target is not valid")                                       \
    X(HTTP1_EVERSION, -3, 505, "version",                                      \
      "the version is neither HTTP/1.0 nor HTTP/1.1")                          \
    X(HTTP1_ESTART, -4, 400, "first_line",                                     \
      "the first line does not follow its grammar")                            \
    X(HTTP1_ESTATUS, -5, 502, "status",                                        \
      "the status code is not three digits from 100")                          \
    X(HTTP1_EBARELF, -6, 400, "bare_lf",                                       \
      "a line ends in LF without CR")                                          \
    X(HTTP1_EBARECR, -7, 400, "bare_cr",                                       \
      "a CR without LF")                                                       \
    X(HTTP1_EFOLD, -8, 400, "obs_fold",                                        \
      "a header line begins with a blank (obs-fold)")                          \
    X(HTTP1_ENAME, -9, 400, "name",                                            \
      "a header line without a name that is a token, and a colon")                                 \
    X(HTTP1_ECOLON, -10, 400, "space_before_colon",                            \
      "a blank before the colon of a header line")                             \
    X(HTTP1_EVALUE, -11, 400, "value",                                         \
      "a control character in a header value")                                 \
    X(HTTP1_EFIELDS, -12, 431, "too_many_fields",                              \
      "too many header lines")                                                 \
    X(HTTP1_EHEAD, -13, 431, "head_too_long",                                  \
      "the head is too long")                                                  \
    X(HTTP1_EHOST, -14, 400, "host",                                           \
      "Host is missing, repeated or not valid")                                \
    X(HTTP1_ELENGTH, -15, 400, "content_length",                               \
      "Content-Length is not a plain number")                                  \
    X(HTTP1_ELENGTHS, -16, 400, "content_length_repeated",                     \
      "Content-Length is given more than once")                                \
    X(HTTP1_ECODING, -17, 400, "transfer_encoding",                            \
      "Transfer-Encoding is not exactly chunked")                              \
    X(HTTP1_ECODINGS, -18, 400, "transfer_encoding_repeated",                  \
      "Transfer-Encoding is given more than once")                             \
    X(HTTP1_EBOTH, -19, 400, "length_and_encoding",                            \
      "Content-Length and Transfer-Encoding together")                         \
    X(HTTP1_ECODING10, -20, 400, "transfer_encoding_in_1_0",                   \
      "Transfer-Encoding in HTTP/1.0")                                         \
    X(HTTP1_ECONNECTION, -21, 400, "connection",                               \
      "Connection names what it must not")                                     \
    X(HTTP1_EEXPECT, -22, 417, "expect",                                       \
      "Expect asks for something unknown")                                     \
    X(HTTP1_EUPGRADE, -23, 502, "upgrade",                                     \
      "101 without an upgrade that was asked for")                             \
    X(HTTP1_ETUNNEL, -24, 400, "connect_body",                                 \
      "CONNECT with a body")                                                   \
    X(HTTP1_ECHUNK, -25, 400, "chunk_size",                                    \
      "a chunk size is not a plain hex number")                                \
    X(HTTP1_ECHUNKBIG, -26, 400, "chunk_too_large",                            \
      "a chunk size is too large")                                             \
    X(HTTP1_ECHUNKEXT, -27, 400, "chunk_extension",                            \
      "a chunk extension is not valid or too long")                            \
    X(HTTP1_ECHUNKEND, -28, 400, "chunk_end",                                  \
      "no CRLF where a chunk ends")                                            \
    X(HTTP1_ETRAILER, -29, 400, "trailer",                                     \
      "a field that must not be in a trailer")                                 \
    X(HTTP1_ETRUNCATED, -30, 400, "truncated",                                 \
      "the connection ended inside a message")
/* clang-format on */

enum {
#define X(error, value, status, name, text) error = value,
    HTTP1_ERRORS(X)
#undef X
};

/* "bare_lf", for logs and metrics; a sentence for people; the status to respond
 * with. Never NULL; for a number that is no error "none", "no error" and
 * 200. */
const char *http1_error_name(int rc);
const char *http1_error_text(int rc);
int http1_error_status(int rc);

#endif
