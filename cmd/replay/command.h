/* The command `bide replay`: takes its arguments and returns an exit code. */
#ifndef BIDE_CMD_REPLAY_COMMAND_H
#define BIDE_CMD_REPLAY_COMMAND_H

int cmd_replay(int argc, char **argv);

#endif
