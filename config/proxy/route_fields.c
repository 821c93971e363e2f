/* route_fields.c: what a route of the sidecar may have beside an upstream
 * and a policy: a fallback, faults on purpose, priorities. */
#include "config/proxy/read.h"
#include "config/field/section_rows.h"

/* A value that may be left out, as `none` says. */
#define MAYBE(key, type, member, min, max, above, expects, help)               \
    {                                                                          \
        .o = { key,                                                            \
               BIDE_OPTION_##type,                                             \
               offsetof(S, member),                                            \
               min,                                                            \
               max,                                                            \
               above,                                                          \
               "none",                                                         \
               0,                                                              \
               NULL,                                                           \
               expects,                                                        \
               help },                                                         \
        .kind = BIDE__VALUE,                                                   \
    }

#define S struct bide__proxy_fallback
static const struct bide__section_field fallback_fields[] = {
    { NAMED("upstream", AT(upstream), "the name of an upstream",
            "Asked once the route's own has been given up, if the request may "
            "be sent again; with a breaker and a budget of its own."),
      .kind = BIDE__TEXT, .read = bide__read_upstream },
    { NAMED("policy", AT(policy_name), "the name of a policy",
            "The policy that it is asked by; without it, that of the route."),
      .kind = BIDE__TEXT, .read = bide__read_policy },
    MAYBE("stale", DURATION, stale_ns, 0, MAX_NS, true,
          "a duration over 0, or none",
          "Keep copies of answers that a shared cache may keep, and give one "
          "that is not past its freshness by more than this."),
    MAYBE("status", COUNT, status, 200, 599, false,
          "a status from 200 to 299 or from 400 to 599, or none",
          "Of a static answer; 503 where `body` is set. One under 400 is given "
          "to GET and HEAD only."),
    { NAMED("body", AT(body), "text", "Of a static answer."),
      .kind = BIDE__TEXT },
    { NAMED("content_type", AT(content_type), "a media type",
            "Of its body; without it, text/plain."),
      .kind = BIDE__TEXT, .fits = bide__fits_field,
      .hint = "write `application/json`" },
    LAST
};
#undef S
const struct bide__section_table bide__proxy_fallback_table = {
    .fields = fallback_fields, .check = bide__check_fallback
};

#define S struct bide__proxy_fault
static const struct bide__section_field fault_fields[] = {
    MAYBE("delay", DURATION, delay_ns, 0, HOUR, true,
          "a duration over 0, up to 1h, or none",
          "How long an attempt is held up."),
    MAYBE("abort", COUNT, abort, 400, 599, false,
          "a status from 400 to 599, or none",
          "What is answered instead of the endpoint, after the delay."),
    VALUE("share", RATIO, share, 0, 1, true, "a ratio over 0, up to 100%",
          "How many of the attempts, by chance."),
    LAST
};
#undef S
const struct bide__section_table bide__proxy_fault_table = {
    .fields = fault_fields, .check = bide__check_fault
};

#define S struct bide__proxy_priority
static const struct bide__section_field priority_fields[] = {
    { NAMED(
          "header", AT(header), "the name of a header field",
          "Where a request says its priority: `u=0` (first) to `u=7` (last), "
          "as RFC 9218 has it, or high, normal, low. Only trusted clients may "
          "say more than normal."),
      .kind = BIDE__TEXT, .required = true, .fits = bide__fits_token,
      .hint = "write `header: Priority`" },
    LAST
};
#undef S
const struct bide__section_table bide__proxy_priority_table = {
    .fields = priority_fields
};
