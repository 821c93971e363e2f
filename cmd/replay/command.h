/* bide replay. */
#ifndef BIDE_CMD_REPLAY_COMMAND_H
#define BIDE_CMD_REPLAY_COMMAND_H

int cmd_replay(int argc, char **argv);

#endif
