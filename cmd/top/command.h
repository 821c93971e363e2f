/* bide top. */
#ifndef BIDE_CMD_TOP_COMMAND_H
#define BIDE_CMD_TOP_COMMAND_H

int cmd_top(int argc, char **argv);

#endif
