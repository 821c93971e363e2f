/* TLS for clients: one certificate, or one of several by the name that the
 * client requests (SNI).
 *
 * The names are those of the certificates themselves, the DNS entries of their
 * subjectAltName. A full name takes precedence over one with `*`, which stands
 * for one label; of two certificates with the same name the first wins. A
 * client that names none of them, or nothing, gets the first certificate: that
 * makes the problem most visible. */
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "net/tls_openssl.h"
#include "net/tls_server.h"

/* A name and its certificate. `*.example.org` is kept as `.example.org`. */
struct named {
    char *name;
    SSL_CTX *ctx; /* has a reference; NULL: that of the first certificate */
    size_t nth;   /* of the certificate */
};

/* Each name once, in order. Threads: immutable. */
struct names {
    size_t n;
    struct named list[];
};

/* ===== the table ===== */

static int by_name(const void *a, const void *b)
{
    return strcasecmp(((const struct named *)a)->name,
                      ((const struct named *)b)->name);
}

static int by_name_then_place(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = by_name(a, b);
    return order ? order : x->nth < y->nth ? -1 : x->nth > y->nth;
}

static void named_done(struct named *n)
{
    OPENSSL_free(n->name);
    SSL_CTX_free(n->ctx);
}

static void names_free(struct names *t)
{
    for (size_t i = 0; t && i < t->n; i++)
        named_done(&t->list[i]);
    free(t);
}

static void names_sort(struct names *t)
{
    size_t n = 0;
    qsort(t->list, t->n, sizeof t->list[0], by_name_then_place);
    for (size_t i = 0; i < t->n; i++)
        if (n > 0 && by_name(&t->list[n - 1], &t->list[i]) == 0)
            named_done(&t->list[i]);
        else
            t->list[n++] = t->list[i];
    t->n = n;
}

/* The table is attached to the settings of the first certificate, with which
 * sessions begin. */
static void on_free(void *parent, void *table, CRYPTO_EX_DATA *ad, int index,
                    long argl, void *argp)
{
    (void)parent, (void)ad, (void)index, (void)argl, (void)argp;
    names_free(table);
}

static int table_index(void)
{
    static int index = -1; /* settings are created by one thread */
    if (index < 0)
        index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_free);
    return index;
}

static const struct named *find(const struct names *t, const char *name)
{
    union {
        const char *in;
        char *out;
    } same = { name };
    struct named key = { .name = same.out };
    return bsearch(&key, t->list, t->n, sizeof t->list[0], by_name);
}

static int choose_certificate(SSL *ssl, int *alert, void *table)
{
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    const struct named *it = name ? find(table, name) : NULL;
    const char *dot = name ? strchr(name, '.') : NULL;
    (void)alert;
    if (!it && dot && dot != name)
        it = find(table, dot);
    if (it && it->ctx)
        SSL_set_SSL_CTX(ssl, it->ctx);
    return SSL_TLSEXT_ERR_OK;
}

/* ===== names of a certificate ===== */

/* In the form used for lookups; NULL: not usable as SNI. */
static char *name_of(const GENERAL_NAME *n)
{
    unsigned char *text = NULL;
    if (n->type != GEN_DNS)
        return NULL;
    int len = ASN1_STRING_to_UTF8(&text, n->d.dNSName);
    size_t skip = len > 2 && text[0] == '*' && text[1] == '.' ? 1 : 0;
    if (len <= (int)skip || memchr(text, '\0', (size_t)len)) {
        OPENSSL_free(text);
        return NULL;
    }
    memmove(text, text + skip, (size_t)len + 1 - skip);
    return (char *)text;
}

/* Adds the names of the nth certificate, and counts them. NULL: no memory; the
 * table has then been freed. */
static struct names *add_names(struct names *t, SSL_CTX *ctx, size_t nth,
                               size_t *ret_found)
{
    GENERAL_NAMES *all = X509_get_ext_d2i(SSL_CTX_get0_certificate(ctx),
                                          NID_subject_alt_name, NULL, NULL);
    size_t n = all ? (size_t)sk_GENERAL_NAME_num(all) : 0;
    struct names *more = realloc(t, sizeof *t + (t->n + n) * sizeof t->list[0]);
    if (!more)
        names_free(t);
    *ret_found = 0;
    for (size_t i = 0; more && i < n; i++) {
        char *name = name_of(sk_GENERAL_NAME_value(all, (int)i));
        if (!name)
            continue;
        if (nth > 0)
            SSL_CTX_up_ref(ctx);
        more->list[more->n++] =
            (struct named){ name, nth > 0 ? ctx : NULL, nth };
        (*ret_found)++;
    }
    GENERAL_NAMES_free(all);
    return more;
}

/* ===== settings ===== */

static int choose_protocol(SSL *ssl, const unsigned char **out,
                           unsigned char *out_len, const unsigned char *in,
                           unsigned in_len, void *arg)
{
    const unsigned char *ours = arg;
    unsigned n = ours == bide__tls_protocols ? BIDE__TLS_H2 : 0;
    unsigned char *chosen;
    (void)ssl;
    if (SSL_select_next_proto(&chosen, out_len, ours, n + BIDE__TLS_HTTP1, in,
                              in_len) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static bool ask_clients(SSL_CTX *ctx, const struct net_tls_server *conf,
                        char *err, size_t size)
{
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(conf->client_ca);
    if (!names || SSL_CTX_load_verify_file(ctx, conf->client_ca) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        bide__tls_explain(err, size, "client CA", conf->client_ca);
        return false;
    }
    SSL_CTX_set_client_CA_list(ctx, names);
    SSL_CTX_set_verify(ctx,
                       conf->client_required
                           ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                           : SSL_VERIFY_PEER,
                       NULL);
    return true;
}

/* The settings for one certificate: all else is the same for all. */
static SSL_CTX *pair_new(const struct net_tls_server *conf, size_t i, char *err,
                         size_t size)
{
    const struct net_tls_pair *pair = &conf->pairs[i];
    SSL_CTX *ctx = bide__tls_settings(TLS_server_method());
    snprintf(err, size, "no memory");
    if (!ctx ||
        !bide__tls_use(ctx, pair->certificate, pair->key, err, size) ||
        (conf->client_ca && !ask_clients(ctx, conf, err, size))) {
        SSL_CTX_free(ctx);
        return NULL;
    }
    const unsigned char *ours =
        bide__tls_protocols + (conf->http2 ? 0 : BIDE__TLS_H2);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, (void *)(uintptr_t)ours);
    SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"bide", 4);
    return ctx;
}

/* Adds a further certificate to the table. NULL, and why. */
static struct names *read_pair(struct names *t,
                               const struct net_tls_server *conf, size_t i,
                               char *err, size_t size)
{
    size_t found;
    SSL_CTX *ctx = pair_new(conf, i, err, size);
    if (!ctx) {
        names_free(t);
        return NULL;
    }
    t = add_names(t, ctx, i, &found);
    SSL_CTX_free(ctx);
    if (!t || found > 0)
        return t;
    snprintf(err, size,
             "certificate %s is for no name: it has no DNS entry in its "
             "subjectAltName",
             conf->pairs[i].certificate);
    names_free(t);
    return NULL;
}

/* The first one's names are in the table as well: they are its own, even if
 * others have them too. NULL, and why. */
static struct names *read_names(SSL_CTX *first,
                                const struct net_tls_server *conf, char *err,
                                size_t size)
{
    struct names *t = calloc(1, sizeof *t);
    size_t found;
    snprintf(err, size, "no memory");
    if (t)
        t = add_names(t, first, 0, &found);
    for (size_t i = 1; t && i < conf->n_pairs; i++)
        t = read_pair(t, conf, i, err, size);
    if (t)
        names_sort(t);
    return t;
}

void *bide__tls_server_new(const struct net_tls_server *conf, char *err,
                           size_t size)
{
    SSL_CTX *first = pair_new(conf, 0, err, size);
    if (!first || conf->n_pairs == 1)
        return first;
    struct names *t = read_names(first, conf, err, size);
    if (!t || SSL_CTX_set_ex_data(first, table_index(), t) != 1) {
        names_free(t);
        SSL_CTX_free(first);
        return NULL;
    }
    SSL_CTX_set_tlsext_servername_callback(first, choose_certificate);
    SSL_CTX_set_tlsext_servername_arg(first, t);
    return first;
}
