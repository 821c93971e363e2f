// The numbers as they come: the last minutes once, then a state each second.
import type { Sample, State } from './types';

const KEEP = 900; // seconds

export type Link = 'connecting' | 'live' | 'lost';

/** All that has come so far. One object, changed in place; `listen` tells when. */
export class Feed {
  state: State | null = null;
  link: Link = 'connecting';
  samples = new Map<string, Sample[]>();
  private listeners = new Set<() => void>();
  private source: EventSource | null = null;

  start(): void {
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
  private async loadHistory(): Promise<void> {
    const answer = await fetch('api/history');
    const history = (await answer.json()) as { deps: Record<string, Sample[]> };
    for (const [name, list] of Object.entries(history.deps)) this.samples.set(name, merge(this.samples.get(name) ?? [], list));
    this.changed();
  }

  // The browser itself connects again, after the second that the server names.
  private openStream(): void {
    this.source = new EventSource('api/stream');
    this.source.onopen = () => void this.loadHistory().catch(() => {}); // charts begin later, then
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
    if (list.length > KEEP) list.splice(0, list.length - KEEP);
    this.samples.set(name, list);
  }
}

/** Two lists of one dependency, in order, each second once. */
function merge(a: Sample[], b: Sample[]): Sample[] {
  const all = new Map([...a, ...b].map((s) => [s.at_ms, s]));
  return [...all.values()].sort((x, y) => x.at_ms - y.at_ms).slice(-KEEP);
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
