// A queue and its worker: what waits, for how long, and whether it flows. The numbers
// are those of the metrics; a program without a queue has none of them.
import { useRef } from 'preact/hooks';
import { Chart } from './chart';
import { brief, count, ms, span } from './format';
import type { Theme } from './theme';
import { Tile, type Tone } from './tiles';
import type { State } from './types';

export const hasQueue = (state: State): boolean => state.values.some((v) => v.name === 'bide_queue_messages');

const OLD_S = 600; // as the alert has it
const KEEP_S = 900;

function reader(state: State) {
  const all = (name: string) => state.values.filter((v) => v.name === name);
  const get = (name: string, label?: string) => all(name).find((v) => label === undefined || v.label_value === label)?.value ?? 0;
  return { all, get, messages: (what: string) => get('bide_queue_messages', what) };
}

/** Messages done a second, over the last ten. */
function useRate(state: State, done: number): number {
  const seen = useRef<[number, number][]>([]);
  const list = seen.current, last = list[list.length - 1];
  if (!last || state.now_ms > last[0]) list.push([state.now_ms, done]);
  while (list.length > 2 && list[0]![0] < state.now_ms - 10000) list.shift();
  const first = list[0]!;
  return state.now_ms > first[0] ? Math.max(0, (done - first[1]) * 1000 / (state.now_ms - first[0])) : 0;
}

/** How many there are, over time: since the page was opened. */
export function Depth({ state, from, to, theme }: { state: State; from: number; to: number; theme: Theme }) {
  const seen = useRef<{ at: number; due: number; later: number }[]>([]);
  const { messages } = reader(state);
  const list = seen.current, at = state.now_ms / 1000;
  if (!list.length || at > list[list.length - 1]!.at) list.push({ at, due: messages('waiting') + messages('held'), later: messages('later') });
  while (list[0]!.at < at - KEEP_S) list.shift();
  const shown = list.filter((p) => p.at >= from && p.at <= to);
  return (
    <Chart title="Messages" hint="in the queue, since this page was opened" times={shown.map((p) => p.at)} from={from} to={to} theme={theme}
      stacked format={(v) => brief(v)} empty="none" series={[
        { label: 'due', colour: '--backoff', values: shown.map((p) => p.due) },
        { label: 'later', colour: '--quiet', values: shown.map((p) => p.later) },
      ]} />
  );
}

export function Queue({ state }: { state: State }) {
  const { all, get, messages } = reader(state);
  const done = get('bide_worker_done_total');
  const rate = useRate(state, done);
  const waiting = messages('waiting'), held = messages('held'), later = messages('later');
  const oldest = get('bide_queue_oldest_seconds');
  const paused = all('bide_worker_paused')[0];
  const away = all('bide_worker_broker_up')[0]?.value === 0;
  const dead = all('bide_worker_dead_total').filter((v) => v.value > 0);
  const died = dead.reduce((n, v) => n + v.value, 0);
  const age: Tone = oldest > OLD_S ? 'bad' : oldest > OLD_S / 10 ? 'warn' : 'good';
  const counters: [string, string][] = [
    ['retries', 'bide_worker_retries_total'], ['given back', 'bide_worker_given_back_total'],
    ['redeliveries', 'bide_worker_redeliveries_total'], ['lost leases', 'bide_worker_lost_leases_total'],
    ['rescued', 'bide_worker_rescued_total'],
  ];
  return (
    <section class="queue" data-test="queue" aria-label="queue">
      <div class="tiles">
        <Tile name="Waiting" test="waiting" value={brief(waiting + held)} mood={waiting + held ? age : 'good'}
          note={<span><b>{count(later)}</b> later</span>}>
          <p class="sub">{held ? `${brief(held)} behind their key` : 'due now'}</p>
        </Tile>
        <Tile name="Oldest" test="oldest" value={oldest ? ms(Math.round(oldest * 1000)) : '–'} mood={oldest ? age : 'good'}
          note="of those that could run">
          <p class="sub">has waited</p>
        </Tile>
        <Tile name="Consumption" test="paused" value={away ? 'no broker' : paused?.value ? 'paused' : state.draining ? 'draining' : 'flowing'}
          mood={away || paused?.value ? 'bad' : 'good'}
          note={away ? 'these numbers are old' : paused?.value ? `for ${span(get('bide_worker_paused_seconds'))}` : 'the handler answers'}>
          <p class="sub">{away ? 'it does not answer' : paused?.value ? (paused.label_value ?? '').replace(/_/g, ' ') : 'takes messages'}</p>
        </Tile>
        <Tile name="Running" test="running" value={brief(get('bide_worker_running'))} mood="calm"
          note={<span><b>{count(messages('running'))}</b> with all workers</span>}>
          <p class="sub">here</p>
        </Tile>
        <Tile name="Done" test="done" value={`${brief(Math.round(rate * 10) / 10)}/s`} mood="calm"
          note={<span><b>{count(done)}</b> since the start</span>}>
          <p class="sub">over ten seconds</p>
        </Tile>
        <Tile name="Dead" test="dead" value={brief(messages('dead'))} mood={messages('dead') ? 'bad' : 'good'}
          note={died ? dead.map((v) => `${count(v.value)} ${(v.label_value ?? '').replace(/_/g, ' ')}`).join(', ') : 'none here'}>
          <p class="sub">in the queue</p>
        </Tile>
      </div>
      <p class="quiet counters">
        {counters.map(([word, name]) => <span key={name} data-counter={name}><b>{count(get(name))}</b> {word}</span>)}
      </p>
    </section>
  );
}
