/* Values as other systems write them. */
#ifndef BIDE_CONFIG_TRANSLATE_TRANSLATE_VALUE_H
#define BIDE_CONFIG_TRANSLATE_TRANSLATE_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

/* "0.100s", a protobuf duration in JSON; and "250ms", as Istio writes it. */
#define BIDE__DURATION_SIZE 32
const char *bide__proto_duration(int64_t ns, char buffer[BIDE__DURATION_SIZE]);
const char *bide__go_duration(int64_t ns, char buffer[BIDE__DURATION_SIZE]);
void bide__put_proto_duration(struct bide__json *j, const char *key,
                              int64_t ns);
/* Reads "0.1s"; returns BIDE_EPARSE if it is invalid. */
int bide__parse_proto_duration(const char *text, size_t len, int64_t *ret_ns);

/* 10 for 0.1, and back. */
double bide__percent(double ratio);
double bide__from_percent(double percent);

#endif
