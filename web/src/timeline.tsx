// The breaker over time: a band in the colour of its state, and what happened at
// each turn.
import { clock, ms } from './format';
import type { Breaker, BreakerMode, Dep, Sample, Turn } from './types';

interface Props {
  dep: Dep;
  samples: Sample[];
  turns: Turn[]; // newest first
  from_ms: number;
  to_ms: number;
}

interface Stretch {
  state: Breaker;
  from: number; // 0 .. 1
  to: number;
}

export const stateWord: Record<Breaker, string> = {
  closed: 'closed', open: 'open', half_open: 'half-open',
};

/** From samples, made exact by the turns where there are some. */
function stretches(p: Props): Stretch[] {
  const list: Stretch[] = [];
  const span = p.to_ms - p.from_ms;
  const place = (at: number) => Math.min(1, Math.max(0, (at - p.from_ms) / span));
  const marks: { at: number; state: Breaker }[] = [];
  const turns = [...p.turns].reverse().filter((t) => t.dep === p.dep.name);
  const oldest = turns[0]?.at_ms ?? Infinity;

  for (const s of p.samples) {
    if (s.at_ms < oldest) marks.push({ at: s.at_ms - s.seconds * 1000, state: s.breaker });
  }
  for (const t of turns) marks.push({ at: t.at_ms, state: t.to });
  marks.sort((a, b) => a.at - b.at);
  marks.forEach((m, i) => {
    const next = marks[i + 1]?.at ?? p.to_ms;
    const last = list[list.length - 1];
    const to = place(next);
    if (to <= 0) return;
    if (last && last.state === m.state) last.to = to;
    else list.push({ state: m.state, from: place(m.at), to });
  });
  return list;
}

/** What somebody has set it to, if it does not go by its counts. */
export const forcedWord: Partial<Record<BreakerMode, string>> = {
  forced_open: 'forced: every call is refused', forced_closed: 'forced: no call is refused', dry_run: 'dry run: no call is refused',
};

function now(dep: Dep): string {
  const b = dep.breaker;
  const forced = forcedWord[b.mode];
  if (forced) return `It does not go by its counts, ${forced}.`;
  if (b.state === 'open') return `Open: calls are refused at once. Probes go out in ${ms(b.open_for_ms)}.`;
  if (b.state === 'half_open') return `Half-open: ${b.attempts} of its probes have reported, ${b.failed} failed.`;
  const rate = b.attempts ? b.failed / b.attempts : 0;
  const enough = b.attempts >= b.min_calls ? '' : `, and only from ${b.min_calls} attempts on`;
  return `Closed: ${Math.round(rate * 100)} % of ${b.attempts} attempts in its window failed; it opens at ${Math.round(b.opens_at * 100)} %${enough}.`;
}

export function Timeline(p: Props) {
  const turns = p.turns.filter((t) => t.dep === p.dep.name && t.at_ms >= p.from_ms && t.at_ms <= p.to_ms);
  const span = p.to_ms - p.from_ms;
  return (
    <section class="card timeline" data-test="timeline">
      <header>
        <h3>Breaker</h3>
        <p class="hint">{now(p.dep)}</p>
      </header>
      <svg viewBox="0 0 1000 30" preserveAspectRatio="none" role="img" aria-label={`breaker: ${stateWord[p.dep.breaker.state]}`}>
        <rect class="none" x="0" y="4" width="1000" height="22" rx="3" />
        {stretches(p).map((s, i) => (
          <rect key={i} class={s.state} x={s.from * 1000} y="4" width={Math.max(1.5, (s.to - s.from) * 1000)} height="22" />
        ))}
        {turns.map((t) => (
          <line key={t.at_ms} class="turn" x1={((t.at_ms - p.from_ms) / span) * 1000} x2={((t.at_ms - p.from_ms) / span) * 1000} y1="0" y2="30" />
        ))}
      </svg>
      <ol class="turns">
        {turns.slice(0, 6).map((t) => (
          <li key={`${t.at_ms}${t.to}`}>
            <i class={`dot ${t.to}`} /> <time>{clock(t.at_ms)}</time> {stateWord[t.from]} → <b>{stateWord[t.to]}</b>
          </li>
        ))}
        {turns.length === 0 && <li class="quiet">no transition in this time; {p.dep.breaker.opened === 0 ? 'it never opened' : `it opened ${p.dep.breaker.opened === 1 ? 'once' : `${p.dep.breaker.opened} times`} since the start`}</li>}
      </ol>
    </section>
  );
}
