/* bide worker ls, bide worker show: argv[0] is the name of the subcommand. Exit
 * codes. */
#ifndef BIDE_CMD_WORKER_LOOK_H
#define BIDE_CMD_WORKER_LOOK_H

struct queue_place;

int worker_ls(int argc, char **argv, const struct queue_place *place);
int worker_show(int argc, char **argv, const struct queue_place *place);

#endif
