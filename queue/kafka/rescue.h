/* queue/kafka/rescue.h: what ran in workers that are dead. */
#ifndef BIDE_QUEUE_KAFKA_RESCUE_H
#define BIDE_QUEUE_KAFKA_RESCUE_H

#include "queue/kafka/session.h"

int kf_rescue(struct broker *b, struct broker_rescued *ret);

#endif
