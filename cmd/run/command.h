/* bide run. */
#ifndef BIDE_CMD_RUN_COMMAND_H
#define BIDE_CMD_RUN_COMMAND_H

int cmd_run(int argc, char **argv);

#endif
