/* queue/rabbitmq/rescue.h: the broker's rescue(). */
#ifndef BIDE_QUEUE_RABBITMQ_RESCUE_H
#define BIDE_QUEUE_RABBITMQ_RESCUE_H

struct broker;
struct broker_rescued;

int rmq_rescue(struct broker *b, struct broker_rescued *ret);

#endif
