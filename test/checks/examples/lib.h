/* What the examples of lib/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* lib/fleet/ledger.h */
bide_share_rule rule;
uint64_t id;
bide_share_row row;
bide_share_reply reply;
int64_t now_ns;
