/* The functions that stand in for libcurl's, and the records that they keep. */
#include "curl/record.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curl/module.h"

struct record {
    CURL *owner;             /* NULL: free */
    uint64_t serial;         /* of its use: records are used again */
    struct bide__set set;
    struct record *next_free;
    uint32_t number;
};

/* ===== memory =====
 *
 * Block n holds 64 << n records, and never moves. Numbers are looked up without
 * the lock: a block is there before the first number in it is handed out. */

enum { BLOCKS = 20, FIRST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record *blocks[BLOCKS];
static struct record *free_records;
static uint64_t serials;

static struct record *record_at(uint32_t number)
{
    uint32_t first = 0;
    for (unsigned n = 0; n < BLOCKS; n++) {
        uint32_t size = (uint32_t)FIRST << n;
        struct record *block = __atomic_load_n(&blocks[n], __ATOMIC_ACQUIRE);
        if (!block)
            return NULL;
        if (number - first < size)
            return &block[number - first];
        first += size;
    }
    return NULL;
}

/* Under the lock. */
static void add_block(void)
{
    uint32_t first = 0;
    unsigned n = 0;
    while (n < BLOCKS && blocks[n])
        first += (uint32_t)FIRST << n++;
    if (n == BLOCKS)
        return;
    uint32_t size = (uint32_t)FIRST << n;
    struct record *block = calloc(size, sizeof *block);
    for (uint32_t i = size; block && i-- > 0;) {
        block[i].number = first + i;
        block[i].next_free = free_records;
        free_records = &block[i];
    }
    __atomic_store_n(&blocks[n], block, __ATOMIC_RELEASE);
}

static struct record *take_record(CURL *owner)
{
    pthread_mutex_lock(&lock);
    if (!free_records)
        add_block();
    struct record *r = free_records;
    if (r) {
        free_records = r->next_free;
        __atomic_store_n(&r->serial, ++serials, __ATOMIC_RELAXED);
        __atomic_store_n(&r->owner, owner, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

static void give_record(struct record *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&lock);
    __atomic_store_n(&r->owner, NULL, __ATOMIC_RELEASE);
    r->next_free = free_records;
    free_records = r;
    pthread_mutex_unlock(&lock);
}

/* ===== the record of a handle ===== */

#define PREFIX "bide record "

/* Read by hand: a program may set options before each transfer. */
static bool read_name(const char *name, uint32_t *number, uint64_t *serial)
{
    char *end;
    if (!name || strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
        return false;
    *number = (uint32_t)strtoul(name + sizeof PREFIX - 1, &end, 10);
    if (*end != '.')
        return false;
    *serial = strtoull(end + 1, &end, 10);
    return *end == '\0';
}

static struct record *record_of(CURL *easy)
{
    const char *name = NULL;
    uint32_t number;
    uint64_t serial;
    if (!easy ||
        curl_easy_getinfo(easy, CURLINFO_RTSP_SESSION_ID, &name) != CURLE_OK ||
        !read_name(name, &number, &serial))
        return NULL;
    struct record *r = record_at(number);
    if (!r || __atomic_load_n(&r->owner, __ATOMIC_ACQUIRE) != easy ||
        __atomic_load_n(&r->serial, __ATOMIC_RELAXED) != serial)
        return NULL;
    return r;
}

struct bide__set bide__set_new(void)
{
    return (struct bide__set){ .write_ctx = stdout, .read_ctx = stdin };
}

const struct bide__set *bide__set_of(CURL *easy)
{
    const struct record *r = record_of(easy);
    return r ? &r->set : NULL;
}

bool bide_curl_recorded(CURL *easy)
{
    return bide__set_of(easy) != NULL;
}

/* Fails without memory, or where libcurl was built without RTSP: then the handle
 * is not recorded. */
static bool name_record(struct record *r, CURL *easy)
{
    char name[64];
    snprintf(name, sizeof name, PREFIX "%" PRIu32 ".%" PRIu64, r->number,
             r->serial);
    return curl_easy_setopt(easy, CURLOPT_RTSP_SESSION_ID, name) == CURLE_OK;
}

static void record_handle(CURL *easy, const struct bide__set *set)
{
    struct record *r = easy ? take_record(easy) : NULL;
    if (!r)
        return;
    r->set = set ? *set : bide__set_new();
    if (!name_record(r, easy))
        give_record(r);
}

/* ===== the options ===== */

typedef void (*any_fn)(void);

static long seconds_to_ms(long s)
{
    return s < LONG_MAX / 1000 ? s * 1000 : LONG_MAX;
}

static bool is_noted(CURLoption option)
{
    switch ((int)option) {
    case CURLOPT_TIMEOUT:
    case CURLOPT_TIMEOUT_MS:
    case CURLOPT_WRITEDATA:
    case CURLOPT_READDATA:
    case CURLOPT_HEADERDATA:
    case CURLOPT_HTTPHEADER:
    case CURLOPT_PREREQDATA:
    case CURLOPT_SEEKDATA:
    case CURLOPT_WRITEFUNCTION:
    case CURLOPT_HEADERFUNCTION:
    case CURLOPT_PREREQFUNCTION:
    case CURLOPT_READFUNCTION:
    case CURLOPT_SEEKFUNCTION: return true;
    default: return false;
    }
}

static void note_long(struct bide__set *set, CURLoption option, long value)
{
    set->timeout_ms =
        option == CURLOPT_TIMEOUT ? seconds_to_ms(value) : value;
}

static void note_pointer(struct bide__set *set, CURLoption option, void *value)
{
    switch ((int)option) {
    case CURLOPT_WRITEDATA: set->write_ctx = value; break;
    case CURLOPT_READDATA: set->read_ctx = value; break;
    case CURLOPT_HEADERDATA: set->header_ctx = value; break;
    case CURLOPT_HTTPHEADER: set->headers = value; break;
    case CURLOPT_PREREQDATA: set->prereq_ctx = value; break;
    case CURLOPT_SEEKDATA: set->seek_ctx = value; break;
    }
}

static void note_function(struct bide__set *set, CURLoption option, any_fn fn)
{
    switch ((int)option) {
    case CURLOPT_WRITEFUNCTION: set->write = (curl_write_callback)fn; break;
    case CURLOPT_HEADERFUNCTION: set->header = (curl_write_callback)fn; break;
    case CURLOPT_PREREQFUNCTION: set->prereq = (curl_prereq_callback)fn; break;
    case CURLOPT_READFUNCTION: set->read = (curl_read_callback)fn; break;
    case CURLOPT_SEEKFUNCTION: set->seek = (curl_seek_callback)fn; break;
    }
}

/* An option's number says what type its value has. */
static CURLcode set_any(CURL *easy, struct bide__set *set, CURLoption option,
                        va_list values)
{
    CURLcode code;
    if (option < CURLOPTTYPE_OBJECTPOINT) {
        long value = va_arg(values, long);
        code = (curl_easy_setopt)(easy, option, value);
        if (set && code == CURLE_OK)
            note_long(set, option, value);
    } else if (option < CURLOPTTYPE_FUNCTIONPOINT ||
               option >= CURLOPTTYPE_BLOB) {
        void *value = va_arg(values, void *);
        code = (curl_easy_setopt)(easy, option, value);
        if (set && code == CURLE_OK)
            note_pointer(set, option, value);
    } else if (option < CURLOPTTYPE_OFF_T) {
        any_fn value = va_arg(values, any_fn);
        code = (curl_easy_setopt)(easy, option, value);
        if (set && code == CURLE_OK)
            note_function(set, option, value);
    } else {
        code = (curl_easy_setopt)(easy, option, va_arg(values, curl_off_t));
    }
    return code;
}

/* ===== what stands in for libcurl's ===== */

CURL *bide_curl_easy_init(const void *here)
{
    CURL *easy = curl_easy_init();
    if (bide__module_records_all(here))
        record_handle(easy, NULL);
    return easy;
}

CURLcode bide_curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
    struct record *r = is_noted(option) ? record_of(easy) : NULL;
    va_list values;
    va_start(values, option);
    CURLcode code = set_any(easy, r ? &r->set : NULL, option, values);
    va_end(values);
    return code;
}

void bide_curl_easy_reset(CURL *easy)
{
    struct record *r = record_of(easy);
    curl_easy_reset(easy);
    if (!r)
        return;
    r->set = bide__set_new();
    if (!name_record(r, easy))
        give_record(r);
}

CURL *bide_curl_easy_duphandle(CURL *easy)
{
    const struct bide__set *set = bide__set_of(easy);
    CURL *copy = curl_easy_duphandle(easy);
    if (set)
        record_handle(copy, set);
    return copy;
}

void bide_curl_easy_cleanup(CURL *easy)
{
    struct record *r = record_of(easy);
    curl_easy_cleanup(easy);
    give_record(r);
}
