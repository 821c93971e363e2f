// The numbers as they come: the last minutes once, then a state each second.
import type { Sample, State } from './types';

const KEEP_MS = 15 * 60 * 1000;

export type Link = 'connecting' | 'live' | 'lost';

/** All that has come so far. One object, changed in place; `listen` tells when.
 *
 * A program may have hundreds of dependencies: each message has all numbers of the
 * one that is looked at, and of the others what the overview shows. */
export class Feed {
  state: State | null = null;
  link: Link = 'connecting';
  samples = new Map<string, Sample[]>();
  private listeners = new Set<() => void>();
  private source: EventSource | null = null;
  private dep = '';

  /** Which dependency is looked at; '' is none. */
  watch(dep: string): void {
    if (this.source && dep === this.dep) return;
    this.dep = dep;
    this.openStream();
  }

  listen(fn: () => void): () => void {
    this.listeners.add(fn);
    return () => this.listeners.delete(fn);
  }

  private changed(): void {
    for (const fn of this.listeners) fn();
  }

  // What came before the stream was opened; what was missed, if it broke off and was
  // opened again.
  private async loadHistory(dep: string): Promise<void> {
    const minute = await load<Record<string, Short[]>>('api/history?brief');
    for (const [name, list] of Object.entries(minute)) this.merge(name, list.map(long));
    if (dep) {
      const all = await load<Record<string, Sample[]>>(`api/history?dep=${encodeURIComponent(dep)}`);
      for (const [name, list] of Object.entries(all)) this.merge(name, list);
    }
    this.changed();
  }

  // The browser itself connects again, after the second that the server names.
  private openStream(): void {
    const dep = this.dep;
    this.source?.close();
    this.source = new EventSource(`api/stream?dep=${encodeURIComponent(dep)}`);
    this.source.onopen = () => void this.loadHistory(dep).catch(() => {}); // charts begin later, then
    this.source.onmessage = (e) => this.take(JSON.parse(e.data as string) as State);
    this.source.onerror = () => {
      this.link = 'lost';
      this.changed();
    };
  }

  private take(state: State): void {
    this.state = state;
    this.link = 'live';
    for (const dep of state.deps) {
      if (dep.second) this.add(dep.name, dep.second);
    }
    this.changed();
  }

  // The same second may come twice: streams and samples have clocks of their own.
  private add(name: string, sample: Sample): void {
    const list = this.samples.get(name) ?? [];
    const last = list[list.length - 1];
    if (last && sample.at_ms <= last.at_ms) return;
    list.push(sample);
    while (list[0]!.at_ms < sample.at_ms - KEEP_MS) list.shift();
    this.samples.set(name, list);
  }

  // In order, each second once; whole ones instead of short ones. A long one is for
  // seconds that are long past, of which there may be short ones: those go.
  private merge(name: string, more: Sample[]): void {
    const all = new Map([...(this.samples.get(name) ?? []), ...more].map((s) => [s.at_ms, s]));
    const steps = more.filter((s) => s.seconds > 5);
    const until = steps.length ? steps[steps.length - 1]!.at_ms : 0;
    const list = [...all.values()].filter((s) => s.seconds > 5 || s.at_ms > until).sort((x, y) => x.at_ms - y.at_ms);
    const newest = list[list.length - 1]?.at_ms ?? 0;
    this.samples.set(name, list.filter((s) => s.at_ms > newest - KEEP_MS));
  }
}

async function load<T>(path: string): Promise<T> {
  return ((await (await fetch(path)).json()) as { deps: T }).deps;
}

/** [at_ms, seconds, calls, failed, retries] */
type Short = [number, number, number, number, number];

/** A second of which only that much is known. */
function long([at_ms, seconds, calls, failed, retries]: Short): Sample {
  return {
    at_ms, seconds, first: calls - failed, late: 0, refused: failed ? { '': failed } : {}, attempts: calls + retries,
    backoff: retries, hint: 0, immediate: 0, hedges: 0, hedges_won: 0, budget: null, breaker: 'closed',
    p50_call_ms: null, p99_call_ms: null, p50_attempt_ms: null, p99_attempt_ms: null,
  };
}

/** Reasons that are nobody's failure: the server answered, and said no for good (a
 * 404, say), or the caller went away. */
const neutral = ['permanent', 'cancelled'];

export const set_aside = (s: Sample): number =>
  neutral.reduce((sum, reason) => sum + (s.refused[reason] ?? 0), 0);

export const failures = (s: Sample): number => {
  let sum = 0;
  for (const n of Object.values(s.refused)) sum += n;
  return sum - set_aside(s);
};

export const calls = (s: Sample): number => s.first + s.late + failures(s) + set_aside(s);

/** Sums over a stretch of time: what the tiles show. */
export interface Totals {
  seconds: number;
  calls: number;
  first: number;
  late: number;
  failed: number;
  judged: number; // calls that succeeded or failed
  attempts: number;
  retries: number;
  hedges: number;
  won: number;
  refused: Record<string, number>;
}

export function sum(samples: Sample[]): Totals {
  const t: Totals = {
    seconds: 0, calls: 0, first: 0, late: 0, failed: 0, judged: 0, attempts: 0, retries: 0,
    hedges: 0, won: 0, refused: {},
  };
  for (const s of samples) {
    t.seconds += s.seconds;
    t.calls += calls(s);
    t.first += s.first;
    t.late += s.late;
    t.failed += failures(s);
    t.judged += s.first + s.late + failures(s);
    t.attempts += s.attempts;
    t.retries += s.backoff + s.hint + s.immediate;
    t.hedges += s.hedges;
    t.won += s.hedges_won;
    for (const [reason, n] of Object.entries(s.refused)) {
      t.refused[reason] = (t.refused[reason] ?? 0) + n;
    }
  }
  return t;
}

/** Those within a stretch of time. */
export function within(samples: Sample[], from_ms: number, to_ms: number): Sample[] {
  return samples.filter((s) => s.at_ms > from_ms && s.at_ms <= to_ms);
}
