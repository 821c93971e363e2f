/* proxy/exchange/tunnel.h: what follows a 101. */
#ifndef BIDE_PROXY_EXCHANGE_TUNNEL_H
#define BIDE_PROXY_EXCHANGE_TUNNEL_H

struct exchange;

void tunnel_begin(struct exchange *ex);
void tunnel_pump(struct exchange *ex);

#endif
