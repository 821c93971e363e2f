-- What the PostgreSQL store keeps, version 1. Made at its first use, in the first
-- schema of the search path, by statements that may be run again.
--
-- Times are nanoseconds since 1970, of this server: to_timestamp(created_ns / 1e9).

-- Two that start at once shall not both make it.
SELECT pg_advisory_xact_lock(7090327411);

CREATE TABLE IF NOT EXISTS bide_store (
    version int NOT NULL
);

CREATE TABLE IF NOT EXISTS bide_store_records (
    id bytea PRIMARY KEY,             -- SHA-256 of scope, owner and key
    version bigint NOT NULL,          -- another after every change
    scope bytea NOT NULL,
    owner bytea NOT NULL,
    key bytea NOT NULL,
    state int NOT NULL,               -- 0 claimed, 1 done, 2 done but too large
    token bigint NOT NULL,
    created_ns bigint NOT NULL,
    lease_until_ns bigint NOT NULL,
    expires_ns bigint NOT NULL,
    fingerprint bytea NOT NULL,
    binding bytea NOT NULL,
    status int NOT NULL,
    answer bytea NOT NULL,
    room bytea NOT NULL,              -- whose room it takes,
    lane int NOT NULL,                -- where that is counted,
    bytes bigint NOT NULL             -- and how much
);
ALTER TABLE bide_store_records ALTER answer SET STORAGE EXTERNAL;
CREATE INDEX IF NOT EXISTS bide_store_records_expires
    ON bide_store_records (expires_ns);
CREATE INDEX IF NOT EXISTS bide_store_records_created
    ON bide_store_records (created_ns);

-- How much room is taken, of all and by each caller. Each connection counts in
-- one of 16 lanes, so that those who commit at once do not wait for each other.
CREATE TABLE IF NOT EXISTS bide_store_rooms (
    room bytea NOT NULL,
    lane int NOT NULL,
    bytes bigint NOT NULL,
    records bigint NOT NULL,
    PRIMARY KEY (room, lane)
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS bide_store_lanes (
    lane int PRIMARY KEY,
    bytes bigint NOT NULL,
    records bigint NOT NULL
) WITH (fillfactor = 10);

INSERT INTO bide_store SELECT 1 WHERE NOT EXISTS (SELECT FROM bide_store);
