/* What the examples of replay/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* replay/start.h */
struct replay r;

/* replay/source.h */
void die(void);
