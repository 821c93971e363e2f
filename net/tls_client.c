/* The details of a client's certificate as text: the elements of Envoy's
 * x-forwarded-client-cert.
 *
 *     Hash=9a3c...;Subject="CN=shop,O=Example";URI=spiffe://a/shop;DNS=shop.a
 *
 * Written once for a session and kept with it. A certificate is signed by an
 * authority we trust, but that does not make its names harmless: nothing in
 * them can end a value, an element, or the line. */
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "net/tls_server.h"

static void on_free(void *parent, void *text, CRYPTO_EX_DATA *ad, int index,
                    long argl, void *argp)
{
    (void)parent, (void)ad, (void)index, (void)argl, (void)argp;
    OPENSSL_free(text);
}

static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
static int text_index;

static void make_index(void)
{
    text_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, on_free);
}

/* ===== elements ===== */

static bool put_hash(BIO *to, const X509 *certificate)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (X509_digest(certificate, EVP_sha256(), hash, &n) != 1)
        return false;
    BIO_puts(to, "Hash=");
    for (unsigned i = 0; i < n; i++)
        BIO_printf(to, "%02x", hash[i]);
    return true;
}

/* RFC 2253 escapes quotes and unprintable characters with a backslash: so it
 * can be put in quotes unchanged. */
static void put_subject(BIO *to, const X509 *certificate)
{
    BIO_puts(to, ";Subject=\"");
    X509_NAME_print_ex(to, X509_get_subject_name(certificate), 0,
                       XN_FLAG_RFC2253);
    BIO_puts(to, "\"");
}

/* Quoted if it contains a delimiter of the format; what is not allowed in a
 * header field is percent-encoded. */
static void put_value(BIO *to, const char *key, const ASN1_IA5STRING *value)
{
    const unsigned char *text = ASN1_STRING_get0_data(value);
    int len = ASN1_STRING_length(value);
    const char *quote = "";
    for (int i = 0; i < len; i++)
        if (text[i] != '\0' && strchr(",;=", text[i]))
            quote = "\"";
    BIO_printf(to, ";%s=%s", key, quote);
    for (int i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] >= 0x7f || text[i] == '"' ||
            text[i] == '\\')
            BIO_printf(to, "%%%02X", text[i]);
        else
            BIO_write(to, &text[i], 1);
    BIO_puts(to, quote);
}

static void put_names(BIO *to, const GENERAL_NAMES *all, int type,
                      const char *key)
{
    for (int i = 0; all && i < sk_GENERAL_NAME_num(all); i++) {
        const GENERAL_NAME *n = sk_GENERAL_NAME_value(all, i);
        if (n->type == type)
            put_value(to, key, n->d.ia5);
    }
}

/* ===== the whole value ===== */

static char *text_of(const X509 *certificate)
{
    char *text = NULL, *bytes = NULL;
    BIO *to = BIO_new(BIO_s_mem());
    if (!to)
        return NULL;
    GENERAL_NAMES *all =
        X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    if (put_hash(to, certificate)) {
        put_subject(to, certificate);
        put_names(to, all, GEN_URI, "URI");
        put_names(to, all, GEN_DNS, "DNS");
        long len = BIO_get_mem_data(to, &bytes);
        text = OPENSSL_strndup(bytes, (size_t)len);
    }
    GENERAL_NAMES_free(all);
    BIO_free(to);
    return text;
}

const char *bide__tls_client_certificate(struct net_conn *conn)
{
    SSL *ssl = conn->session;
    if (!CRYPTO_THREAD_run_once(&once, make_index) || !ssl)
        return NULL;
    char *text = SSL_get_ex_data(ssl, text_index);
    const X509 *certificate = text ? NULL : SSL_get0_peer_certificate(ssl);
    if (!certificate || SSL_get_verify_result(ssl) != X509_V_OK)
        return text;
    text = text_of(certificate);
    if (text && SSL_set_ex_data(ssl, text_index, text) == 1)
        return text;
    OPENSSL_free(text);
    return NULL;
}
