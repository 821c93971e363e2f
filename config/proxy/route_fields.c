/* route_fields.c: the optional parts of a route: a fallback, injected faults,
 * priorities. */
#include "config/proxy/read.h"
#include "config/field/rows.h"

#define S struct bide__proxy_fallback
static const struct bide__field fallback_fields[] = {
    { "upstream", AT(upstream), TAKES_TEXT("the name of an upstream"),
      .read = bide__read_upstream,
      .size = sizeof(size_t),
      .help = "Asked once the route's own has been given up, if the request "
              "may be sent again; with a breaker and a budget of its own." },
    { "policy", AT(policy_name), TAKES_TEXT("the name of a policy"),
      .read = bide__read_policy,
      .help = "The policy that it is asked by; without it, that of the "
              "route." },
    { "stale", AT(stale_ns), TAKES_DURATION_OVER_0_OR("none", 0),
      .help = "Keep copies of answers that a shared cache may keep, and give "
              "one that is not past its freshness by more than this." },
    { "status", AT(status),
      TAKES_OR(COUNT, 200, 599, "none", 0,
          "a status from 200 to 299 or from 400 to 599"),
      .help = "Of a static answer; 503 where `body` is set. One under 400 is "
              "given to GET and HEAD only." },
    { "body", AT(body), TAKES_TEXT("text"), .help = "Of a static answer." },
    { "content_type", AT(content_type), TAKES_TEXT("a media type"),
      .fits = bide__fits_field,
      .hint = "write `application/json`",
      .help = "Of its body; without it, text/plain." },
    LAST
};
#undef S
const struct bide__table bide__proxy_fallback_table = {
    .fields = fallback_fields, .check = bide__check_fallback
};

#define S struct bide__proxy_fault
static const struct bide__field fault_fields[] = {
    { "delay", AT(delay_ns),
      TAKES_OVER_OR(DURATION, 0, NS_h, "none", 0,
          "a duration over 0, up to 1h"),
      .help = "How long an attempt is held up." },
    { "abort", AT(abort),
      TAKES_OR(COUNT, 400, 599, "none", 0, "a status from 400 to 599"),
      .help = "What is answered instead of the endpoint, after the delay." },
    { "share", AT(share),
      TAKES_OVER(RATIO, 0, 1, "a ratio over 0, up to 100%"),
      .help = "How many of the attempts, by chance." },
    LAST
};
#undef S
const struct bide__table bide__proxy_fault_table = {
    .fields = fault_fields, .check = bide__check_fault
};

#define S struct bide__proxy_priority
static const struct bide__field priority_fields[] = {
    { "header", AT(header), TAKES_TEXT("the name of a header field"),
      .required = true,
      .fits = bide__fits_token,
      .hint = "write `header: Priority`",
      .help = "Where a request says its priority: `u=0` (first) to `u=7` "
              "(last), as RFC 9218 has it, or high, normal, low. Only trusted "
              "clients may say more than normal." },
    LAST
};
#undef S
const struct bide__table bide__proxy_priority_table = {
    .fields = priority_fields
};
