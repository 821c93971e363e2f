/* The command `bide top`: takes its arguments and returns an exit code. */
#ifndef BIDE_CMD_TOP_COMMAND_H
#define BIDE_CMD_TOP_COMMAND_H

int cmd_top(int argc, char **argv);

#endif
