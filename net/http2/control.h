/* net/http2/control.h: frames that carry no message: SETTINGS, PING, GOAWAY,
 * WINDOW_UPDATE, RST_STREAM, PRIORITY. */
#ifndef BIDE_NET_HTTP2_CONTROL_H
#define BIDE_NET_HTTP2_CONTROL_H

#include "net/http2/frame.h"

/* Checks the frame's head. Returns how many bytes of it are wanted in one piece,
 * 0 if none are; negative, if the frame is to be skipped or the connection has
 * failed. */
int http2__control_begin(struct http2_conn *c);

/* Those bytes are there. */
void http2__control_frame(struct http2_conn *c, const uint8_t *p);

/* One of a SETTINGS frame, and the end of it. */
void http2__setting(struct http2_conn *c, const uint8_t *p);
void http2__settings_end(struct http2_conn *c);

#endif
