/* bide check. */
#ifndef BIDE_CMD_CHECK_CHECK_H
#define BIDE_CMD_CHECK_CHECK_H

int cmd_check(int argc, char **argv);

#endif
