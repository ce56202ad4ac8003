import type { Bench } from './support/bench.ts'
import { withCpu } from './support/cpu.ts'
import { openEngine } from './support/engine.ts'
import { compare } from './support/figure.ts'
import { createInstallation, type Installation, serveInstallation } from './support/installation.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { storeJobs } from './support/stored-jobs.ts'
import { storeMonitors } from './support/stored-monitors.ts'

const FEW = 1000
const TURNS = 5000
const TARGET = '<= 2'

/** What it costs to wait, with many jobs and monitors of which none is due, beside the same with few. */
export const idle: Bench = async ({ stack, rounds, stored }) => {
  const many = await storeAll(await createInstallation(stack), stored)
  const few = await storeAll(await createInstallation(stack), FEW)
  const turns = await compareTurns(many, few, rounds)
  const process = await compareProcesses(stack, many, few, Math.ceil(rounds / 2))
  const name = `${stored.toLocaleString('en')} : ${FEW.toLocaleString('en')} of each`
  return [
    compare(`one idle turn, ${name}`, 'µs', turns, TARGET),
    compare(`one idle turn, ${name}`, 'CPU µs', turns, TARGET),
    compare(`idle process, ${name}`, 'CPU ms/s', process, TARGET),
  ]
}

/** As many cron jobs, delayed jobs and monitors each. */
const storeAll = async (installation: Installation, each: number) =>
  storeMonitors(await storeJobs(installation, each * 2), each)

/** A turn of the loop from its nudge to its rest, in this process. */
async function compareTurns(many: Installation, few: Installation, rounds: number) {
  await using stack = new AsyncDisposableStack()
  const turn = async (installation: Installation) => {
    const { clockwork } = await openEngine(stack, installation)
    return () => turns(clockwork.loop)
  }
  return await alternate(rounds, { subject: await turn(many), floor: await turn(few) })
}

async function turns(loop: { nudge(): void; idle(): Promise<void> }): Promise<Sample> {
  const start = performance.now()
  const { cpu } = await withCpu(process.pid, async () => {
    for (let n = 0; n < TURNS; n++) {
      loop.nudge()
      await loop.idle()
    }
  })
  const each = (ms: number) => (ms / TURNS) * 1000
  return { µs: each(performance.now() - start), 'CPU µs': each(cpu) }
}

/** The running program without requests: both wait at the same time. */
async function compareProcesses(
  stack: AsyncDisposableStack,
  many: Installation,
  few: Installation,
  rounds: number,
) {
  const servers = {
    subject: await serveInstallation(stack, many),
    floor: await serveInstallation(stack, few),
  }
  const samples: Record<'subject' | 'floor', Sample[]> = { subject: [], floor: [] }
  await Bun.sleep(SETTLE_MS)
  for (let round = 0; round < rounds; round++) {
    const [subject, floor] = await Promise.all([rest(servers.subject.pid), rest(servers.floor.pid)])
    samples.subject.push(subject)
    samples.floor.push(floor)
  }
  return samples
}

const SETTLE_MS = 1000
/** One of the longest sleeps of the loop, so that each round has as many turns. */
const REST_MS = 5000

async function rest(pid: number): Promise<Sample> {
  const { cpu } = await withCpu(pid, () => Bun.sleep(REST_MS))
  return { 'CPU ms/s': (cpu / REST_MS) * 1000 }
}
