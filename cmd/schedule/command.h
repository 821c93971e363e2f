/* The command `bide schedule`: takes its arguments and returns an exit code. */
#ifndef BIDE_CMD_SCHEDULE_COMMAND_H
#define BIDE_CMD_SCHEDULE_COMMAND_H

int cmd_schedule(int argc, char **argv);

#endif
