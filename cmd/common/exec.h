/* Commands that are programs of their own. Libcurl brings some thirty libraries
 * along, a service threads and TLS, a queue SQLite, the demo servers: no other
 * command needs those. */
#ifndef BIDE_CMD_COMMON_EXEC_H
#define BIDE_CMD_COMMON_EXEC_H

int cmd_demo(int argc, char **argv);
int cmd_enqueue(int argc, char **argv);
int cmd_fetch(int argc, char **argv);
int cmd_proxy(int argc, char **argv);
int cmd_store(int argc, char **argv);
int cmd_worker(int argc, char **argv);

/* Replaces this program by another one: returns only if that fails, after
 * printing why. An exit code. */
int exec_program(const char *program, char **argv);

#endif
