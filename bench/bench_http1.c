/* The HTTP/1.1 parser's speed: heads as browsers, small clients and servers
 * send them, and a chunked body.
 *
 * The bar is 1 GB a second on typical heads. Beside it, the least that any
 * reader must do: look at every byte once, with memchr for the end of each
 * line. */
#include "bench.h"

#include "net/http1/body.h"

enum { HEADS = 20000, CHUNKS = 64, CHUNK = 1024 };

static const char browser[] =
    "GET /wp-content/uploads/2010/03/hello-kitty-darth-vader-pink.jpg "
    "HTTP/1.1\r\n"
    "Host: www.example.com\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:102.0) Gecko/20100101 "
    "Firefox/102.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,"
    "image/webp,*/*;q=0.8\r\n"
    "Accept-Language: en-US,en;q=0.5\r\n"
    "Accept-Encoding: gzip, deflate, br\r\n"
    "Referer: https://www.example.com/articles/2010/march/\r\n"
    "Connection: keep-alive\r\n"
    "Cookie: wp_ozh_wsa_visits=2; wp_ozh_wsa_visit_lasttime=xxxxxxxxxx; "
    "__utma=xxxxxxxxx.xxxxxxxxxx.xxxxxxxxxx.xxxxxxxxxx.xxxxxxxxxx.x; "
    "__utmz=xxxxxxxxx.xxxxxxxxxx.x.x.utmccn=(referral)|utmcsr=reader\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "If-Modified-Since: Mon, 18 Jul 2022 02:36:04 GMT\r\n"
    "If-None-Match: \"5c6f2c4a-264\"\r\n"
    "\r\n";

static const char small[] = "GET /api/v1/items/42 HTTP/1.1\r\n"
                            "Host: localhost:8080\r\n"
                            "User-Agent: curl/7.88.1\r\n"
                            "Accept: */*\r\n"
                            "\r\n";

static const char answer[] = "HTTP/1.1 200 OK\r\n"
                             "Server: nginx/1.22.1\r\n"
                             "Date: Mon, 16 Nov 2026 08:00:00 GMT\r\n"
                             "Content-Type: application/json; charset=utf-8\r\n"
                             "Content-Length: 612\r\n"
                             "Last-Modified: Mon, 18 Jul 2022 02:36:04 GMT\r\n"
                             "Connection: keep-alive\r\n"
                             "ETag: \"5c6f2c4a-264\"\r\n"
                             "Cache-Control: max-age=3600, public\r\n"
                             "Accept-Ranges: bytes\r\n"
                             "\r\n";

static char chunked[CHUNKS * (CHUNK + 16)];
static size_t chunked_len;

/* Each measurement gives ns per byte. */
static double per_byte(int64_t start, double bytes)
{
    return (double)(bench_clock_ns() - start) / bytes;
}

static double requests(const char *bytes, size_t len)
{
    struct http1_field fields[HTTP1_FIELDS];
    int64_t start = bench_clock_ns();

    for (int i = 0; i < HEADS; i++) {
        struct http1_head h;

        http1_request_init(&h, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES);
        if (http1_parse(&h, bytes, len) != (int)len)
            abort();
        bench_use(&h);
    }
    return per_byte(start, (double)HEADS * (double)len);
}

static double measure_browser(void)
{
    return requests(browser, sizeof browser - 1);
}

static double measure_small(void)
{
    return requests(small, sizeof small - 1);
}

static double measure_answer(void)
{
    struct http1_field fields[HTTP1_FIELDS];
    int64_t start = bench_clock_ns();

    for (int i = 0; i < HEADS; i++) {
        struct http1_head h;

        http1_response_init(&h, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES,
                            HTTP1_GET, false);
        if (http1_parse(&h, answer, sizeof answer - 1) < 0)
            abort();
        bench_use(&h);
    }
    return per_byte(start, (double)HEADS * (double)(sizeof answer - 1));
}

/* A byte at a time: what a slow client can cost. */
static double measure_trickle(void)
{
    struct http1_field fields[HTTP1_FIELDS];
    int64_t start = bench_clock_ns();

    for (int i = 0; i < HEADS / 50; i++) {
        struct http1_head h;

        http1_request_init(&h, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES);
        for (size_t len = 1; len < sizeof browser; len++)
            if (http1_parse(&h, browser, len) < 0)
                abort();
        bench_use(&h);
    }
    return per_byte(start, (double)(HEADS / 50) * (double)(sizeof browser - 1));
}

static double measure_chunks(void)
{
    int64_t start = bench_clock_ns();
    int times = HEADS / 50;

    for (int i = 0; i < times; i++) {
        struct http1_body b;
        struct http1_piece piece;
        size_t at = 0;
        int rc;

        http1_body_init(&b, HTTP1_CHUNKED, 0);
        do {
            rc = http1_body_next(&b, chunked + at, chunked_len - at, &piece);
            at += piece.consumed;
        } while (rc == HTTP1_DATA);
        if (rc != HTTP1_END)
            abort();
    }
    return per_byte(start, (double)times * (double)chunked_len);
}

static double measure_memchr(void)
{
    int64_t start = bench_clock_ns();

    for (int i = 0; i < HEADS; i++) {
        const char *p = browser, *end = p + sizeof browser - 1;

        while (p < end && (p = memchr(p, '\n', (size_t)(end - p))))
            bench_use(p++);
    }
    return per_byte(start, (double)HEADS * (double)(sizeof browser - 1));
}

static void make_chunked(void)
{
    for (int i = 0; i < CHUNKS; i++) {
        chunked_len += (size_t)sprintf(chunked + chunked_len, "%x\r\n", CHUNK);
        memset(chunked + chunked_len, 'x', CHUNK);
        chunked_len += CHUNK;
        chunked_len += (size_t)sprintf(chunked + chunked_len, "\r\n");
    }
    chunked_len += (size_t)sprintf(chunked + chunked_len, "0\r\n\r\n");
}

int main(void)
{
    static struct bench_row rows[] = {
        { "request of a browser", measure_browser, { 0 } },
        { "request of curl", measure_small, { 0 } },
        { "response of nginx", measure_answer, { 0 } },
        { "request, byte by byte", measure_trickle, { 0 } },
        { "chunked body, 1 KiB chunks", measure_chunks, { 0 } },
        { "(memchr for line ends alone)", measure_memchr, { 0 } },
    };
    int n = (int)(sizeof rows / sizeof rows[0]);

    bench_pin(0);
    make_chunked();
    bench_run(rows, n);
    printf("http1: MB/s, median of %d rounds (and the best)\n", BENCH_ROUNDS);
    for (int i = 0; i < n; i++) {
        double median;

        bench_sort(rows[i].ns);
        median = bench_median(rows[i].ns);
        printf("  %-30s %8.0f  (%.0f)", rows[i].name, 1e3 / median,
               1e3 / rows[i].ns[0]);
        if (i < 3)
            printf("  bar: over 1000: %s", bench_verdict(1e3 / median > 1000));
        printf("\n");
    }
    return 0;
}
