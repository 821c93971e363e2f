/* Values that curl has its own ways with: files of header fields, cookies,
 * certificates with their password, sizes with a letter, seconds. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/args.h"
#include "cmd/fetch/values.h"

static const char no_memory[] = "something that fits into memory";

const char *fetch_list_add(struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = curl_slist_append(*list, text);

    if (!longer)
        return no_memory;
    *list = longer;
    return NULL;
}

/* ===== files ===== */

char *fetch_read_file(const char *path, size_t *ret_len)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(path, "rbe");
    size_t len = 0, size = 0, n = 1;
    char *data = NULL;
    int err = in ? 0 : errno;

    while (!err && n > 0) {
        if (size - len < 4096) {
            char *more = realloc(data, size = size ? 2 * size : 8192);
            if (!more) {
                err = ENOMEM;
                break;
            }
            data = more;
        }
        n = fread(data + len, 1, size - len - 1, in);
        len += n;
        if (n == 0 && ferror(in))
            err = errno;
    }
    if (in && !is_stdin)
        fclose(in);
    if (err) {
        free(data);
        errno = err;
        return NULL;
    }
    data[len] = '\0';
    *ret_len = len;
    return data;
}

const char *fetch_no_file(void)
{
    static char expected[160];

    snprintf(expected, sizeof expected, "a file that can be read (%s)",
             strerror(errno));
    return expected;
}

size_t fetch_without_newlines(char *data, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        if (data[i] != '\n' && data[i] != '\r' && data[i] != '\0')
            data[n++] = data[i];
    return n;
}

/* ===== header fields ===== */

static const char *add_header(struct fetch_args *a, const char *text)
{
    size_t name = strcspn(text, ":;");

    if (name == 0 || !text[name] || strpbrk(text, "\r\n"))
        return "a header field, 'Name: value'";
    return fetch_list_add(&a->headers, text);
}

/* One on each line; empty lines are left out. */
static const char *add_header_file(struct fetch_args *a, const char *path)
{
    static char problem[200];
    const char *expected = NULL;
    size_t len;
    char *text = fetch_read_file(path, &len), *rest = text, *line;

    if (!text)
        return fetch_no_file();
    while (!expected && (line = strsep(&rest, "\n")) != NULL) {
        line[strcspn(line, "\r")] = '\0';
        if (*line)
            expected = add_header(a, line);
        if (expected && expected != no_memory) {
            snprintf(problem, sizeof problem, "%s, on each line", expected);
            expected = problem;
        }
    }
    free(text);
    return expected;
}

const char *fetch_take_headers(struct fetch_args *a, const char *text)
{
    return text[0] == '@' ? add_header_file(a, text + 1) : add_header(a, text);
}

/* ===== cookies ===== */

/* What has a = is cookies, several are joined; else it is a file. */
const char *fetch_take_cookie(struct fetch_args *a, const char *text)
{
    char *joined = NULL;

    if (!strchr(text, '='))
        return fetch_list_add(&a->cookie_files, text);
    if (asprintf(&joined, "%s%s%s", a->cookies ? a->cookies : "",
                 a->cookies ? ";" : "", text) < 0)
        return no_memory;
    free(a->cookies);
    a->cookies = joined;
    return NULL;
}

/* ===== certificates ===== */

/* "FILE:PASSWORD", where \: and \\ in the name stand for themselves. */
const char *fetch_take_cert(struct fetch_args *a, const char *text)
{
    char *name = malloc(strlen(text) + 1), *to = name;

    if (!name)
        return no_memory;
    for (; *text && *text != ':'; text++) {
        if (*text == '\\' && (text[1] == ':' || text[1] == '\\'))
            text++;
        *to++ = *text;
    }
    *to = '\0';
    free(a->cert);
    free(a->cert_password);
    a->cert = name;
    a->cert_password = *text ? strdup(text + 1) : NULL;
    return *name ? NULL : "the name of a file, or FILE:PASSWORD";
}

/* ===== numbers ===== */

bool fetch_read_seconds(const char *text, int64_t *ret_ns)
{
    char *end;
    double seconds;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    seconds = strtod(text, &end);
    if (*end)
        return bide_parse_duration(text, strlen(text), ret_ns) == 0;
    if (!(seconds < 9e9))
        return false;
    *ret_ns = (int64_t)(seconds * 1e9);
    return true;
}

/* A number, and a letter for 1024, 1024^2 or 1024^3. */
const char *fetch_take_rate(struct fetch_args *a, const char *text)
{
    static const char expected[] = "bytes a second, such as 500k or 2M";
    static const char units[] = "bkmgtp";
    char *end;
    double n = strtod(text, &end);
    const char *unit =
        *end ? strchr(units, tolower((unsigned char)*end)) : units;

    if (!isdigit((unsigned char)*text) || !unit || (*end && end[1]))
        return expected;
    for (; unit > units; unit--)
        n *= 1024;
    if (n > 9e18)
        return expected;
    a->limit_rate = (int64_t)n;
    return NULL;
}

/* A byte alone means all from there on. */
const char *fetch_take_range(struct fetch_args *a, const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (!*text || strspn(text, "0123456789-,") != strlen(text))
        return "a range of bytes, such as 0-499 or 500-";
    free(a->range);
    if (asprintf(&a->range, "%s%s", text, text[digits] ? "" : "-") < 0)
        a->range = NULL;
    return a->range ? NULL : no_memory;
}

const char *fetch_take_continue(struct fetch_args *a, const char *text)
{
    char *end;

    a->continue_at = CONTINUE_FILE;
    if (strcmp(text, "-") == 0)
        return NULL;
    errno = 0;
    a->continue_at = strtoll(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno
               ? NULL
               : "-, for the end of the file, or the number of a byte";
}

/* ===== -w ===== */

/* @FILE is a format in a file, without the ends of its lines. */
const char *fetch_take_write_out(struct fetch_args *a, const char *text)
{
    size_t len;
    char *format =
        text[0] == '@' ? fetch_read_file(text + 1, &len) : strdup(text);

    if (!format)
        return text[0] == '@' ? fetch_no_file() : no_memory;
    if (text[0] == '@')
        format[fetch_without_newlines(format, len)] = '\0';
    free(a->write_out);
    a->write_out = format;
    return NULL;
}

/* ===== retries, in curl's words ===== */

static const char *set_policy(struct fetch_args *a, const char *flag,
                              const char *text)
{
    const char *expected = NULL;

    return policy_flag(&a->policy, flag, text, &expected) < 0 ? expected : NULL;
}

static const char *take_delay(struct fetch_args *a, const char *text,
                              int64_t ns)
{
    if (ns == 0)
        return NULL; /* curl's way of saying: as you see fit */
    set_policy(a, "factor", "1");
    set_policy(a, "jitter", "none");
    set_policy(a, "cap", text);
    return set_policy(a, "base", text);
}

/* The texts must live on; each is set by one flag. */
const char *fetch_take_retry(struct fetch_args *a, const char *name,
                             const char *text)
{
    static char attempts[24], delay[32], deadline[32];
    char *end;
    long n;
    int64_t ns;

    if (strcmp(name, "retry-connrefused") == 0)
        return NULL;
    if (strcmp(name, "retry") == 0) {
        n = strtol(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end || n > 1000000)
            return "a number of retries";
        snprintf(attempts, sizeof attempts, "%ld", n + 1);
        return set_policy(a, "attempts", attempts);
    }
    if (!fetch_read_seconds(text, &ns))
        return "seconds, or a duration such as 250ms";
    if (strcmp(name, "retry-delay") == 0) {
        snprintf(delay, sizeof delay, "%lldns", (long long)ns);
        return take_delay(a, delay, ns);
    }
    a->max_time = a->max_time || strcmp(name, "max-time") == 0;
    if (ns == 0) {
        a->max_time = false; /* no limit */
        return NULL;
    }
    snprintf(deadline, sizeof deadline, "%lldns", (long long)ns);
    return set_policy(a, "deadline", deadline);
}
