/* The command `bide run`: takes its arguments, and gives an exit code. */
#ifndef BIDE_CMD_RUN_COMMAND_H
#define BIDE_CMD_RUN_COMMAND_H

int cmd_run(int argc, char **argv);

#endif
