/* What the examples of base/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* base/date.h */
const char *text;
size_t len;
void handle(int64_t ns, bool whole);

/* base/json_out.h */
struct bide__out out;

/* base/out.h */
uint64_t n;
