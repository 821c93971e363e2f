/* The command `bide explain`: takes its arguments and returns an exit code. */
#ifndef BIDE_CMD_EXPLAIN_COMMAND_H
#define BIDE_CMD_EXPLAIN_COMMAND_H

int cmd_explain(int argc, char **argv);

#endif
