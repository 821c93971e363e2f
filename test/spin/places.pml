/* The in-flight cap and its queue: lib/limit/limit.c and ask_place() of lib/attempt.c,
 * step by step.
 *
 * Mirrors bide__place_take(), bide__place_give(), bide__queue_join(), all by way
 * of add_below(), bide__queue_leave() and bide__place_wanted(), in the order in
 * which ask_place(), bide__attempt_start(), leave_place() and bide__queue_quit()
 * use them. Each load, compare-and-swap and add of the C code is one atomic
 * step.
 *
 * `told` is the driver: on_place() raises it, and a queued call that finds it
 * raised lowers it and asks again. A driver must not forget a word that nobody
 * was asleep to hear: a semaphore or an eventfd, not a bare condition variable.
 * With GIVES_UP, two queued calls may be cancelled at any moment, also when they
 * have just been woken.
 *
 * Checked, whatever the interleaving:
 *   - never more than CAP attempts at once, never more than QUEUE in the queue;
 *   - no wake-up is lost: nobody waits for ever (no invalid end state), although
 *     here no queue timeout comes to help, but in the run where it does;
 *   - at the end no place is taken and the queue is empty.
 *
 * Planted mistakes, each of which must be found:
 *   BUG_CHECK_THEN_ADD  the cap is checked, then the place is taken
 *   BUG_NO_SECOND_LOOK  joins the queue, and does not look for a place again
 *   BUG_LOOK_FIRST      looks at the queue, then gives the place up
 *   BUG_KEEPS_WORD      a call that gives up when woken has nobody else told
 */
// run: 4-threads pan=-m20000
// run: 2-places spin=-DCAP=2 pan=-m20000
// run: short-queue spin=-DQUEUE=1 spin=-DROUNDS=2 spin=-DTHREADS=3 pan=-m20000
// run: gives-up spin=-DGIVES_UP pan=-m20000
// run: times-out spin=-DTIMES_OUT pan=-m20000
// run: check-then-add spin=-DBUG_CHECK_THEN_ADD cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: no-second-look spin=-DBUG_NO_SECOND_LOOK cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: look-first spin=-DBUG_LOOK_FIRST cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: keeps-word spin=-DGIVES_UP spin=-DBUG_KEEPS_WORD cc=-DSAFETY cc=-O0 pan=-m20000 expect=error

#ifndef THREADS
#define THREADS 4
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef CAP
#define CAP 1
#endif
#ifndef QUEUE
#define QUEUE 3
#endif

/* struct bide__places */
byte used;
byte queued;

byte told;
byte cancels = 2;
byte running; /* for the checks alone */
byte finished;

/* One more of `n`, unless there are `most`; `got` says how it went. */
inline add_below(n, most)
{
    d_step { seen = n; got = false };
    do
    :: seen >= most -> break
    :: else ->
        d_step {
#ifdef BUG_CHECK_THEN_ADD
            got = true;
#else
            got = n == seen;
#endif
            if
            :: got -> n++
            :: else -> seen = n
            fi
        }
        if
        :: got -> break
        :: else
        fi
    od;
    seen = 0
}

inline queue_leave()
{
    d_step { queued--; in_queue = false }
}

inline run_attempt()
{
    if
    :: in_queue -> queue_leave()
    :: else
    fi;
    d_step { running++; assert(running <= CAP && used <= CAP && queued <= QUEUE) }
    running--;
#ifdef BUG_LOOK_FIRST
    seen = queued;
    used--;
#else
    used--;
    seen = queued;
#endif
    if
    :: seen != 0 -> told++ /* on_place() */
    :: else
    fi;
    seen = 0
}

inline queue_quit()
{
    queue_leave();
    over = true;
#ifndef BUG_KEEPS_WORD
    if
    :: used < CAP ->
        if
        :: queued != 0 -> told++
        :: queued == 0
        fi
    :: used >= CAP
    fi
#endif
}

inline wait()
{
    if
    :: d_step { told > 0; told-- }
#ifdef GIVES_UP
        if
        :: true /* asks again */
        :: d_step { cancels > 0; cancels-- } queue_quit()
        fi
    :: d_step { cancels > 0; cancels-- } queue_quit()
#endif
#ifdef TIMES_OUT /* asks once more, and is refused */
    :: add_below(used, CAP);
        if
        :: got -> run_attempt(); over = true
        :: else -> queue_quit()
        fi
#endif
    fi
}

/* READY until it has a place, is refused, or is given up. */
inline call()
{
    over = false;
    do
    :: over -> break
    :: else ->
        add_below(used, CAP);
        if
        :: got
        :: !got && in_queue
        :: !got && !in_queue ->
            add_below(queued, QUEUE);
            if
            :: !got -> over = true /* refused */
            :: else ->
                in_queue = true;
#ifndef BUG_NO_SECOND_LOOK
                add_below(used, CAP);
#else
                got = false
#endif
            fi
        fi;
        if
        :: got -> run_attempt(); over = true
        :: !got && over
        :: !got && !over -> wait()
        fi
    od
}

active [THREADS] proctype thread()
{
    byte rounds, seen;
    bool got, in_queue, over;
    do
    :: rounds < ROUNDS -> call(); got = false; rounds++
    :: else -> break
    od;
    finished++
}

active proctype judge()
{
    finished == THREADS;
    assert(used == 0 && queued == 0)
}
