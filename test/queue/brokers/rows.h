/* test/queue/brokers/rows.h: the rows of the conformance suite. Each is one promise of
 * queue/broker.h and docs/brokers.md, and holds for every broker. */
#ifndef BIDE_TEST_QUEUE_BROKERS_ROWS_H
#define BIDE_TEST_QUEUE_BROKERS_ROWS_H

struct rig;

#define ROWS(X)                                                                \
    /* rows_put.c */                                                           \
    X(put_message_arrives_as_it_was)                                           \
    X(put_empty_and_binary_bodies_arrive)                                      \
    X(put_same_id_twice_is_one_message)                                        \
    X(put_too_large_is_refused_with_the_limit)                                 \
    X(put_batch_keeps_its_order)                                               \
    X(put_delayed_waits_until_it_is_due)                                       \
    X(put_wakes_who_waits)                                                     \
    X(put_that_was_heard_wakes_no_more)                                        \
    X(take_empty_queue_gives_nothing)                                          \
    X(priority_higher_goes_first)                                              \
    X(priority_who_waited_too_long_goes_next)                                  \
    X(retries_take_their_share_and_no_more)                                    \
    X(priority_is_above_retries)                                               \
    /* rows_settle.c */                                                        \
    X(done_leaves_the_queue)                                                   \
    X(again_waits_and_counts)                                                  \
    X(again_uncounted_keeps_the_attempt)                                       \
    X(again_a_thousand_stay_spread)                                            \
    X(dead_keeps_reason_errors_and_output)                                     \
    X(settle_twice_is_lost)                                                    \
    X(settle_batch_of_all_kinds)                                               \
    X(redrive_starts_over_with_id_and_key)                                     \
    X(redrive_fresh_key_changes_the_generation)                                \
    X(redrive_sees_what_becomes_of_the_first)                                  \
    X(redrive_interrupted_loses_nothing)                                       \
    X(commit_not_reached_undoes_all)                                           \
    X(counts_see_every_state)                                                  \
    X(each_finds_by_id_reason_and_time)                                        \
    X(each_is_in_the_order_of_turns)                                           \
    X(queue_that_is_not_there_is_named)                                        \
    /* rows_key.c */                                                           \
    X(key_one_at_a_time_in_order)                                              \
    X(key_that_waits_holds_only_itself)                                        \
    X(key_that_waits_with_many_behind_it)                                      \
    X(key_is_freed_by_a_dead_letter)                                           \
    X(key_never_in_parallel_among_workers)                                     \
    X(key_redriven_waits_behind)                                               \
    X(key_retry_is_known_to_others)                                            \
    /* rows_quick.c */                                                         \
    X(quick_takes_leave_the_rest_to_others)                                    \
    X(quick_takes_that_become_slow_share_with_others)                          \
    X(quick_takes_while_much_runs_go_on)                                       \
    X(quick_takes_of_a_worker_that_is_killed)                                  \
    /* rows_death.c */                                                         \
    X(worker_killed_its_message_runs_elsewhere)                                \
    X(worker_killed_with_several_makes_suspects)                               \
    X(worker_killed_three_times_by_one_message)                                \
    X(worker_killed_three_times_by_a_key)                                      \
    X(worker_killed_beside_the_cause_is_not_blamed)                            \
    X(worker_killed_frees_its_keys)                                            \
    X(worker_frozen_is_fenced_off)                                             \
    X(worker_that_beats_is_left_alone)                                         \
    X(worker_that_leaves_gives_back)                                           \
    /* rows_server.c: with a server that can be killed */                      \
    X(server_killed_keeps_what_it_confirmed)                                   \
    X(server_killed_running_ones_settle_after)                                 \
    X(server_killed_keys_keep_their_place)                                     \
    X(server_killed_between_quick_takes)                                       \
    X(server_killed_before_ends_are_durable)                                   \
    X(server_frozen_past_the_lease_retries_go_on)                              \
    X(server_frozen_answers_down_in_time)                                      \
    X(server_frozen_take_is_not_lost)                                          \
    X(foreign_messages_are_handled)

#define X(name) void name(struct rig *r);
ROWS(X)
#undef X

#endif
