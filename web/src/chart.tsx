// A chart over time: lines, or areas on top of each other. uPlot draws; the legend
// is ours, and shows the values under the cursor, or the newest.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { clock } from './format';
import { colour, type Theme } from './theme';
import { useWidth } from './width';

export interface Series {
  label: string;
  colour: string; // a variable of the style sheet
  values: (number | null)[];
  dash?: boolean;
}

interface Props {
  title: string;
  hint: string;
  times: number[]; // seconds since 1970
  series: Series[];
  from: number;
  to: number;
  stacked?: boolean;
  theme: Theme;
  format: (v: number) => string;
  empty?: string;
  floor?: number; // the scale reaches at least so far
}

const HEIGHT = 168;

/** Sums up to and including each series. */
function pile(series: Series[]): (number | null)[][] {
  let below: number[] | null = null;
  return series.map((s) => {
    const top = s.values.map((v, i) => (v ?? 0) + (below ? below[i]! : 0));
    below = top;
    return top;
  });
}

/** "08:23:05", or without seconds where ticks are minutes apart. */
function when(splits: number[]): string[] {
  const minutes = splits.length > 1 && splits[1]! - splits[0]! >= 60;
  return splits.map((t) => new Date(t * 1000).toLocaleTimeString('en-GB').slice(0, minutes ? 5 : 8));
}

function fade(hex: string, alpha: number): string {
  const n = parseInt(hex.slice(1), 16);
  return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${alpha})`;
}

function options(p: Props, width: number, onIndex: (i: number | null) => void): uPlot.Options {
  const grid = { stroke: colour('--grid'), width: 1 };
  const ticks = { show: false };
  const font = '11px system-ui, sans-serif';
  const axis = { stroke: colour('--dim'), grid, ticks, font };
  return {
    width,
    height: HEIGHT,
    padding: [10, 10, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: 'bide' }, points: { size: 6 }, y: false, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, Math.max(max > 0 ? max * 1.08 : 1, p.floor ?? 0)] } },
    axes: [
      { ...axis, size: 24, gap: 4, space: 76, incrs: [5, 10, 15, 30, 60, 120, 300], grid: { show: false }, values: (_u, splits) => when(splits) },
      {
        ...axis, size: 50, gap: 6, space: 28,
        values: (_u, splits) => splits.map((v) => p.format(v)),
      },
    ],
    bands: p.stacked
      ? p.series.slice(1).map((s, i) => ({
          series: [i + 2, i + 1] as [number, number], fill: fade(colour(s.colour), 0.72),
        }))
      : [],
    series: [
      {},
      ...p.series.map((s, i) => ({
        label: s.label,
        // areas have no outline: one of nothing would still be drawn
        stroke: p.stacked ? 'transparent' : colour(s.colour),
        width: 1.5,
        dash: s.dash ? [5, 4] : [],
        fill: p.stacked && i === 0 ? fade(colour(s.colour), 0.72) : undefined,
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: { setCursor: [(u) => onIndex(u.cursor.idx ?? null)] },
  };
}

export function Chart(p: Props) {
  const [box, width] = useWidth();
  const plot = useRef<uPlot | null>(null);
  const [index, setIndex] = useState<number | null>(null);
  const shape = p.series.map((s) => s.label).join() + p.theme + String(p.stacked);

  useEffect(() => {
    if (!width) return;
    plot.current = new uPlot(options(p, width, setIndex), [[], ...p.series.map(() => [])] as uPlot.AlignedData, box.current!);
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape, width]);

  useEffect(() => {
    const u = plot.current;
    if (!u) return;
    const values = p.stacked ? pile(p.series) : p.series.map((s) => s.values);
    u.setData([p.times, ...values] as uPlot.AlignedData, false);
    u.setScale('x', { min: p.from, max: p.to });
  });

  const at = index !== null && index < p.times.length ? index : p.times.length - 1;
  const has = p.series.some((s) => s.values.some((v) => v !== null && v !== 0));
  return (
    <section class="card chart">
      <header>
        <h3>{p.title}</h3>
        <p class="hint">{p.hint}</p>
      </header>
      <ul class="legend">
        {p.series.map((s) => {
          const v = at >= 0 ? s.values[at] : null;
          return (
            <li key={s.label}>
              <i class={s.dash ? 'key dash' : 'key'} data-colour={s.colour.slice(2)} />
              {s.label} <b>{v === null || v === undefined ? '–' : p.format(v)}</b>
            </li>
          );
        })}
        {index !== null && at >= 0 && at === index && <li class="when"><time>{clock(p.times[at]! * 1000)}</time></li>}
      </ul>
      <div class="plot" ref={box} role="img" aria-label={p.title}>
        {!has && <p class="empty">{p.empty ?? 'nothing in this time'}</p>}
      </div>
    </section>
  );
}
