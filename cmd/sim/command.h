/* The command `bide sim`: takes its arguments and returns an exit code. */
#ifndef BIDE_CMD_SIM_COMMAND_H
#define BIDE_CMD_SIM_COMMAND_H

int cmd_sim(int argc, char **argv);

#endif
