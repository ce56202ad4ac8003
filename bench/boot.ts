import { existsSync } from 'node:fs'
import type { Bench } from './support/bench.ts'
import { cpuMs } from './support/cpu.ts'
import { compare } from './support/figure.ts'
import { createInstallation, serveCommand } from './support/installation.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { fromRoot, type Server, startFloor, startServer } from './support/server.ts'

const BINARY = fromRoot('dist', 'gatehouse')

/** From the start of the process to its first answer; of the executable, where it was built. */
export const boot: Bench = async ({ stack, rounds, note }) => {
  const { dataDir } = await createInstallation(stack)
  const built = existsSync(BINARY)
  if (!built) note('boot: no dist/gatehouse (`bun run build`), so the sources were started')
  const command = serveCommand(dataDir, built ? [BINARY] : undefined)
  const samples = await alternate(rounds, {
    subject: () => firstAnswer((stack) => startServer(stack, command)),
    floor: () => firstAnswer((stack) => startFloor(stack, 'empty')),
  })
  const name = built ? 'executable : bare Bun.serve' : 'sources : bare Bun.serve'
  return [compare(name, 'ms', samples), compare(name, 'CPU ms', samples)]
}

async function firstAnswer(
  start: (stack: AsyncDisposableStack) => Promise<Server>,
): Promise<Sample> {
  await using stack = new AsyncDisposableStack()
  const before = performance.now()
  const { url, pid } = await start(stack)
  const answer = await fetch(`${url}/healthz`)
  await answer.text()
  return { ms: performance.now() - before, 'CPU ms': cpuMs(pid) }
}
