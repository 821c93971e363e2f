// Tables: why calls were given up, endpoints, decisions, the rules of the policy.
import { brief, clock, count, ms, percent } from './format';
import type { Totals } from './data';
import type { Decision, Dep, State } from './types';
import { decided, outcome, short } from './words';

export function GivenUp({ dep, t }: { dep: Dep; t: Totals }) {
  const all = Object.keys({ ...dep.refused, ...t.refused }).filter((r) => r); // '' is one that is not known
  const rows = all
    .map((reason) => ({ reason, now: t.refused[reason] ?? 0, ever: dep.refused[reason] ?? 0 }))
    .sort((a, b) => b.now - a.now || b.ever - a.ever);
  const most = Math.max(1, ...rows.map((r) => r.now));
  return (
    <section class="card givenup">
      <header>
        <h3>Why calls were given up</h3>
        <p class="hint">the reason why there was no further attempt</p>
      </header>
      {rows.length === 0 && <p class="empty flat">none was</p>}
      {rows.length > 0 && <table>
        <thead><tr><th scope="col">reason</th><th scope="col" class="meter" /><th scope="col" class="n">in this time</th><th scope="col" class="n">since the start</th></tr></thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.reason}>
              <th scope="row"><code>{r.reason}</code><span>{short(r.reason)}</span></th>
              <td class="meter">
                <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(r.now / most) * 100} height="6" rx="2" />
                </svg>
              </td>
              <td class="n">{brief(r.now)}</td>
              <td class="n ever" data-refused={r.reason}>{count(r.ever)}</td>
            </tr>
          ))}
        </tbody>
      </table>}
    </section>
  );
}

export function Hedges({ dep, t }: { dep: Dep; t: Totals }) {
  const h = dep.hedges;
  if (!h.on) return null;
  const won = h.sent ? h.won / h.sent : 0;
  return (
    <section class="card hedges">
      <header>
        <h3>Hedges</h3>
        <p class="hint">a second attempt beside a slow one; the first good answer wins</p>
      </header>
      <dl>
        <div><dt>sent</dt><dd data-total="hedges_sent">{count(h.sent)}</dd></div>
        <div><dt>won</dt><dd data-total="hedges_won">{count(h.won)}</dd></div>
        <div><dt>refused</dt><dd>{count(h.refused)}</dd></div>
        <div><dt>win rate</dt><dd>{h.sent ? `${Math.round(won * 100)} %` : '–'}</dd></div>
        <div><dt>extra load now</dt><dd>{t.calls ? `${((t.hedges / t.calls) * 100).toFixed(1)} %` : '–'}</dd></div>
      </dl>
    </section>
  );
}

export function Endpoints({ dep }: { dep: Dep }) {
  if (dep.endpoints.length === 0) return null;
  return (
    <section class="card endpoints">
      <header>
        <h3>Endpoints</h3>
        <p class="hint">{dep.endpoints.filter((e) => e.state === 'up' || e.state === 'warming').length} of {dep.endpoints.length} take requests</p>
      </header>
      <table>
        <thead>
          <tr><th scope="col">address</th><th scope="col">state</th><th scope="col">in flight</th><th scope="col">connections</th><th scope="col">retries</th><th scope="col">failed</th></tr>
        </thead>
        <tbody>
          {dep.endpoints.map((e) => (
            <tr key={e.address} title={e.text}>
              <td><code>{e.address}</code></td>
              <td><i class={`dot ${e.state}`} /> {e.state}</td>
              <td class="n">{count(e.in_flight)}{e.http2 && e.in_flight ? <span class="quiet"> {e.in_flight === 1 ? 'stream' : 'streams'}</span> : ''}</td>
              <td class="n">{count(e.connections)}{e.http2 ? <span class="quiet"> {e.http2 < e.connections ? `${count(e.http2)} ` : ''}HTTP/2</span> : ''}{e.idle ? <span class="quiet"> {count(e.idle)} idle</span> : ''}</td>
              <td class="n">{e.requests ? percent(e.retries / e.requests) : '–'}</td>
              <td class="n">{count(e.failures)}<span class="quiet"> of {brief(e.requests)}</span></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Routes({ dep }: { dep: Dep }) {
  if (dep.routes.length === 0) return null;
  return (
    <section class="card routes">
      <header>
        <h3>Routes</h3>
        <p class="hint">how requests come in, and how many are retried; since the start</p>
      </header>
      <table>
        <thead><tr><th scope="col">route</th><th scope="col" class="n">requests</th><th scope="col" class="n">retries</th><th scope="col" class="n">per request</th></tr></thead>
        <tbody>
          {[...dep.routes].sort((a, b) => b.retries - a.retries).map((r) => (
            <tr key={r.name}>
              <td><code>{r.name}</code></td>
              <td class="n">{count(r.requests)}</td>
              <td class="n">{count(r.retries)}</td>
              <td class="n">{r.requests ? percent(r.retries / r.requests) : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Decisions(p: { list: Decision[]; onOpen: (d: Decision) => void; all: boolean; onAll: () => void }) {
  return (
    <section class="card decisions">
      <header>
        <h3>Last decisions</h3>
        <p class="hint">after a failed attempt, or before one that was not made; click one to have it explained</p>
        <button class="link" onClick={p.onAll} aria-pressed={p.all}>{p.all ? 'only this dependency' : 'of all dependencies'}</button>
      </header>
      {p.list.length === 0 && <p class="empty flat">nothing has failed</p>}
      {p.list.length > 0 && <p class="decisionhead" aria-hidden="true"><span>time</span><span>request</span><span>attempt</span><span>outcome</span><span>decision</span></p>}
      <ol>
        {p.list.map((d) => (
          <li key={d.id}>
            <button class={`decision ${d.action}`} onClick={() => p.onOpen(d)} data-decision={d.id}>
              <time>{clock(d.at_ms)}</time>
              <span class="op">{p.all && <b>{d.dep} </b>}{d.times > 1 ? `${count(d.times)} calls in a row` : d.operation || d.dep}</span>
              <span class="try">{d.attempt ? d.attempt : ''}{d.attempt && d.attempts > 1 ? `/${d.attempts}` : ''}</span>
              <span class="outcome">{d.attempt ? outcome(d) : 'not sent'}</span>
              <span class="what"><b>{decided(d)}</b> <span class="quiet">{d.action === 'done' ? short(d.reason) : d.reason === 'hint' ? `the server asked for ${ms(d.hint_ms ?? 0)}` : short(d.reason)}</span></span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function Rules({ dep }: { dep: Dep }) {
  return (
    <details class="card rules">
      <summary><h3>Policy{dep.policy && <> <code>{dep.policy}</code></>}</h3></summary>
      <table>
        <thead><tr><th scope="col">setting</th><th scope="col">value</th><th scope="col">what it is</th></tr></thead>
        <tbody>
          {dep.rules.map(([key, value, help]) => (
            <tr key={key}><th scope="row"><code>{key}</code></th><td><b>{value}</b></td><td class="quiet">{help}</td></tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

export function Program({ state }: { state: State }) {
  if (state.values.length === 0) return null;
  return (
    <details class="card rules">
      <summary><h3>{state.program}</h3></summary>
      <table>
        <thead><tr><th scope="col">metric</th><th scope="col">value</th><th scope="col">what it is</th></tr></thead>
        <tbody>
          {state.values.map((v) => (
            <tr key={v.name + (v.label_value ?? '')}>
              <th scope="row"><code>{v.name}{v.label ? `{${v.label}="${v.label_value}"}` : ''}</code></th>
              <td><b>{brief(v.value)}</b></td>
              <td class="quiet">{v.help}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
