/* The commands `bide export` and `bide import`: each takes its arguments and
 * returns an exit code. */
#ifndef BIDE_CMD_TRANSLATE_COMMAND_H
#define BIDE_CMD_TRANSLATE_COMMAND_H

int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);

#endif
