/* bide proxy is another program, bide-proxy, that this one becomes: a service
 * brings threads and TLS along, which no other subcommand needs. */
#include "cmd/common/cli.h"

int cmd_proxy(int argc, char **argv)
{
    (void)argc;
    return become("bide-proxy", argv);
}
