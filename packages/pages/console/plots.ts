import type UPlot from 'uplot';
import { setText } from './elements.ts';
import { formatClock, formatNumber } from './format.ts';
import { type History, type Measure, type Series, shownSeconds } from './history.ts';
import { phone } from './phone.ts';

/** The page includes the script of uPlot. */
declare const uPlot: typeof UPlot;

const height = 180;

/** The colours of the series differ in lightness, too. */
const themes = {
  light: {
    text: '#3d4450',
    grid: '#dfe3ea',
    series: ['#4a3bc9', '#b3450b', '#0b7a53', '#a3195b', '#1763b5', '#6b5900'],
  },
  dark: {
    text: '#b9c0cc',
    grid: '#343b47',
    series: ['#a79bff', '#ff9d5c', '#4fd1a1', '#ff8ab8', '#79b8ff', '#e0c84a'],
  },
};

const dark = matchMedia('(prefers-color-scheme: dark)');

/** One measure over the last five minutes, with its latest value as text. */
class Plot {
  readonly #measure: Measure;
  readonly #latest = document.createElement('output');
  readonly #canvas = document.createElement('div');
  #plot: UPlot | undefined;
  /** What the plot was created for. */
  #look = '';

  constructor(figures: Element, title: string, measure: Measure) {
    this.#measure = measure;
    const figure = document.createElement('figure');
    const caption = document.createElement('figcaption');
    caption.append(`${title} `, this.#latest);
    this.#latest.ariaLive = 'off';
    this.#canvas.role = 'img';
    this.#canvas.ariaLabel = `${title}, last five minutes`;
    figure.append(caption, this.#canvas);
    figures.append(figure);
    new ResizeObserver(() => this.#plot?.setSize({ width: this.#canvas.clientWidth, height })).observe(this.#canvas);
  }

  show(history: History, isPerNode: boolean): void {
    setText(this.#latest, formatNumber(history.ofAll(this.#measure).values[0]?.at(-1) ?? 0));
    const series = isPerNode ? history.ofNodes(this.#measure) : history.ofAll(this.#measure);
    const look = JSON.stringify([dark.matches, series.names]);
    const data = [series.times, ...series.values] satisfies UPlot.AlignedData;
    if (this.#look === look) return this.#plot?.setData(data);
    this.#look = look;
    this.#plot?.destroy();
    this.#plot = new uPlot(optionsOf(series, this.#canvas.clientWidth), data, this.#canvas);
  }
}

function optionsOf({ names }: Series, width: number): UPlot.Options {
  const { text, grid, series: colours } = dark.matches ? themes.dark : themes.light;
  const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
  return {
    width,
    height,
    legend: { show: names.length > 1 },
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { range: (_plot, _from, to) => [to - shownSeconds, to] },
      y: { range: { min: { pad: 0, soft: 0, mode: 1 }, max: { pad: 0.1, soft: 1, mode: 1 } } },
    },
    axes: [
      { ...axis, values: (_plot, times) => times.map(formatTick) },
      { ...axis, size: 56 },
    ],
    series: [
      { value: (_plot: UPlot, time: number | null) => (time === null ? '–' : formatClock(time * 1_000)) },
      ...names.map((label, index) => ({
        label,
        stroke: colours[index % colours.length] ?? text,
        width: 1.5,
        points: { show: false },
        value: (_plot: UPlot, value: number | null) => (value === null ? '–' : formatNumber(value)),
      })),
    ],
  };
}

/** A phone has no space for the seconds, which are 0 at each tick. */
function formatTick(time: number): string {
  const clock = formatClock(time * 1_000);
  return phone.matches ? clock.slice(0, 5) : clock;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const highest = (values: readonly number[]) => Math.max(0, ...values);

/** Creates the plots of the page. `redraw` is called when the theme changes. */
export function createPlots(figures: Element, redraw: () => void): Plot[] {
  dark.addEventListener('change', redraw);
  return [
    new Plot(figures, 'Operations per second', { read: (node) => node.operationsPerSecond, combine: sum }),
    new Plot(figures, 'Deliveries per second', { read: (node) => node.deliveriesPerSecond, combine: sum }),
    new Plot(figures, 'Lag in ms, highest of all nodes', { read: (node) => node.lagMs, combine: highest }),
  ];
}
