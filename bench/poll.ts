import { MAX_WAIT_SECONDS } from '../src/engines/passepartout/limits.ts'
import type { Bench, Scale } from './support/bench.ts'
import { type Connection, connect } from './support/connection.ts'
import { withCpu } from './support/cpu.ts'
import { compare, type Figure } from './support/figure.ts'
import { serveInstallation } from './support/installation.ts'
import { load, repeater, requestText } from './support/load.ts'
import { createPassepartoutInstallation, OPEN, statusPath } from './support/passepartout.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { requireSame } from './support/same.ts'
import { type Server, startFloor } from './support/server.ts'

const CLIENTS = 64
const POLLS_PER_SECOND = 1000
/** A paced turn is so many times as long as others: the slowest hundredth should be some answers. */
const PACED_TURNS = 2
/** While they begin, they are not measured. */
const HOLDS_PER_SECOND = 2000
/** The number of warm-up requests per server: steady polls are too few to compile the code. */
const WARM_UP = 20_000
const TARGET = '>= 0.5'
const LATENCY_TARGET = 'subject < 5'

/** How attempts stand, asked again and again by the apps that started them. */
export const poll: Bench = async ({ stack, rounds, ms, stored, note }) => {
  const open = await startAsked(stack, OPEN, ms)
  const paced = await alternate(rounds, open.paced)
  const fast = await alternate(rounds, open.fast)
  const held = await besideHeld(stack, open, { rounds, ms })
  const many = await startAsked(stack, stored, ms)
  const among = await alternate(rounds, {
    many: many.fast.subject,
    few: open.fast.subject,
    floor: many.fast.floor,
  })
  const steady = `${counted(POLLS_PER_SECOND)}/s`
  const pacedOnes = [
    ...pacedFigures(steady, paced),
    ...pacedFigures(`${steady}, ${counted(OPEN)} held : none held`, held),
  ]
  for (const figure of pacedOnes)
    if (figure.unit === SLOWEST) note(`poll, ${figure.name}: ${inWords(figure)}`)
  return [
    ...pacedOnes,
    ...fastFigures(`${CLIENTS} clients`, fast, TARGET),
    ...amongMany(among, stored),
  ]
}

/** Uses a separate server, which ends with the requests, because creating many attempts requires that none is held. */
async function besideHeld(
  stack: AsyncDisposableStack,
  open: Asked,
  { rounds, ms }: Pick<Scale, 'rounds' | 'ms'>,
): Promise<Pair> {
  const inside = stack.use(new AsyncDisposableStack())
  const holding = await startAsked(inside, OPEN, ms)
  const { broken } = await hold(inside, holding)
  const samples = await Promise.race([
    alternate(rounds, { subject: holding.paced.subject, floor: open.paced.subject }),
    broken,
  ])
  await inside.disposeAsync()
  return samples
}

const SLOWEST = 'ms p99'
const counted = (count: number) => count.toLocaleString('en')

const inWords = ({ subject: { median, low, high } }: Figure) =>
  `p99 ${median.toFixed(2)} ms (${low.toFixed(2)} to ${high.toFixed(2)}), the goal is less than 5`

interface Pair {
  subject: Sample[]
  floor: Sample[]
}

const pacedFigures = (name: string, samples: Pair) => [
  compare(name, 'ms p50', samples),
  compare(name, SLOWEST, samples, LATENCY_TARGET),
  compare(name, 'CPU µs/req', samples),
]

const fastFigures = (name: string, samples: Pair, target?: string) => [
  compare(name, 'req/s', samples, target),
  compare(name, 'CPU µs/req', samples),
]

function amongMany(samples: Record<'many' | 'few' | 'floor', Sample[]>, stored: number) {
  const { many: subject, few, floor } = samples
  const name = `${CLIENTS} clients, ${counted(stored)}`
  return [
    ...fastFigures(`${name} : ${counted(OPEN)} stored`, { subject, floor: few }, '1'),
    ...fastFigures(`${name} stored, both`, { subject, floor }, TARGET),
  ]
}

type Asked = Awaited<ReturnType<typeof startAsked>>

/** The program and its floor, on the same rows in the same file. */
async function startAsked(stack: AsyncDisposableStack, stored: number, ms: number) {
  const { key, nonces, ...installation } = await createPassepartoutInstallation(stack, stored)
  const server = await serveInstallation(stack, installation)
  const bare = await startFloor(stack, 'poll', installation.dataDir)
  const headers = { authorization: `Bearer ${key}` }
  for (const nonce of nonces.slice(0, 10))
    await requireSame(server, bare, statusPath(nonce), { headers })
  const requests = nonces.map((nonce) => requestText(statusPath(nonce), key))
  for (const each of [server, bare]) await warmUp(each, requests)
  const fast = { subject: repeater(server, requests, ms), floor: repeater(bare, requests, ms) }
  return {
    server,
    key,
    nonces,
    paced: {
      subject: () => pace(server, requests, ms * PACED_TURNS),
      floor: () => pace(bare, requests, ms * PACED_TURNS),
    },
    fast: { subject: () => fast.subject(CLIENTS), floor: () => fast.floor(CLIENTS) },
  }
}

async function warmUp(server: Server, requests: string[]) {
  let sent = 0
  const request = () => (sent < WARM_UP ? requests[sent++ % requests.length] : undefined)
  await load(server, { clients: CLIENTS, request })
}

/**
 * Polls at a steady pace, each on a connection of its own until it is answered. A late one counts
 * from when it was meant to be sent.
 */
async function pace(server: Server, requests: string[], ms: number): Promise<Sample> {
  using stack = new DisposableStack()
  const open = async () => stack.use(await connect(server))
  const free = await Promise.all(Array.from({ length: CLIENTS }, open))

  async function timed(due: number, request: string): Promise<number> {
    const connection = free.shift() ?? (await open())
    await askGranted(connection, request)
    free.push(connection)
    return performance.now() - due
  }

  async function pollAll(): Promise<number[]> {
    const times: Promise<number>[] = []
    const start = performance.now()
    for (let n = 0; n < (POLLS_PER_SECOND * ms) / 1000; n++) {
      const due = start + (n / POLLS_PER_SECOND) * 1000
      while (performance.now() < due) await turn()
      const polled = timed(due, requests[n % requests.length] as string)
      // Reported below, once all requests are complete.
      polled.catch(() => {})
      times.push(polled)
    }
    return Promise.all(times)
  }

  const { result: times, cpu } = await withCpu(server.pid, pollAll)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { 'ms p50': at(0.5), [SLOWEST]: at(0.99), 'CPU µs/req': (cpu / times.length) * 1000 }
}

/** Time for answers to come in. To sleep instead would be too coarse, and would have to be woken. */
const turn = () => new Promise(setImmediate)

async function askGranted({ ask }: Connection, request: string): Promise<void> {
  const { status, body } = await ask(request)
  if (status !== 200) throw new Error(`answered ${status}: ${body}`)
}

/**
 * One held call for each attempt, and the next when it is answered, until the stack is disposed.
 * The first of them are shorter, so that later on as many end in any second. What comes back
 * rejects when one fails.
 */
async function hold(stack: AsyncDisposableStack, { server, key, nonces }: Asked) {
  const { promise: broken, reject } = Promise.withResolvers<never>()
  const start = performance.now()
  for (const [n, nonce] of nonces.entries()) {
    const early = start + (n / HOLDS_PER_SECOND) * 1000 - performance.now()
    if (early > 0) await Bun.sleep(early)
    const connection = await connect(server)
    stack.defer(connection[Symbol.dispose])
    const request = (wait: number) => requestText(`${statusPath(nonce)}&wait=${wait}`, key)
    void holdOn(connection, request, 1 + (n % MAX_WAIT_SECONDS)).catch(reject)
  }
  return { broken }
}

async function holdOn(
  connection: Connection,
  request: (wait: number) => string,
  firstWait: number,
): Promise<never> {
  await askGranted(connection, request(firstWait))
  for (;;) await askGranted(connection, request(MAX_WAIT_SECONDS))
}
