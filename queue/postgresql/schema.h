/* queue/postgresql/schema.h: schema.sql, as the build has put it into C. */
#ifndef BIDE_QUEUE_POSTGRESQL_SCHEMA_H
#define BIDE_QUEUE_POSTGRESQL_SCHEMA_H

extern const char pgq_schema[];

#endif
