/* bide fetch is another program, bide-fetch, that this one becomes: libcurl
 * brings some thirty libraries along. */
#include "cmd/common/cli.h"

int cmd_fetch(int argc, char **argv)
{
    (void)argc;
    return become("bide-fetch", argv);
}
