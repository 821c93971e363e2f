/* The command `bide check`: takes its arguments, and gives an exit code. */
#ifndef BIDE_CMD_CHECK_COMMAND_H
#define BIDE_CMD_CHECK_COMMAND_H

int cmd_check(int argc, char **argv);

#endif
