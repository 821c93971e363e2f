/* The page: answer, table, pictures, assumptions, in this order. */
#include "replay/page.h"

#include <string.h>

#include "base/people.h"
#include "replay/answer.h"
#include "replay/log.h"
#include "replay/instant.h"
#include "replay/traffic.h"

/* The colours of policies p0 to p7 are those of Okabe and Ito, which people with
 * any kind of colour blindness can tell apart. */
static const char style[] =
    ":root{--paper:#fdfdfb;--ink:#1d2126;--mute:#666e78;--line:#e4e5e0;"
    "--good:#0b8f6b;--bad:#cf4a1b;--log:#9aa0a8}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e7e9ea;"
    "--mute:#9aa2ac;--line:#2c3137;--good:#35c496;--bad:#f2764a;"
    "--log:#727982}}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 "
    "system-ui,sans-serif;font-variant-numeric:tabular-nums}\n"
    "main{max-width:1000px;margin:0 auto;padding:32px clamp(12px,4vw,40px)}\n"
    "h1{font-size:15px;font-weight:500;color:var(--mute);margin:0;"
    "overflow-wrap:anywhere}\n"
    ".answer{font-size:clamp(24px,5vw,40px);line-height:1.2;margin:4px 0 12px;"
    "font-weight:650;letter-spacing:-.01em}\n"
    ".good{color:var(--good)}.bad{color:var(--bad)}\n"
    "h2{font-size:18px;margin:28px 0 4px}p{margin:4px 0;max-width:75ch}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}\n"
    "th,td{padding:6px 10px;text-align:right;border-bottom:1px solid "
    "var(--line);white-space:nowrap}\n"
    "th{font-weight:500;color:var(--mute);font-size:14px}\n"
    "th:first-child,td:first-child{text-align:left}.best td{font-weight:650}\n"
    "i{display:inline-block;width:14px;height:4px;border-radius:2px;"
    "margin-right:8px;vertical-align:middle;background:var(--c)}\n"
    "svg{width:100%;min-width:640px;height:auto;display:block}svg "
    "text{font-size:12px;"
    "fill:var(--mute)}\n"
    "svg path{fill:none;stroke:var(--c);stroke-width:1.8;"
    "stroke-linejoin:round}svg .rule{stroke:var(--line);stroke-width:1}\n"
    ".log{--c:var(--log)}svg "
    ".log{stroke:none;fill:var(--c);opacity:.4}.p0{--c:#0072b2}"
    ".p1{--c:#d55e00}.p2{--c:#009e73}.p3{--c:#cc79a7}.p4{--c:#e69f00}"
    ".p5{--c:#56b4e9}.p6{--c:#8a6d3b}.p7{--c:#7b3f98}\n"
    "small,.mute{color:var(--mute)}\n";

/* ===== texts ===== */

void replay_html(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*text, out);
        }
}

const char *replay_grouped(uint64_t n, char buffer[48])
{
    static const char space[] = "\xe2\x80\xaf"; /* narrow, does not break */
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t to = 0;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            memcpy(buffer + to, space, 3);
            to += 3;
        }
        buffer[to++] = digits[i];
    }
    buffer[to] = '\0';
    return buffer;
}

/* ===== parts ===== */

static void begin(FILE *out, const char *log_name)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          out);
    replay_html(out, log_name);
    fprintf(out,
            " replayed</title>\n<style>\n%s</style></head>\n<body><main>\n",
            style);
    fputs("<h1>bide replay: ", out);
    replay_html(out, log_name);
    fputs("</h1>\n", out);
}

static void answer(FILE *out, const struct traffic *t, size_t n)
{
    const struct traffic *best = replay_best(t, n);
    double extra = traffic_extra(best->stats.attempts, best->stats.calls);
    char a[48], b[48];

    fprintf(out,
            "<p class=\"answer\">Failed before: %s. After: <span "
            "class=\"%s\">%s</span></p>\n",
            replay_grouped(t->failed, a),
            best->lost < t->failed ? "good" : "bad",
            replay_grouped(best->lost, b));
    fprintf(out, "<p>of %s calls", replay_grouped(t->stats.calls, a));
    if (n > 1) {
        fputs(", under <b>", out);
        replay_html(out, best->name);
        fprintf(out, "</b>, which fails the fewest of the %zu policies", n);
    }
    fprintf(out, ". The policy makes %.1f%% %s attempts.</p>\n",
            extra < 0 ? -100 * extra : 100 * extra,
            extra < 0 ? "fewer" : "more");
}

static void cell(FILE *out, uint64_t n)
{
    char text[48];

    fprintf(out, "<td>%s</td>", replay_grouped(n, text));
}

static void row(FILE *out, const struct traffic *t, size_t i, bool best)
{
    const bide_stats *s = &t->stats;
    char share[24], open[32];
    uint64_t refused = 0;

    for (int r = 0; r < BIDE_N_REASONS; r++)
        refused += t->refused[r];
    fprintf(out, "<tr%s><td><i class=\"p%zu\"></i>",
            best ? " class=\"best\"" : "", i % 8);
    replay_html(out, t->name);
    fputs("</td>", out);
    cell(out, t->lost);
    fprintf(out, "<td>%s</td>",
            t->lost ? replay_share(t->lost, s->calls, share) : "0");
    cell(out, t->rescued);
    cell(out, t->newly);
    cell(out, refused);
    cell(out, s->attempts);
    fprintf(out, "<td>%+.1f%%</td><td>%s</td></tr>\n",
            100 * traffic_extra(s->attempts, s->calls),
            bide__brief_duration(traffic_open_time(t), open, sizeof open));
}

static void table(FILE *out, const struct traffic *t, size_t n)
{
    const struct traffic *best = n > 1 ? replay_best(t, n) : NULL;
    char share[24];

    fputs("<div class=\"scroll\"><table><tr><th>policy</th><th>failed</th><th>"
          "of calls</th><th>rescued</th><th title=\"fine in the log\">newly "
          "failed</th><th title=\"before the first attempt\">refused</th><th>"
          "attempts</th><th>extra load</th><th>breaker open</th></tr>\n"
          "<tr><td><i class=\"log\"></i>(the log)</td>",
          out);
    cell(out, t->failed);
    fprintf(out, "<td>%s</td><td></td><td></td><td></td>",
            t->failed ? replay_share(t->failed, t->stats.calls, share) : "0");
    cell(out, t->stats.calls);
    fputs("<td></td><td></td></tr>\n", out);
    for (size_t i = 0; i < n; i++)
        row(out, &t[i], i, &t[i] == best);
    fputs("</table></div>\n", out);
}

static void pictures(FILE *out, const struct traffic *t, size_t n)
{
    char step[32], from[40];

    bide__brief_duration(t->step_ns, step, sizeof step);
    replay_time_minute(t->origin_ns, from, sizeof from);
    fprintf(out,
            "<h2>Failed calls</h2><p class=\"mute\">per %s, by the time at "
            "which they began; from %s UTC. Grey: in the log.</p>\n",
            step, from);
    replay_picture(out, t, n, REPLAY_SHOW_FAILED);
    fprintf(out,
            "<h2>Attempts</h2><p class=\"mute\">per %s: what the service would "
            "have had to serve.</p>\n",
            step);
    replay_picture(out, t, n, REPLAY_SHOW_ATTEMPTS);
}

void replay_page(FILE *out, const char *log_name, const struct replay_log *log,
                 const struct traffic *t, size_t n)
{
    char lines[48], bad[48];

    begin(out, log_name);
    answer(out, t, n);
    table(out, t, n);
    pictures(out, t, n);
    fprintf(out,
            "<h2>What this rests on</h2>\n<p>%s lines were read, of which %s "
            "were not understood.%s</p>\n<p>Assumed: %s. In an overload the "
            "last of these is the whole question: <code>bide sim</code> models "
            "it.</p>\n</main></body></html>\n",
            replay_grouped(log->n_read, lines), replay_grouped(log->n_bad, bad),
            log->has_latency ? ""
                             : " The log has no latency: attempts are taken to "
                               "last no time.",
            traffic_assumes);
}
