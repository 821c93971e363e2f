/* Request bodies: the data of -d, and files. */
#include "cmd/fetch/body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/files.h"
#include "cmd/fetch/values.h"

/* ===== -d ===== */

static const char no_memory[] = "something that fits into memory";

static bool append(struct fetch_data *d, const char *data, size_t len)
{
    char *at = realloc(d->at, d->len + len + 1);

    if (!at)
        return false;
    d->at = at;
    memcpy(d->at + d->len, data, len);
    d->len += len;
    d->at[d->len] = '\0';
    return true;
}

static const char *add_file(struct fetch_data *d, const char *path, bool binary)
{
    size_t len;
    char *data = fetch_read_file(path, &len);
    bool fine;

    if (!data)
        return fetch_no_file();
    fine = append(d, data, binary ? len : fetch_without_newlines(data, len));
    free(data);
    return fine ? NULL : no_memory;
}

/* As forms have it; gives the length. */
static size_t spaces_as_plus(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        bool space = strncmp(from, "%20", 3) == 0;
        *to++ = space ? '+' : *from;
        from += space ? 2 : 0;
    }
    return (size_t)(to - text);
}

static const char *add_encoded(struct fetch_data *d, const char *name,
                               size_t name_len, const char *data, size_t len)
{
    char *text = curl_easy_escape(NULL, len ? data : " ", len ? (int)len : 1);
    bool fine = text && (name_len == 0 ||
                         (append(d, name, name_len) && append(d, "=", 1)));

    fine = fine && append(d, text, len ? spaces_as_plus(text) : 0);
    curl_free(text);
    return fine ? NULL : no_memory;
}

/* CONTENT, =CONTENT, NAME=CONTENT, @FILE, NAME@FILE: what comes first, = or @,
 * says which. The name is encoded already. */
static const char *add_urlencoded(struct fetch_data *d, const char *text)
{
    size_t name = strcspn(text, "=@"), len;
    const char *expected;
    char *data;

    if (text[name] != '@')
        return text[name] ? add_encoded(d, text, name, text + name + 1,
                                        strlen(text + name + 1))
                          : add_encoded(d, "", 0, text, strlen(text));
    data = fetch_read_file(text + name + 1, &len);
    if (!data)
        return fetch_no_file();
    expected = add_encoded(d, text, name, data, len);
    free(data);
    return expected;
}

const char *fetch_data_add(struct fetch_data *d, const char *text,
                           const char *how)
{
    if (d->given && !append(d, "&", 1))
        return no_memory;
    d->given = true;
    if (strcmp(how, "-urlencode") == 0)
        return add_urlencoded(d, text);
    if (text[0] == '@' && strcmp(how, "-raw") != 0)
        return add_file(d, text + 1, strcmp(how, "-binary") == 0);
    return append(d, text, strlen(text)) ? NULL : no_memory;
}

/* ===== -T ===== */

/* Copies to an unnamed file, so that it can be sent again. */
static int copy_of(int from)
{
    int copy = nameless_file(), err = copy < 0 ? errno : 0;
    char piece[65536];
    ssize_t n = 1;

    while (!err && n != 0) {
        n = read(from, piece, sizeof piece);
        if (n > 0)
            err = write_whole(copy, piece, (size_t)n);
        else if (n < 0 && errno != EINTR)
            err = errno;
    }
    if (!err)
        return copy;
    if (copy >= 0)
        close(copy);
    errno = err;
    return -1;
}

/* Anything but a regular file, say a pipe, is copied like standard input. */
static int open_upload(const char *path)
{
    struct stat st;
    int fd, copy;

    if (strcmp(path, "-") == 0)
        return copy_of(STDIN_FILENO);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    copy = copy_of(fd); /* a directory cannot be read, and says so */
    close(fd);
    return copy;
}

bool fetch_upload_open(struct fetch_upload *u, const char *path)
{
    struct stat st;

    u->fd = open_upload(path);
    if (u->fd < 0 || fstat(u->fd, &st) < 0)
        return false;
    u->size = st.st_size;
    u->at = 0;
    return true;
}

static size_t read_piece(char *buffer, size_t size, size_t n, void *upload)
{
    struct fetch_upload *u = upload;
    ssize_t got = pread(u->fd, buffer, size * n, u->at);

    if (got < 0)
        return CURL_READFUNC_ABORT;
    u->at += got;
    return (size_t)got;
}

static int seek(void *upload, curl_off_t offset, int origin)
{
    struct fetch_upload *u = upload;

    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    u->at = (off_t)offset;
    return CURL_SEEKFUNC_OK;
}

void fetch_upload_options(struct fetch_upload *u, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_piece);
    curl_easy_setopt(easy, CURLOPT_READDATA, u);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, u);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)u->size);
}

bool fetch_upload_rewind(void *upload)
{
    struct fetch_upload *u = upload;

    u->at = 0;
    return true;
}
