// Series as plots ask for them: recorded columns, and the force of a contact from its impulse.
import type { Run } from "./run";
import type { Series, SeriesQuery } from "./source";

export async function readSeries(run: Run, query: SeriesQuery, points: number): Promise<Series> {
  const { source, index } = run;
  if (query.table !== "contacts" || query.column !== "force") return source.series(index, query, points);
  const { dt } = run.info.header;
  const part = (component: number): Promise<Series> =>
    source.series(index, { ...query, column: "impulse", component }, points);
  if (query.component < 3) {
    const one = await part(query.component);
    return { ...one, y: one.y.map((p) => p / dt) };
  }
  const [x, y, z] = await Promise.all([part(0), part(1), part(2)]);
  return { ...x, y: x.y.map((p, i) => Math.hypot(p, y.y[i]!, z.y[i]!) / dt) };
}
