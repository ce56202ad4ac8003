/** `bun run bench [name…] [--quick] [--json] [--minutes N] [--check | --record]`: see README.md beside this file. */
import { parseArgs } from 'node:util'
import { authorize } from './authorize.ts'
import { backup } from './backup.ts'
import { boot } from './boot.ts'
import { commands } from './commands.ts'
import { create } from './create.ts'
import { deliver } from './deliver.ts'
import { fire } from './fire.ts'
import { idle } from './idle.ts'
import { ingest } from './ingest.ts'
import { introspect } from './introspect.ts'
import { latency } from './latency.ts'
import { list } from './list.ts'
import { pages } from './pages.ts'
import { pings } from './pings.ts'
import { poll } from './poll.ts'
import { processes } from './processes.ts'
import { replication } from './replication.ts'
import { rest } from './rest.ts'
import { scrape } from './scrape.ts'
import { signIn } from './sign-in.ts'
import { starvation } from './starvation.ts'
import type { Bench, Scale } from './support/bench.ts'
import type { Figure } from './support/figure.ts'
import { readRecord, record, regressionsIn } from './support/record.ts'
import { table } from './support/table.ts'
import { whoami } from './whoami.ts'

const BENCHES: Record<string, Bench> = {
  list,
  create,
  fire,
  pings,
  idle,
  rest,
  ingest,
  replication,
  latency,
  deliver,
  starvation,
  introspect,
  whoami,
  authorize,
  'sign-in': signIn,
  poll,
  pages,
  processes,
  scrape,
  backup,
  boot,
  commands,
}

const FULL = { rounds: 5, ms: 1000, crowd: 200_000, due: 5000, stored: 1_000_000, minutes: 1 }
const QUICK = { rounds: 3, ms: 250, crowd: 50_000, due: 1000, stored: 100_000, minutes: 0.5 }

const INTERRUPTED = new Error('interrupted')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean' },
    json: { type: 'boolean' },
    minutes: { type: 'string' },
    check: { type: 'boolean' },
    record: { type: 'boolean' },
  },
})
/** Recorded ratios are those of quick runs. */
const isQuick = values.quick || values.check || values.record
const names = positionals.length > 0 ? positionals : Object.keys(BENCHES)
const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
if (minutes !== undefined && !(minutes > 0)) {
  console.error(`--minutes takes how long to rest, not ${values.minutes}`)
  process.exit(2)
}
const unknown = names.find((name) => !BENCHES[name])
if (unknown) {
  console.error(`no benchmark ${unknown}; there are ${Object.keys(BENCHES).join(', ')}`)
  process.exit(2)
}

const notes: string[] = []
const report: Record<string, Figure[]> = {}
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => reject(INTERRUPTED))
})

try {
  for (const name of names) report[name] = await measure(name)
} catch (error) {
  if (error !== INTERRUPTED) throw error
  process.exit(130)
}
if (values.json) console.log(JSON.stringify({ quick: isQuick ?? false, report, notes }))
else console.log(notes.join('\n'))
if (values.record) await record(report)
if (values.check) {
  const regressions = regressionsIn(report, await readRecord())
  for (const each of regressions) console.error(each)
  process.exitCode = regressions.length > 0 ? 1 : 0
}

/** Each on a stack of its own: its servers and folders are gone before the next begins. */
async function measure(name: string): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack()
  const usual = isQuick ? QUICK : FULL
  const scale: Omit<Scale, 'stack'> = { ...usual, minutes: minutes ?? usual.minutes, note }
  const bench = BENCHES[name] as Bench
  const figures = await Promise.race([bench({ ...scale, stack }), interrupted])
  if (!values.json) console.log(`${name}\n${table(figures)}\n`)
  return figures
}

function note(text: string) {
  notes.push(text)
}
