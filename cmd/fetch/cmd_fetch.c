/* `bide fetch`, as far as `bide` itself has to do with it: it becomes
 * bide-fetch. */
#include "cmd/common/exec.h"
#include "cmd/common/output.h"
#include "cmd/fetch/secrets.h"

int cmd_fetch(int argc, char **argv)
{
    char **seen = secrets_hand_over(argc, argv);

    if (!seen)
        return complain("fetch", "out of memory");
    return exec_program("bide-fetch", seen);
}
