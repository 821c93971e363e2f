// The numbers to look at first.
import type { ComponentChildren } from 'preact';
import type { Totals } from './data';
import { brief, count, ms, percent } from './format';
import { forcedWord, stateWord } from './timeline';
import type { Dep } from './types';

export type Tone = 'good' | 'warn' | 'bad' | 'calm';

export function Tile(p: { name: string; value: string; mood: Tone; note: ComponentChildren; test: string; children?: ComponentChildren }) {
  return (
    <section class={`card tile ${p.mood}`} data-test={p.test}>
      <h3>{p.name}</h3>
      <p class="value">{p.value}</p>
      {p.children}
      <p class="note">{p.note}</p>
    </section>
  );
}

const shareMood = (share: number, warn: number, bad: number): Tone =>
  !Number.isFinite(share) ? 'calm' : share < bad ? 'bad' : share < warn ? 'warn' : 'good';

function Total({ name, n }: { name: string; n: number }) {
  return <span><b data-total={name}>{count(n)}</b> since the start</span>;
}

function Success({ dep, t }: { dep: Dep; t: Totals }) {
  const after = (t.first + t.late) / t.judged, first = t.first / t.judged;
  return (
    <>
      <Tile name="Success in the end" test="after" value={percent(after)} mood={shareMood(after, 0.999, 0.99)}
        note={<span><b data-total="late_success">{count(dep.calls.late_success)}</b> saved by retries</span>}>
        <p class="sub">what callers see</p>
      </Tile>
      <Tile name="Success at first" test="first" value={percent(first)} mood={shareMood(first, 0.99, 0.95)}
        note={<Total name="first_success" n={dep.calls.first_success} />}>
        <p class="sub">without retries</p>
      </Tile>
    </>
  );
}

function Budget({ dep, most }: { dep: Dep; most: number }) {
  const { left, kind, usual } = dep.budget;
  if (left === null) {
    return <Tile name="Retry budget" test="budget" value="none" mood="calm" note="retries are not limited" />;
  }
  const full = Math.max(usual ?? 0, most, 1);
  const share = Math.min(1, Math.max(0, left / full));
  const mood: Tone = left < 1 ? 'bad' : share < 0.3 ? 'warn' : 'good';
  return (
    <Tile name="Retry budget" test="budget" value={brief(left)} mood={mood}
      note={<span><b>{count(dep.refused.budget ?? 0)}</b> refused for it · {kind}</span>}>
      <svg class="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={`${Math.round(share * 100)} % of the budget is left`}>
        <rect class="track" width="100" height="8" rx="4" />
        <rect class="fill" width={Math.max(share * 100, left > 0 ? 3 : 0)} height="8" rx="4" />
      </svg>
    </Tile>
  );
}

/** What an operator may do: force the breaker, let it probe, turn retries off. */
export type Act = (what: 'force' | 'probe' | 'retries') => void;

function BreakerTile({ dep, onAct }: { dep: Dep; onAct: Act | null }) {
  const b = dep.breaker;
  if (!b.on) return <Tile name="Breaker" test="breaker" value="off" mood="calm" note="the policy has none" />;
  const mood: Tone = b.state === 'closed' ? 'good' : b.state === 'open' ? 'bad' : 'warn';
  return (
    <Tile name="Breaker" test="breaker" value={stateWord[b.state]} mood={mood}
      note={<span><b data-total="opened">{count(b.opened)}</b> {b.opened === 1 ? 'opening' : 'openings'} since the start</span>}>
      <p class="sub">
        {forcedWord[b.mode] ?? (b.state === 'open' ? `probes in ${ms(b.open_for_ms)}` : b.state === 'half_open' ? `${b.attempts} probes back` : `${b.failed} of ${b.attempts} failed`)}
      </p>
      {onAct && (
        <p class="acts">
          <button class="link" onClick={() => onAct('force')} data-test="force">force</button>
          {b.state === 'open' && b.mode !== 'forced_open' && <button class="link" onClick={() => onAct('probe')} data-test="probe">probe now</button>}
        </p>
      )}
    </Tile>
  );
}

export function Tiles(p: { dep: Dep; t: Totals; most: number; onAct: Act | null }) {
  const { dep, t } = p;
  const ratio = t.calls ? t.attempts / t.calls : 0;
  const failed = t.seconds ? t.failed / t.seconds : 0;
  return (
    <div class="tiles">
      <Success dep={dep} t={t} />
      <Tile name="Final failures" test="failures" value={`${brief(failed)}/s`} mood={t.failed === 0 ? 'good' : t.failed / t.judged > 0.01 ? 'bad' : 'warn'}
        note={<span><b data-total="failure">{count(dep.calls.failure)}</b> given up so far</span>}>
        <p class="sub">of {brief(t.seconds ? t.calls / t.seconds : 0)} calls/s</p>
      </Tile>
      <Tile name="Amplification" test="amplification" value={t.calls ? `${ratio.toFixed(2)}×` : '–'} mood={ratio > 1.5 ? 'bad' : ratio > 1.1 ? 'warn' : 'good'}
        note={<span><b data-total="amplification">{dep.amplification.toFixed(2)}×</b> since the start</span>}>
        <p class="sub">{dep.retries_on === false ? 'retries are off' : 'attempts per call'}</p>
        {p.onAct && dep.retries_on !== undefined && (
          <p class="acts"><button class="link" onClick={() => p.onAct!('retries')} data-test="retries">{dep.retries_on ? 'retries off' : 'retries on'}</button></p>
        )}
      </Tile>
      <Budget dep={dep} most={p.most} />
      <BreakerTile dep={dep} onAct={p.onAct} />
    </div>
  );
}
