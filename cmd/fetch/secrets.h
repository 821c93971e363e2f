/* bide fetch: arguments that the list of processes must not show.
 *
 * Anybody may read the arguments of anybody's process. So `bide`, which becomes
 * `bide-fetch`, passes those on in a file in memory, and gives it arguments in
 * which secrets are blotted out; `bide-fetch`, run by hand, blots out its own.
 * What remains is the moment in which the kernel starts `bide`: whoever minds
 * that uses --config, --header @FILE or --netrc.
 *
 *     char **mine = secrets_own(&argc, argv);   // in bide-fetch, first of all
 */
#ifndef BIDE_CMD_FETCH_SECRETS_H
#define BIDE_CMD_FETCH_SECRETS_H

#include <stdbool.h>

/* Blots out the values of flags that may be secret, and passwords in URLs.
 * False: there was nothing. */
bool secrets_blot(int argc, char **argv);

/* For `bide`: puts the arguments where bide-fetch finds them, and gives those
 * that may be seen; the same ones if there is no secret among them. NULL: out
 * of memory. */
char **secrets_hand_over(int argc, char **argv);

/* For bide-fetch: the arguments as they were given, which live until the end;
 * what can be seen has been blotted out. NULL: out of memory. */
char **secrets_own(int *argc, char **argv);

#endif
