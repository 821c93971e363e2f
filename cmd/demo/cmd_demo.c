/* bide demo is another program, bide-demo, that this one becomes: servers,
 * threads and a dashboard, which no other subcommand needs. */
#include "cmd/common/cli.h"

int cmd_demo(int argc, char **argv)
{
    (void)argc;
    return become("bide-demo", argv);
}
