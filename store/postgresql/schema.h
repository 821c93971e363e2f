/* store/postgresql/schema.h: schema.sql, as the build has put it into C. */
#ifndef BIDE_STORE_POSTGRESQL_SCHEMA_H
#define BIDE_STORE_POSTGRESQL_SCHEMA_H

extern const char pg_store_schema[];

#endif
