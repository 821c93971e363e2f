/* What the examples of run/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* run/wheel.h */
int64_t now, at_ns;
struct call {
    struct bide__timer timer;
} *call;
