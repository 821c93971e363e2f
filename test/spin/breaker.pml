/* The breaker: lib/breaker.c, step by step.
 *
 * Mirrors bide__breaker_enter() with enter(), enter_half_open(), places_held(),
 * take_place() and shift(); bide__breaker_report() with report_closed(),
 * report_probe(), reopens() and open_it(); bide__breaker_leave(). The control
 * word is five variables that are only ever read and written together. Each
 * load and compare-and-swap of the C code is one atomic step. Whether a failure
 * in the closed state is one too many (bide__breaker_count()) is left open: both
 * happen. Forced modes are not here: they make no transition.
 *
 * Threads look at the clock, and may then be held up for as long as there are
 * ticks. They ask to be let through, and then report a success, a failure or a
 * neutral outcome, or nothing at all, ROUNDS times. It begins closed, or open
 * until tick 1.
 *
 * Checked, whatever the interleaving:
 *   - probes in flight, but for those that were silent for too long, are never
 *     more than the places; nor are they together with the results that are in
 *     (a result that comes after its probe was given up is one on top);
 *   - each step of the generation is one transition, along an edge that exists;
 *   - a result changes nothing in another generation than its own;
 *   - when all is quiet, no half-open state is settled and left standing;
 *   - it cannot be wedged: from every quiet state, whoever reported nothing, time
 *     and good answers lead back to closed;
 *   - every thread finishes (no invalid end state).
 *
 * Planted mistakes, each of which must be found:
 *   BUG_NO_RECHECK     does not look again once it has a place
 *   BUG_LEAVE_FIRST    a probe gives its place up, and is counted after that
 *   BUG_NO_GENERATION  a result is counted in whatever half-open state there is
 *   BUG_NO_RECLAIM     a place is never taken over
 *   BUG_STORE          a transition is a store, not a compare-and-swap
 *
 * Not run by the tests, for it takes a minute and a half: three threads, two
 * places and a clock that moves (the defaults below), 35 million states.
 */
// run: 3-threads-at-once spin=-DLAST=1 cc=-DSAFETY cc=-DCOLLAPSE pan=-m20000
// run: 3-threads-1-place spin=-DPLACES=1 cc=-DSAFETY cc=-DCOLLAPSE pan=-m20000
// run: 2-rounds spin=-DTHREADS=2 spin=-DROUNDS=2 cc=-DSAFETY cc=-DCOLLAPSE pan=-m20000
// run: rate spin=-DRATE spin=-DLAST=1 cc=-DSAFETY cc=-DCOLLAPSE pan=-m20000
// run: no-recheck spin=-DBUG_NO_RECHECK cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: leave-first spin=-DBUG_LEAVE_FIRST spin=-DPLACES=1 cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: no-generation spin=-DBUG_NO_GENERATION cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: no-reclaim spin=-DBUG_NO_RECLAIM cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: store spin=-DBUG_STORE cc=-DSAFETY cc=-O0 pan=-m20000 expect=error

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef PLACES
#define PLACES 2
#endif
#ifndef LAST
#define LAST 2 /* the clock stops here */
#endif
#define OPEN_TIME 1
#define PROBE_TIME 1

#define CLOSED 0
#define OPEN 1
#define HALF_OPEN 2
#define NOBODY PLACES
#define COUNTED 255

/* struct bide__breaker: the control word, and the places */
byte state, generation, good, bad, until;
byte probe[PLACES];

byte now = 1;
byte finished;

/* For the checks alone: until when the probe of each thread is waited for. */
byte flying[THREADS + 1];
byte flying_in[THREADS + 1]; /* of this generation, or its result is in */

byte given_up; /* results of probes whose time was over when they reported */

#define FLIES(i) (flying[i] > now)
#define FLIES_HERE(i) (flying[i] > now && flying_in[i] == generation)
#if THREADS == 3
#define IN_FLIGHT (FLIES(0) + FLIES(1) + FLIES(2) + FLIES(3))
#define HERE (FLIES_HERE(0) + FLIES_HERE(1) + FLIES_HERE(2) + FLIES_HERE(3))
#else
#define IN_FLIGHT (FLIES(0) + FLIES(1) + FLIES(2))
#define HERE (FLIES_HERE(0) + FLIES_HERE(1) + FLIES_HERE(2))
#endif

#define SAME (state == had_state && generation == had_generation && \
              good == had_good && bad == had_bad && until == had_until)

/* These are used inside d_step and atomic. */
inline copy_control()
{
    had_state = state; had_generation = generation;
    had_good = good; had_bad = bad; had_until = until
}

/* To the next generation. It is the one place where that changes. */
inline shift(to, to_until)
{
    d_step {
#ifdef BUG_STORE
        won = true;
#else
        won = SAME;
#endif
        if
        :: won ->
            assert((to == OPEN && state != OPEN) ||
                   (to == HALF_OPEN && state == OPEN) ||
                   (to == CLOSED && state == HALF_OPEN));
            assert(generation == had_generation);
            state = to;
            generation++;
            good = 0;
            bad = 0;
            given_up = 0;
            until = to_until
        :: else
        fi;
        copy_control()
    }
}

inline places_held()
{
    held = 0;
    i = 0;
    do
    :: i < PLACES -> d_step { held = held + (probe[i] > tick); i++ }
    :: else -> break
    od
}

#ifdef BUG_NO_RECLAIM
#define FREE(p) (p == 0)
#else
#define FREE(p) (p <= tick)
#endif

inline take_place()
{
    place = NOBODY;
    i = 0;
    do
    :: i < PLACES ->
        seen = probe[i];
        if
        :: FREE(seen) ->
            d_step {
                if
                :: probe[i] == seen ->
                    probe[i] = tick + PROBE_TIME;
                    place = i;
                    i = PLACES
                :: else -> i++
                fi
            }
        :: else -> i++
        fi
    :: else -> break
    od;
    seen = 0
}

/* In a d_step. With the mistake, its result is still to come. */
inline landed()
{
#ifndef BUG_LEAVE_FIRST
    flying[me] = 0;
    flying_in[me] = 0
#else
    skip
#endif
}

/* bide__breaker_leave(): not if somebody else has taken the place over. */
inline leave()
{
    d_step {
        if
        :: place != NOBODY && probe[place] == entered + PROBE_TIME ->
            probe[place] = 0
        :: else
        fi;
        landed()
    }
}

/* The last look decides; it is then that a probe takes off. */
inline look_again()
{
    atomic {
        copy_control();
#ifdef BUG_NO_RECHECK
        in = had_generation == mine;
#else
        in = had_generation == mine && held + had_good + had_bad <= PLACES;
#endif
        if
        :: in ->
            flying[me] = entered + PROBE_TIME;
            flying_in[me] = mine;
            assert(IN_FLIGHT <= PLACES);
            assert(HERE + good + bad <= PLACES + given_up)
        :: else
        fi
    }
}

inline enter_half_open()
{
    places_held();
    if
    :: held + had_good + had_bad >= PLACES
    :: else ->
        take_place();
        if
        :: place == NOBODY
        :: else ->
            places_held();
            look_again();
            if
            :: in
            :: else -> leave(); place = NOBODY
            fi
        fi
    fi;
    held = 0; i = 0
}

inline enter()
{
    d_step { entered = tick; copy_control(); in = false; place = NOBODY }
    do
    :: had_state == OPEN && tick >= had_until -> shift(HALF_OPEN, 0)
    :: else -> break
    od;
    mine = had_generation;
    if
    :: had_state == CLOSED -> in = true
    :: had_state == HALF_OPEN -> enter_half_open()
    :: else
    fi
}

#ifdef RATE /* probe_failure_rate 0.5 */
#define REOPENS(f, n) (f != 0 && n >= PLACES && 2 * f >= n)
#else
#define REOPENS(f, n) (f != 0)
#endif

/* One result more; `counted` unless the half-open state is over. */
inline report_probe(ill)
{
    counted = false;
    do
#ifndef BUG_NO_GENERATION
    :: had_generation != mine -> break
#endif
    :: else ->
        d_step {
            if
            :: SAME ->
                assert(generation == mine && state == HALF_OPEN);
                good = good + !ill;
                bad = bad + ill;
                given_up = given_up + (flying[me] <= now);
                flying_in[me] = COUNTED;
                counted = true
            :: else
            fi;
            copy_control()
        }
        if
        :: counted -> break
        :: else
        fi
    od;
    if
    :: counted && REOPENS(had_bad, had_bad + had_good) -> shift(OPEN, tick + OPEN_TIME)
    :: counted && !REOPENS(had_bad, had_bad + had_good) && had_bad + had_good >= PLACES ->
        shift(CLOSED, 0)
    :: else
    fi
}

inline report(ill)
{
#ifdef BUG_LEAVE_FIRST
    leave();
#endif
    d_step { copy_control() }
    if
#ifndef BUG_NO_GENERATION
    :: had_generation != mine /* late */
#endif
    :: else ->
        if
        :: had_state == CLOSED && ill -> /* one too many, or not */
            if
            :: shift(OPEN, tick + OPEN_TIME)
            :: true
            fi
        :: had_state == HALF_OPEN && place != NOBODY -> report_probe(ill)
        :: else
        fi
    fi;
#ifndef BUG_LEAVE_FIRST
    leave()
#else
    d_step { flying[me] = 0; flying_in[me] = 0 }
#endif
}

#define LOCALS                                                              \
    byte rounds, tick, entered, mine, place, seen, held, i;                 \
    byte had_state, had_generation, had_good, had_bad, had_until;                     \
    bool in, won, counted

inline forget()
{
    atomic {
        tick = 0; entered = 0; mine = 0; place = 0; seen = 0; held = 0; i = 0;
        had_state = 0; had_generation = 0; had_good = 0; had_bad = 0; had_until = 0;
        in = false; won = false; counted = false
    }
}

proctype thread(byte me)
{
    LOCALS;
    do
    :: rounds < ROUNDS ->
        d_step { tick = now; rounds++ }
        enter();
        if
        :: in ->
            tick = now;
            if
            :: report(false)
            :: report(true)
            :: leave() /* neutral */
            :: skip    /* silent */
            fi
        :: else
        fi;
        forget()
    :: else -> break
    od;
    finished++
}

proctype clock()
{
    do
    :: now < LAST -> now++
    :: else -> break
    od
}

/* When all is quiet, goes on alone. */
proctype judge(byte me)
{
    LOCALS;
    d_step {
        finished == THREADS;
        assert(state != HALF_OPEN ||
               (good + bad < PLACES && !REOPENS(bad, good + bad)));
        now = LAST + OPEN_TIME + PROBE_TIME;
        tick = now;
        rounds = 0;
        do
        :: state != CLOSED || rounds == 0 ->
            enter();
            assert(in);
            report(false);
            rounds++;
#ifdef RATE
            /* a failure that is in already may open it once more */
            now = now + OPEN_TIME + PROBE_TIME;
            tick = now;
            assert(rounds <= 2 * PLACES + 1)
#else
            assert(rounds <= PLACES + 1)
#endif
        :: else -> break
        od;
        now = LAST
    }
}

init
{
    atomic {
        if
        :: state = CLOSED
        :: state = OPEN; until = 1
        fi;
        run thread(0);
        run thread(1);
#if THREADS == 3
        run thread(2);
#endif
        run clock();
        run judge(THREADS)
    }
}
