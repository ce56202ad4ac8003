import type { Bench } from './support/bench.ts'
import { compileProgram } from './support/compiled.ts'
import { cpuMs } from './support/cpu.ts'
import { compare } from './support/figure.ts'
import { createInstallation, serveCommand } from './support/installation.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { type Server, startFloor, startServer } from './support/server.ts'
import { holdings } from './support/vitals.ts'

/** Odd, and enough that single slow rounds don't show in the median. */
const ROUNDS = 7

/** From the start of the compiled program, on an existing database, to the answer that it is ready. */
export const boot: Bench = async ({ stack }) => {
  const { dataDir } = await createInstallation(stack)
  const command = serveCommand(dataDir, [await compileProgram(stack)])
  const samples = await alternate(ROUNDS, {
    subject: () => firstAnswer((stack) => startServer(stack, command), '/readyz'),
    floor: () => firstAnswer((stack) => startFloor(stack, 'empty'), '/'),
  })
  const name = 'executable : bare Bun.serve'
  return [
    compare(name, 'ms', samples, '<= 150 ms'),
    compare(name, 'CPU ms', samples),
    compare(name, 'RSS MB', samples),
  ]
}

async function firstAnswer(
  start: (stack: AsyncDisposableStack) => Promise<Server>,
  path: string,
): Promise<Sample> {
  await using stack = new AsyncDisposableStack()
  const before = performance.now()
  const { url, pid } = await start(stack)
  const answer = await fetch(`${url}${path}`)
  await answer.text()
  const ms = performance.now() - before
  if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}`)
  return { ms, 'CPU ms': cpuMs(pid), 'RSS MB': holdings(pid)['RSS MB'] }
}
