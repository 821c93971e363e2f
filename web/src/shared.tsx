// What is remembered outside of the process: a fleet's budget and breaker, and the
// records of Idempotency-Keys.
import type { ComponentChildren } from 'preact';
import { brief, bytes, count, percent, span } from './format';
import type { Dep, State } from './types';

type Fact = [string, ComponentChildren, string?, string?]; // label, value, class, data-test

function Facts({ list }: { list: Fact[] }) {
  return (
    <dl class="few">
      {list.map(([label, value, mood, test]) => (
        <div key={label}><dt>{label}</dt><dd class={mood ?? ''} data-test={test}>{value}</dd></div>
      ))}
    </dl>
  );
}

export function Fleet({ dep }: { dep: Dep }) {
  const f = dep.fleet;
  if (!f) return null;
  return (
    <section class="card fleet" data-test="fleet">
      <header>
        <h3>Fleet</h3>
        <p class="hint">one budget and one breaker for all instances; without Redis, each has its own part</p>
      </header>
      <Facts list={[
        ['state', f.joined ? 'joined' : 'alone', f.joined ? '' : 'warn', 'fleet-state'],
        ['instances', count(f.instances), '', 'fleet-instances'],
        ['retries used of all', `${count(f.used)} of ${count(f.allowed)}`, f.used >= f.allowed ? 'warn' : '', 'fleet-used'],
        ['leased to this one', count(f.leased), '', 'fleet-leased'],
        ['see it fail', `${count(f.failing)} of ${count(f.with_traffic)}`, f.failing ? 'warn' : '', 'fleet-failing'],
        ['opened by the fleet', count(f.trips)],
      ]} />
    </section>
  );
}

/** Refusals, by what the client was told. */
const conflicts: [string, string][] = [
  ['in_progress', 'in progress'], ['mismatch', 'of another request'], ['unknown', 'of unknown outcome'],
  ['too_large', 'of too large an answer'], ['missing', 'missing'], ['invalid', 'invalid'],
];

/** What the tiles cannot show: calls that are refused here never reach a dependency. */
export function StoreDown({ state }: { state: State }) {
  const value = (name: string) => state.values.find((v) => v.name === name)?.value;
  if (value('bide_store_up') !== 0) return null;
  const turned = value('bide_proxy_idempotency_down_total') ?? 0, passed = value('bide_proxy_idempotency_passed_total') ?? 0;
  return (
    <p class="alert" role="alert" data-test="store-down">
      The store of idempotency keys is down. {count(turned)} requests with a key were refused{passed ? `, ${count(passed)} let through` : ''}. The log says why.
    </p>
  );
}

export function Keys({ state }: { state: State }) {
  const value = (name: string) => state.values.find((v) => v.name === name)?.value ?? 0;
  const keys = (name: string) => value(`bide_proxy_idempotency_${name}_total`);
  if (!state.values.some((v) => v.name === 'bide_store_up')) return null;
  const up = value('bide_store_up') === 1;
  const used = value('bide_store_bytes'), limit = value('bide_store_limit_bytes');
  const turned = keys('down') + keys('full'), passed = keys('passed');
  return (
    <section class="card keys-kept" data-test="store">
      <header>
        <h3>Idempotency keys</h3>
        <p class="hint">of all routes; counts are since the start</p>
      </header>
      <Facts list={[
        ['store', up ? 'up' : 'down', up ? '' : 'bad', 'store-state'],
        ['records', count(value('bide_store_records')), '', 'store-records'],
        ['room', `${bytes(used)} (${percent(used / limit)})`, used > 0.9 * limit ? 'warn' : '', 'store-room'],
        ['oldest', span(value('bide_store_oldest_seconds')), '', 'store-oldest'],
        ['first uses', brief(keys('claims')), '', 'store-claims'],
        ['replayed', brief(keys('replays')), '', 'store-replays'],
        ['store down or full', brief(turned), turned ? 'bad' : ''],
        ...(passed ? [['let through', brief(passed), 'bad'] as Fact] : []),
      ]} />
      <p class="hint">requests that were refused, because the key was</p>
      <Facts list={conflicts.map(([name, label]) => [label, brief(keys(name)), '', `store-${name}`])} />
    </section>
  );
}
