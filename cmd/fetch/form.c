/* Forms (-F), as curl reads them:
 *
 *     name=text    name=@file    name=<file    name=@one,two
 *
 * and behind each ;type=T ;filename=N ;encoder=E ;headers=H, where a value may
 * be in quotes. libcurl reads files itself, and rewinds them for another
 * attempt. What comes from standard input is read once, here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/common/output.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/body.h"
#include "cmd/fetch/values.h"

/* What may follow a part. */
struct extras {
    char *type, *filename, *encoder;
    struct curl_slist *headers;
};

/* ===== words ===== */

/* A word up to one of `ends`, or in quotes, ended in place; *text moves on to
 * what follows it, and *ret_end is the character there. */
static char *word(char **text, const char *ends, char *ret_end)
{
    char *from = *text, *to = from, *begin = from;

    if (*from == '"') {
        begin = to = ++from;
        for (; *from && *from != '"'; from++) {
            if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
                from++;
            *to++ = *from;
        }
        from += *from == '"';
        from += strcspn(from, ends);
    } else {
        from += strcspn(from, ends);
        to = from;
        while (to > begin && (to[-1] == ' ' || to[-1] == '\t'))
            to--;
    }
    *ret_end = *from;
    *text = *from ? from + 1 : from;
    *to = '\0';
    return begin;
}

static bool starts(const char *text, const char *name)
{
    return strncasecmp(text, name, strlen(name)) == 0;
}

/* A type may itself have parameters: "text/plain; charset=utf-8". */
static char *type_word(char **text, char *end)
{
    char *begin = *text, *all = begin;
    char *type = word(text, ",;", end);

    while (*end == ';' && !starts(*text + strspn(*text, " "), "filename=") &&
           !starts(*text + strspn(*text, " "), "encoder=") &&
           !starts(*text + strspn(*text, " "), "headers=") &&
           strchr(*text, '=')) {
        all[strlen(all)] = ';';
        word(text, ",;", end);
    }
    return type;
}

/* Reads ;type=... and so on; gives the character that ended it: , or NUL. */
static char read_extras(char **text, char end, struct extras *x)
{
    while (end == ';') {
        *text += strspn(*text, " \t");
        if (starts(*text, "type=")) {
            *text += 5;
            x->type = type_word(text, &end);
        } else if (starts(*text, "filename=")) {
            *text += 9;
            x->filename = word(text, ",;", &end);
        } else if (starts(*text, "encoder=")) {
            *text += 8;
            x->encoder = word(text, ",;", &end);
        } else if (starts(*text, "headers=")) {
            *text += 8;
            fetch_list_add(&x->headers, word(text, ",;", &end));
        } else {
            word(text, ",;", &end);
        }
    }
    return end;
}

/* ===== parts ===== */

static bool set_extras(curl_mimepart *part, struct extras *x)
{
    CURLcode rc = CURLE_OK;

    if (x->type)
        rc = curl_mime_type(part, x->type);
    if (rc == CURLE_OK && x->filename)
        rc = curl_mime_filename(part, x->filename);
    if (rc == CURLE_OK && x->encoder)
        rc = curl_mime_encoder(part, x->encoder);
    if (rc == CURLE_OK && x->headers)
        rc = curl_mime_headers(part, x->headers, 1);
    else
        curl_slist_free_all(x->headers);
    return rc == CURLE_OK;
}

/* With '<' the content only, and no name of a file. */
static bool set_file(curl_mimepart *part, const char *path, bool named)
{
    size_t len;
    char *data;
    bool fine;

    if (strcmp(path, "-") != 0) {
        if (curl_mime_filedata(part, path) != CURLE_OK)
            return false;
        return named || curl_mime_filename(part, NULL) == CURLE_OK;
    }
    data = fetch_read_file(path, &len);
    fine = data && curl_mime_data(part, data, len) == CURLE_OK;
    free(data);
    return fine && (!named || curl_mime_filename(part, "-") == CURLE_OK);
}

/* Several files in one field are a part of parts. */
static bool add_files(CURL *easy, curl_mimepart *part, char *text)
{
    bool several = strchr(text, ',') && !strchr(text, '"');
    curl_mime *inner = several ? curl_mime_init(easy) : NULL;
    char end = ',';

    while (end == ',') {
        curl_mimepart *one = inner ? curl_mime_addpart(inner) : part;
        struct extras x = { .type = NULL };
        char *path = word(&text, ",;", &end);
        end = read_extras(&text, end, &x);
        if (!one || !set_file(one, path, true) || !set_extras(one, &x)) {
            complain("fetch", "--form: %s: %s", path, strerror(errno));
            curl_mime_free(inner);
            return false;
        }
    }
    return !inner || curl_mime_subparts(part, inner) == CURLE_OK;
}

static bool add_content(CURL *easy, curl_mimepart *part, char *text)
{
    struct extras x = { .type = NULL };
    bool from_file = text[0] == '<';
    char end, *value;

    if (text[0] == '@') {
        text++;
        return add_files(easy, part, text);
    }
    text += from_file;
    value = word(&text, ";", &end);
    read_extras(&text, end, &x);
    errno = 0;
    if (from_file
            ? set_file(part, value, false)
            : curl_mime_data(part, value, CURL_ZERO_TERMINATED) == CURLE_OK)
        return set_extras(part, &x);
    complain("fetch", "--form: %s: %s", value, strerror(errno));
    curl_slist_free_all(x.headers);
    return false;
}

static bool add_part(CURL *easy, curl_mime *mime, const char *form)
{
    curl_mimepart *part = curl_mime_addpart(mime);
    char *copy = strdup(form + 1), *content = copy ? strchr(copy, '=') : NULL;
    bool fine = part && content;

    if (fine) {
        *content++ = '\0';
        fine = (!*copy || curl_mime_name(part, copy) == CURLE_OK) &&
               (form[0] == 's'
                    ? curl_mime_data(part, content, CURL_ZERO_TERMINATED) ==
                          CURLE_OK
                    : add_content(easy, part, content));
    }
    free(copy);
    return fine;
}

curl_mime *fetch_form(const struct fetch_args *a, CURL *easy)
{
    curl_mime *mime = curl_mime_init(easy);

    for (struct curl_slist *f = a->forms; mime && f; f = f->next)
        if (!add_part(easy, mime, f->data)) {
            curl_mime_free(mime);
            return NULL;
        }
    return mime;
}
