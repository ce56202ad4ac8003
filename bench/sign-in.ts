import type { Bench } from './support/bench.ts'
import { withCpu } from './support/cpu.ts'
import { passThrough } from './support/crowd.ts'
import { compare, type Figure } from './support/figure.ts'
import { INTROSPECT } from './support/gate.ts'
import { copyInstallation, serveInstallation } from './support/installation.ts'
import { load, repeater, requestText } from './support/load.ts'
import { latencyOf, type Pace, probeDuring } from './support/probe.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { fromRoot, type Server, startFloor, startServer } from './support/server.ts'
import {
  begin,
  CHEAP,
  createPasswordInstallation,
  isSignedIn,
  PASSWORD,
  type PasswordInstallation,
  PEOPLE,
  START,
  USUAL,
} from './support/sign-ins.ts'

/** Both fewer than the processors and their queue accept, so that no request is rejected. */
const STEADY = 40
const CLIENTS = 32
/** A turn of sign-ins takes several times as long as those of other benchmarks. */
const ROUNDS_SHARE = 0.5
/** As long as that, about, so that the slowest answers are as rare. */
const REST_MS = 4000
const TARGET = '>= 0.85'
const LATENCY_TARGET = '<= 10'

/** Sign-ins by password, and what others notice of them. */
export const signIn: Bench = async (scale) => [
  ...(await withHashes(scale)),
  ...(await withoutHashes(scale)),
]

async function withHashes({ stack, rounds, note }: Parameters<Bench>[0]): Promise<Figure[]> {
  const installation = await createPasswordInstallation(stack, USUAL)
  const server = await serveInstallation(stack, installation)
  const bare = await startFloor(stack, 'hash', PASSWORD, installation.hash)
  const questions = installation.tokens.map((access_token) =>
    requestText(INTROSPECT, installation.key, { access_token }),
  )
  const asking: Pace = { everyMs: 10, request: (n) => questions[n % questions.length] as string }
  const crowds: Crowd[] = []

  /** So many at a time, until all people are signed in. */
  async function signAllIn(inFlight: number): Promise<Sample> {
    const requests = await begin(server, installation, PEOPLE)
    const { result, cpu } = await withCpu(server.pid, () =>
      probeDuring(server, asking, passThrough(server, { inFlight, requests }, isSignedIn)),
    )
    crowds.push({ inFlight, ...result.of })
    return { ...paceOf(result.of.ms, cpu), ...latencyOf(result.times) }
  }

  async function hashAlone(): Promise<Sample> {
    const { result, cpu } = await withCpu(bare.pid, () =>
      probeDuring(server, asking, askForHashes(bare, PEOPLE)),
    )
    return { ...paceOf(result.of, cpu), ...latencyOf(result.times) }
  }

  const samples = await alternate(Math.ceil(rounds * ROUNDS_SHARE), {
    idle: async () => latencyOf((await probeDuring(server, asking, Bun.sleep(REST_MS))).times),
    atOnce: () => signAllIn(PEOPLE),
    steadily: () => signAllIn(STEADY),
    alone: hashAlone,
  })
  for (const crowd of crowds.slice(-2)) note(described(crowd))
  const { idle, atOnce, steadily, alone } = samples
  return [
    ...besideHashes(`${PEOPLE} at once`, atOnce, alone),
    ...besideHashes(`${STEADY} in flight`, steadily, alone),
    ...besideIdle(`introspect, ${PEOPLE} at once : at rest`, atOnce, idle, LATENCY_TARGET),
    ...besideIdle(`introspect, ${STEADY} in flight : at rest`, steadily, idle, LATENCY_TARGET),
    ...besideIdle('introspect, hashes in another process : idle', alone, idle),
  ]
}

type Crowd = Awaited<ReturnType<typeof passThrough>> & { inFlight: number }

const described = ({ inFlight, refusals, mostRefusals, clientShare }: Crowd) =>
  `sign-in, ${inFlight} in flight: ${PEOPLE} signed in after ${refusals} responses of 503, none after ` +
  `more than ${mostRefusals}; the clients took ${(clientShare * 100).toFixed(1)} % of a core`

const paceOf = (ms: number, cpu: number): Sample => ({
  'sign-ins/s': (PEOPLE / ms) * 1000,
  'CPU ms/sign-in': cpu / PEOPLE,
})

const besideHashes = (name: string, subject: Sample[], floor: Sample[]) => [
  compare(`${name} : only hashes`, 'sign-ins/s', { subject, floor }, TARGET),
  compare(`${name} : only hashes`, 'CPU ms/sign-in', { subject, floor }),
]

const besideIdle = (name: string, subject: Sample[], floor: Sample[], target?: string) => [
  compare(name, 'ms p50', { subject, floor }),
  compare(name, 'ms p99', { subject, floor }, target),
]

async function askForHashes({ url }: Server, count: number): Promise<number> {
  const { ms } = (await (await fetch(`${url}/?count=${count}`)).json()) as { ms: number }
  return ms
}

/** Everything else that a sign-in costs. */
async function withoutHashes({ stack, rounds, ms }: Parameters<Bench>[0]): Promise<Figure[]> {
  const installation = await createPasswordInstallation(stack, CHEAP)
  const bare = await startFloor(
    stack,
    'sign-in',
    copyInstallation(stack, installation),
    installation.tenantId,
  )
  const program = fromRoot('bench', 'support', 'serve-cheaply.ts')
  const server = await startServer(stack, [process.execPath, program, installation.dataDir])
  const requests = [requestText(START, installation.key)]
  const starts = await alternate(rounds, {
    subject: () => repeater(server, requests, ms)(CLIENTS),
    floor: () => repeater(bare, requests, ms)(CLIENTS),
  })
  const forms = await alternate(rounds, {
    subject: () => submitAll(server, installation, ms),
    floor: () => submitAll(bare, installation, ms),
  })
  const title = `${CLIENTS} clients`
  return [
    compare(`start, ${title}`, 'req/s', starts),
    compare(`start, ${title}`, 'CPU µs/req', starts),
    compare(`form, ${title}`, 'req/s', forms, '>= 0.7'),
    compare(`form, ${title}`, 'CPU µs/req', forms),
  ]
}

/** As many forms as there are milliseconds; they are begun before. */
async function submitAll(
  server: Server,
  installation: PasswordInstallation,
  count: number,
): Promise<Sample> {
  const forms = (await begin(server, installation, count)).values()
  return load(server, { clients: CLIENTS, request: () => forms.next().value })
}
