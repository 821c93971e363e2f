/* net/http1/scan.h: which bytes are allowed where, and how to skip many.
 *
 * With SSE2, 16 bytes are examined together: that is faster even for short
 * names, because the end of a loop over single bytes is hard to predict.
 * Otherwise values and targets are examined 8 at a time. Either way a scan ends
 * at the first byte that is not of its kind, or at the end of the input. */
#ifndef BIDE_NET_HTTP1_SCAN_H
#define BIDE_NET_HTTP1_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(HTTP1_PORTABLE)
#include <emmintrin.h>
#define HTTP1_SSE2 1
#else
#define HTTP1_SSE2 0
#endif

/* What a byte may be part of. */
enum {
    HTTP1_C_TOKEN = 1,  /* RFC 9110: names, methods, options */
    HTTP1_C_VALUE = 2,  /* field values and reasons: blanks, VCHAR, obs-text */
    HTTP1_C_TARGET = 4, /* VCHAR but no '#': a fragment is never sent */
    HTTP1_C_HOST = 8,   /* reg-name, without '%' */
    HTTP1_C_HEX = 16,
    HTTP1_C_QUOTED = 32, /* inside a quoted string, without '\' */
};
extern const uint8_t http1__class[256];

static inline bool http1__is(char c, unsigned what)
{
    return (http1__class[(uint8_t)c] & what) != 0;
}

/* Skips bytes of the kind `what`, by the table alone. */
static inline size_t http1__skip(const char *buf, size_t at, size_t end,
                                 unsigned what)
{
    while (at < end && http1__is(buf[at], what))
        at++;
    return at;
}

#if HTTP1_SSE2
/* A bit for each of 16 bytes that is not HTTP1_C_VALUE. */
static inline unsigned http1__not_value16(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
    __m128i tab = _mm_cmpeq_epi8(v, _mm_set1_epi8('\t'));
    __m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f));

    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(_mm_andnot_si128(tab, low), del));
}

/* Bytes from first to first + span. */
static inline __m128i http1__within(__m128i v, char first, char span)
{
    __m128i off = _mm_sub_epi8(v, _mm_set1_epi8(first));

    return _mm_cmpeq_epi8(_mm_min_epu8(off, _mm_set1_epi8(span)), off);
}

/* A bit for each of 16 bytes that is not a letter, a digit or '-': what nearly
 * all names are made of. */
static inline unsigned http1__not_plain16(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i lower = _mm_or_si128(v, _mm_set1_epi8(0x20));
    __m128i dash = _mm_cmpeq_epi8(v, _mm_set1_epi8('-'));
    __m128i plain =
        _mm_or_si128(http1__within(lower, 'a', 25), http1__within(v, '0', 9));

    return ~(unsigned)_mm_movemask_epi8(_mm_or_si128(plain, dash)) & 0xffff;
}

/* A bit for each of 16 bytes that is not HTTP1_C_TARGET. */
static inline unsigned http1__not_target16(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i fine = _mm_cmpgt_epi8(v, _mm_set1_epi8(0x20)); /* signed: no 0x80 */
    __m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f));
    __m128i hash = _mm_cmpeq_epi8(v, _mm_set1_epi8('#'));

    return ~(unsigned)_mm_movemask_epi8(
               _mm_andnot_si128(_mm_or_si128(del, hash), fine)) &
           0xffff;
}

#else
#define HTTP1_ONES UINT64_C(0x0101010101010101)
#define HTTP1_TOPS UINT64_C(0x8080808080808080)

static inline uint64_t http1__load8(const char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

/* Not 0 if some byte of x is under n (n up to 0x80), or equal to c. */
static inline uint64_t http1__any_under(uint64_t x, unsigned n)
{
    return (x - HTTP1_ONES * n) & ~x & HTTP1_TOPS;
}

static inline uint64_t http1__any_equal(uint64_t x, unsigned c)
{
    return http1__any_under(x ^ (HTTP1_ONES * c), 1);
}
#endif

/* Skips a token; sets *underscore if it contains one. Nearly all names are
 * plain: for those this costs nothing. */
static inline size_t http1__skip_token(const char *buf, size_t at, size_t end,
                                       bool *underscore)
{
#if HTTP1_SSE2
    for (; at + 16 <= end; at += 16) {
        unsigned stop = http1__not_plain16(buf + at);

        if (stop) {
            at += (size_t)__builtin_ctz(stop);
            break;
        }
    }
#endif
    bool found = false;

    for (; at < end && http1__is(buf[at], HTTP1_C_TOKEN); at++)
        found |= buf[at] == '_';
    *underscore |= found;
    return at;
}

static inline size_t http1__skip_value(const char *buf, size_t at, size_t end)
{
#if HTTP1_SSE2
    for (; at + 16 <= end; at += 16) {
        unsigned stop = http1__not_value16(buf + at);

        if (stop)
            return at + (size_t)__builtin_ctz(stop);
    }
#else
    /* A tab looks like an error here, and is examined again below. */
    for (; at + 8 <= end; at += 8) {
        uint64_t x = http1__load8(buf + at);

        if (http1__any_under(x, 0x20) | http1__any_equal(x, 0x7f)) {
            size_t next = http1__skip(buf, at, at + 8, HTTP1_C_VALUE);

            if (next < at + 8)
                return next;
        }
    }
#endif
    return http1__skip(buf, at, end, HTTP1_C_VALUE);
}

static inline size_t http1__skip_target(const char *buf, size_t at, size_t end)
{
#if HTTP1_SSE2
    for (; at + 16 <= end; at += 16) {
        unsigned stop = http1__not_target16(buf + at);

        if (stop)
            return at + (size_t)__builtin_ctz(stop);
    }
#else
    for (; at + 8 <= end; at += 8) {
        uint64_t x = http1__load8(buf + at);

        if ((x & HTTP1_TOPS) | http1__any_under(x, 0x21) |
            http1__any_equal(x, 0x7f) | http1__any_equal(x, '#'))
            break;
    }
#endif
    return http1__skip(buf, at, end, HTTP1_C_TARGET);
}

/* Whether the bytes are this word of small letters, in any case of letters. */
static inline bool http1__same(const char *p, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] | 0x20) : p[i];

        if (c != word[i])
            return false;
    }
    return true;
}

#define HTTP1_IS_WORD(p, len, word)                                            \
    ((len) == sizeof(word) - 1 && http1__same((p), (word), sizeof(word) - 1))

#endif
