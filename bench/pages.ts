import type { Database } from 'bun:sqlite'
import { createAddresses } from '../src/console/addresses.ts'
import { PAGES } from '../src/console/pages/index.ts'
import type { Bench } from './support/bench.ts'
import { consoleFiller } from './support/console/fill.ts'
import {
  type ConsoleInstallation,
  openConsoleInstallation,
} from './support/console/installation.ts'
import { detailViews, listViews, type Place } from './support/console/views.ts'
import { compare, type Figure } from './support/figure.ts'
import { alternate, type Sample } from './support/rounds.ts'

/** Of what others store: a hundred thousand rows behind each list. */
const STORED_SHARE = 0.1
/** Of a second: there are many pages. */
const TURN_SHARE = 0.1
const MIN_REQUESTS = 5
/** Turns for one that takes seconds: it is known to be slow by then. */
const MAX_TURN_MS = 10
const TARGET_MS = 20

interface View {
  name: string
  path: string
  /** The bare query: the floor. */
  sql: string
  place?: Place
}

/**
 * Every page of the console, with as much stored behind it as it will ever list, beside the bare
 * query of the rows that it shows. Pages are asked for in this process, without a socket: what is
 * measured is the time from the request to the last byte of the page.
 */
export const pages: Bench = async ({ stack, rounds, ms, stored }) => {
  const installation = await openConsoleInstallation(stack)
  const views = await storeBehind(installation, stored * STORED_SHARE)
  const figures: Figure[] = []
  for (const view of views)
    figures.push(...(await besideQuery(installation, view, { rounds, ms: ms * TURN_SHARE })))
  return figures
}

/** The way on from the first page when half was stored leads to the middle of all. */
async function storeBehind(installation: ConsoleInstallation, rows: number): Promise<View[]> {
  const fill = consoleFiller(installation, rows)
  const lists = listViews(installation)
  fill('older')
  const middles: (string | undefined)[] = []
  for (const view of lists) middles.push(nextIn(await open(installation, view)))
  fill('newer')
  return [
    ...lists.flatMap((list, index): View[] => {
      const { name, path, filter } = list
      const middle = middles[index]
      return [
        { ...list, name: `${name}, first page` },
        ...(middle ? [{ ...list, name: `${name}, in the middle`, path: middle }] : []),
        { ...list, name: `${name}, ${filter}`, path: `${path}?${filter}` },
      ]
    }),
    ...detailViews(installation).map(({ table, id, by = 'id', ...view }) => ({
      ...view,
      sql: `SELECT * FROM ${table} WHERE ${by} = '${id}'`,
    })),
  ]
}

/** Where the pager of a page leads on. */
const nextIn = (html: string): string | undefined =>
  /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')

const { addressAt } = createAddresses(PAGES)

async function open(
  { engine, operator, tenants: [tenantId] }: ConsoleInstallation,
  { path, place = 'tenant' }: Pick<View, 'path' | 'place'>,
): Promise<string> {
  const headers = { cookie: operator[place].cookie, accept: 'text/html' }
  const isShort = place === 'tenant' && !path.startsWith(`/console/${tenantId}`)
  const address = isShort
    ? addressAt({ area: 'tenant', tenantId, environment: 'live' }, path.replace('/console', ''))
    : path
  const answer = await engine.app.fetch(new Request(`http://localhost${address}`, { headers }))
  const html = await answer.text()
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
  return html
}

async function besideQuery(
  installation: ConsoleInstallation,
  view: View,
  { rounds, ms }: { rounds: number; ms: number },
): Promise<Figure[]> {
  const samples = await alternate(rounds, {
    subject: () => timed(ms, () => open(installation, view)),
    floor: () => timed(ms / 5, reader(installation.engine.db.client, view.sql)),
  })
  const whole = compare(view.name, 'ms', samples, `under ${TARGET_MS}`)
  const isOver = whole.subject.median > TARGET_MS
  return [
    isOver ? { ...whole, target: `under ${TARGET_MS}, IS OVER` } : whole,
    compare(view.name, 'p95 ms', samples),
    compare(view.name, 'CPU ms', samples),
  ]
}

function reader(client: Database, sql: string): () => unknown[] {
  const statement = client.prepare(sql)
  return () => statement.all()
}

/** Does it again and again for so long. */
async function timed(ms: number, work: () => unknown): Promise<Sample> {
  const taken: number[] = []
  const cpu = process.cpuUsage()
  const start = performance.now()
  let now = start
  const isOver = () =>
    now - start > ms * MAX_TURN_MS || (now - start > ms && taken.length >= MIN_REQUESTS)
  do {
    const begun = now
    await work()
    now = performance.now()
    taken.push(now - begun)
  } while (!isOver())
  const { user, system } = process.cpuUsage(cpu)
  const sorted = taken.toSorted((one, other) => one - other)
  const share = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN
  return { ms: share(0.5), 'p95 ms': share(0.95), 'CPU ms': (user + system) / 1000 / taken.length }
}
