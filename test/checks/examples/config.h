/* What the examples of config/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* config/field/field.h */
bool is_host(const struct bide__node *text);

/* config/translate/import.h */
bide_diagnostics *notes;
const char *text;
size_t len;

/* config/translate/translate.h */
bide_policy_conf conf;

/* config/translate/import_proxy.h */
struct bide__import *im;
struct bide__node *node;
size_t policy;
