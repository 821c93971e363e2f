/* queue/sqs/profile.h: the files of AWS's own programs, ~/.aws/credentials and
 * ~/.aws/config, of which the profile AWS_PROFILE, or `default`, is read.
 *
 *     char region[64];
 *     if (sq_profile_value("region", region, sizeof region))
 *         puts(region);
 */
#ifndef BIDE_QUEUE_SQS_PROFILE_H
#define BIDE_QUEUE_SQS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

/* The credentials file first, then the config file; "" and false: in neither. */
bool sq_profile_value(const char *name, char *to, size_t size);

#endif
