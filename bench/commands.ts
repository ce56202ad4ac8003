import type { Bench } from './support/bench.ts'
import { compileFloor, compileProgram } from './support/compiled.ts'
import { compare } from './support/figure.ts'
import { createInstallation, serveCommand } from './support/installation.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { startServer } from './support/server.ts'

/** Odd, and enough that single slow rounds don't show in the median. */
const ROUNDS = 7
const SHORT = '<= 50 ms'
const OTHERS = '<= 80 ms'

/** From the start of the compiled program to its end: commands beside a program that prints a line. */
export const commands: Bench = async ({ stack }) => {
  const { dataDir } = await createInstallation(stack)
  const program = await compileProgram(stack)
  const line = await compileFloor(stack, 'line')
  const { url } = await startServer(stack, serveCommand(dataDir, [program]))
  const data = `--data-dir=${dataDir}`
  const measured: [command: string[], target: string][] = [
    [['version'], SHORT],
    [['healthcheck', `--server-port=${new URL(url).port}`], SHORT],
    [['tenant', 'list', data], OTHERS],
    [['config', 'check', data], OTHERS],
    [['--help'], OTHERS],
  ]
  const figures = []
  for (const [command, target] of measured) {
    const samples = await alternate(ROUNDS, {
      subject: () => runToEnd([program, ...command]),
      floor: () => runToEnd([line]),
    })
    const name = `${command.filter((word) => !word.includes('=')).join(' ')} : a line`
    figures.push(compare(name, 'ms', samples, target))
  }
  return figures
}

async function runToEnd(command: string[]): Promise<Sample> {
  const before = performance.now()
  const child = Bun.spawn(command, { stdio: ['ignore', 'ignore', 'pipe'] })
  const code = await child.exited
  const ms = performance.now() - before
  if (code !== 0)
    throw new Error(`${command.join(' ')}: ${await new Response(child.stderr).text()}`)
  return { ms }
}
