/* Connections of the fault server. */
#ifndef BIDE_TEST_FAULT_CONNECTION_H
#define BIDE_TEST_FAULT_CONNECTION_H

#include "fault.h"

void connection_new(int epoll, int fd);
void connection_ready(int fd, uint32_t events);

/* Answers that pause: how long until the first goes on (-1: none does), and
 * letting those go on whose time has come. */
int connections_wait_ms(void);
void connections_due(void);
void connections_free(void);

void reset_socket(int fd);

#endif
