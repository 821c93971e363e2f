#!/usr/bin/env python3
"""check.py SUITE [MODULE]: servers whose settings lose messages are found out, with the
setting to change; wrong passwords and names are refused, servers that are away are not."""
import os
import subprocess
import sys

import rabbitmq
import servers
import tap

PROGRAM = os.path.join(tap.START, sys.argv[1])
ENV = tap.environment()
for module in sys.argv[2:]:
    ENV["BIDE_MODULES"] = os.path.dirname(os.path.join(tap.START, module))


def said(url):
    p = subprocess.run([PROGRAM, url, "check"], env=ENV, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=60)
    return p.stdout + (f"exit {p.returncode}" if p.returncode else "")


def loses(name, text, setting):
    tap.case(name, "loss: " in text and setting in text, text)


def redis():
    with servers.Redis() as r:
        loses("redis_in_memory_only_is_loss", said(r.url), "CONFIG SET appendonly yes")
        tap.case("redis_that_evicts_nothing_is_fine", "maxmemory" not in said(r.url))
        r.ask("CONFIG SET appendonly yes")
        loses("redis_everysec_is_loss", said(r.url), "CONFIG SET appendfsync always")
        r.ask("CONFIG SET appendfsync always")
        tap.case("redis_that_keeps_everything_is_fine", said(r.url) == "", said(r.url))
        r.ask("CONFIG SET maxmemory 64mb")
        r.ask("CONFIG SET maxmemory-policy allkeys-lru")
        loses("redis_that_evicts_is_loss", said(r.url),
              "CONFIG SET maxmemory-policy noeviction")
        r.ask("CONFIG SET maxmemory-policy volatile-lru")
        tap.case("redis_that_evicts_others_is_fine", said(r.url) == "", said(r.url))
        r.ask("XGROUP CREATE default somebody 0 MKSTREAM")
        tap.case("redis_other_groups_are_named", "somebody" in said(r.url), said(r.url))
        r.ask("CONFIG SET requirepass secret")
        tap.case("redis_without_password_is_refused", said(r.url).startswith("refused"),
                 said(r.url))
        url = r.url
    tap.case("redis_that_is_away_is_down", said(url).startswith("down"), said(url))


def postgresql():
    with servers.Postgres() as p:
        p.wait()
        loses("postgresql_without_fsync_is_loss", said(p.url), "fsync = on")
        p.sql("ALTER TABLE bide_queue.message SET UNLOGGED")
        loses("postgresql_unlogged_table_is_loss", said(p.url),
              "ALTER TABLE bide_queue.message SET LOGGED")
        p.sql("ALTER TABLE bide_queue.message SET LOGGED")
        p.sql("UPDATE bide_queue.about SET version = 9")
        tap.case("postgresql_newer_schema_is_refused", "version 9" in said(p.url),
                 said(p.url))
        p.sql("UPDATE bide_queue.about SET version = 2")
        p.sql("CREATE ROLE nobody LOGIN")
        other = p.url.replace("bide@", "nobody@")
        tap.case("postgresql_without_rights_names_the_grant",
                 said(other).startswith("refused") and "GRANT" in said(other), said(other))
        other = p.url.replace("bide@", "nosuch@")
        tap.case("postgresql_unknown_user_is_refused", said(other).startswith("refused"),
                 said(other))
        other = p.url.replace("/postgres?", "/nosuch?")
        tap.case("postgresql_unknown_database_is_refused",
                 said(other).startswith("refused"), said(other))
        url = p.url
    tap.case("postgresql_that_is_away_is_down", said(url).startswith("down"), said(url))


def amqp():
    with rabbitmq.Rabbitmq() as r:
        r.wait()
        tap.case("rabbitmq_as_it_comes_is_fine", said(r.url) == "", said(r.url))
        for argument, value in (("x-max-length", 100), ("x-message-ttl", 60000),
                                ("x-expires", 600000)):
            r.declare("default", **{argument: value})
            loses(f"rabbitmq_{argument}_is_loss".replace("-", "_"), said(r.url),
                  f"has {argument} {value}")
        r.declare("default", x_max_length=100, x_message_ttl=60000)
        text = said(r.url)
        tap.case("rabbitmq_all_arguments_are_found",
                 "x-max-length 100" in text and "x-message-ttl 60000" in text, text)
        r.declare("default", x_max_length=100, x_overflow="reject-publish")
        tap.case("rabbitmq_that_refuses_when_full_is_fine", said(r.url) == "", said(r.url))
        r.declare("default", durable=False)
        loses("rabbitmq_not_durable_is_loss", said(r.url), "not durable")
        r.declare("default", x_queue_type="quorum", x_delivery_limit=5)
        loses("rabbitmq_delivery_limit_is_loss", said(r.url), "x-delivery-limit 5")
        r.declare("default", x_queue_type="quorum")
        tap.case("rabbitmq_quorum_queue_is_fine", said(r.url) == "", said(r.url))
        r.declare("default")
        r.declare("default.dead", x_message_ttl=60000)
        loses("rabbitmq_dead_letters_that_expire_are_loss", said(r.url), "default.dead")
        wrong = r.url.replace("guest:guest", "guest:wrong")
        tap.case("rabbitmq_wrong_password_is_refused", said(wrong).startswith("refused"),
                 said(wrong))
        tap.case("rabbitmq_password_is_not_told", "wrong" not in said(wrong), said(wrong))
        tap.case("rabbitmq_unknown_vhost_is_refused",
                 said(r.url + "/nosuch").startswith("refused"), said(r.url + "/nosuch"))
        tap.case("rabbitmq_url_with_a_mistake_is_refused",
                 said(r.url + "/?queue-type=x").startswith("refused"))
        url = r.url
    tap.case("rabbitmq_that_is_away_is_down", said(url).startswith("down"), said(url))


def kafka():
    with servers.Kafka(os.path.join(os.path.dirname(PROGRAM), "kafka_server")) as k:
        k.queue("default")
        text = said(k.url)
        tap.case("kafka_without_settings_says_so", "does not show" in text, text)
        tap.case("kafka_alone_is_no_loss", "loss: " not in text, text)
    with servers.Kafka(session=30) as k:
        k.queue("default", 6)
        text = said(k.url)
        tap.case("kafka_with_good_settings_is_fine", text == "", text)
        for topic, name, value, good, how in (
                ("default", "retention.ms", "60000", "1209600000", "loss"),
                ("default.retry.1h", "retention.ms", "60000", "1209600000", "loss"),
                ("default", "retention.bytes", "1000", "-1", "loss"),
                ("default", "cleanup.policy", "compact", "delete", "loss"),
                ("default.retry.10s", "message.timestamp.type", "CreateTime",
                 "LogAppendTime", "waste"),
                ("default.dead", "retention.ms", "60000", "-1", "waste"),
                ("default.dead", "max.message.bytes", "1048588", "1114124", "waste"),
                ("-", "auto.create.topics.enable", "true", "false", "waste"),
                ("-", "offsets.retention.minutes", "60", "20160", "waste"),
                ("-", "offset.metadata.max.bytes", "1000", "4096", "loss")):
            k.tell(f"set {topic} {name} {value}")
            text = said(k.url)
            tap.case(f"kafka_{topic}_{name}_{value}_is_{how}",
                     text.startswith(how + ": ") and text.count("\n") == 1
                     and name in text, text)
            k.tell(f"set {topic} {name} {good}")
        loses("kafka_acks_of_one_is_loss",
              said(k.url + "&acks=1&enable.idempotence=false"), "no acks")
        loses("kafka_short_poll_interval_is_loss",
              said(k.url + "&max.poll.interval.ms=30000&session.timeout.ms=20000"),
              "max.poll.interval.ms=300000")
        for name, more, found in (
                ("unknown_setting", "&no.such=1", "no.such"),
                ("setting_without_value", "&acks", "NAME=VALUE"),
                ("bad_number", "&partitions=x", "partitions=x")):
            text = said(k.url + more)
            tap.case(f"kafka_{name}_is_refused",
                     text.startswith("refused") and found in text, text)
        text = said(f"kafka://eve:secret@{k.servers}?security.protocol=SASL_PLAINTEXT")
        tap.case("kafka_password_is_refused_and_not_shown",
                 text.startswith("refused") and "secret" not in text, text)
        url = k.url
    text = said(url)
    tap.case("kafka_that_is_away_is_down", text.startswith("down"), text)


redis()
if any("rabbitmq" in module for module in sys.argv[2:]):
    amqp()
if any("postgresql" in module for module in sys.argv[2:]):
    postgresql()
    with servers.Postgres(durable=True) as safe:
        safe.wait()
        tap.case("postgresql_as_it_comes_is_fine", said(safe.url) == "", said(safe.url))
if any("kafka" in module for module in sys.argv[2:]):
    kafka()
text = said("mysql://host/db")
tap.case("unknown_broker_is_refused_with_those_there_are",
         text.startswith("refused") and "redis" in text and "postgresql" in text, text)
tap.finish()
