// How well a dependency is, and which is the worst: the order of the overview, the
// title and the icon of the page.
import { calls, sum, within, type Totals } from './data';
import type { Brief, Mood, Sample, State } from './types';

export interface Health {
  dep: Brief;
  t: Totals; // of the last ten seconds
  minute: Sample[];
  mood: Mood;
  why: string; // in a few words; '' if it is well
  hurt: number; // about how much fails; in steps, so that they keep their places
}

export function endpointsOf(dep: Brief): [number, number] {
  if (dep.endpoints) {
    return [dep.endpoints.filter((e) => e.state === 'up' || e.state === 'warming').length, dep.endpoints.length];
  }
  return [dep.endpoints_up ?? 0, dep.endpoints_all ?? 0];
}

const rank: Record<Mood, number> = { bad: 3, warn: 2, good: 1, idle: 0 };

export function healthOf(dep: Brief, samples: Sample[], now_ms: number): Health {
  const minute = within(samples, now_ms - 60000, now_ms);
  const t = sum(minute.slice(-10));
  return { dep, t, minute, mood: dep.mood, why: dep.why, hurt: Math.round(Math.log2(1 + t.failed * 10 + t.retries)) };
}

export const calls_per_s = (t: Totals): number => (t.seconds ? t.calls / t.seconds : 0);

/** All of them, in the program's order. */
export function healths(state: State, samples: Map<string, Sample[]>): Health[] {
  return state.deps.map((d) => healthOf(d, samples.get(d.name) ?? [], state.now_ms));
}

/** The worst first; those that are alike by name. */
export function worstFirst(list: Health[]): Health[] {
  const hurt = (h: Health) => (rank[h.mood] > 1 ? h.hurt : 0);
  return [...list].sort((a, b) => rank[b.mood] - rank[a.mood] || hurt(b) - hurt(a) || a.dep.name.localeCompare(b.dep.name));
}

export const counts = (list: Health[]): Record<Mood, number> => {
  const n: Record<Mood, number> = { bad: 0, warn: 0, good: 0, idle: 0 };
  for (const h of list) n[h.mood]++;
  return n;
};

export const peak = (list: Sample[]): number => Math.max(1, ...list.map((s) => calls(s) / (s.seconds || 1)));
