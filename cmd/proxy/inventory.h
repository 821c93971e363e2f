/* cmd/proxy/inventory.h: how a supervisor passes descriptors to a program that it
 * starts: a file, whose number is in the environment, of texts that end in NUL.
 *
 *   bide-serve 1 SEAT OTHERS AGAIN PID
 *   5 #line
 *   6 #memory
 *   9 listen 0 0 127.0.0.1:8080
 *   = user nobody
 *   = sandbox
 *
 * The supervisor may be older than the program: this is an interface between
 * versions. */
#ifndef BIDE_CMD_PROXY_INVENTORY_H
#define BIDE_CMD_PROXY_INVENTORY_H

#define INVENTORY_VARIABLE "BIDE_SERVE"
#define INVENTORY_HEAD     "bide-serve %d %u %u %d %d"
#define INVENTORY_LINE     "#line"
#define INVENTORY_MEMORY   "#memory"
#define INVENTORY_CONFIG   "#config"

/* ... and messages on the line about a process's identity. */
#define IDENTITY_USER      "user"
#define IDENTITY_GROUP     "group"
#define IDENTITY_SANDBOX   "sandbox"
enum { INVENTORY_VERSION = 1 };

#endif
