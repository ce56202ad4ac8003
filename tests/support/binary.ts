import { join } from 'node:path'
import { urlIn } from '../../scripts/release/smoke.ts'

const ROOT = join(import.meta.dir, '..', '..')
export const BINARY = join(ROOT, 'dist', 'gatehouse')

/** Compiles the executable as it is released, unless that was done before the tests. */
export async function compileBinary() {
  if (process.env.TEST_COMPILED) return
  const { exited, stderr } = Bun.spawn(['bun', 'scripts/build.ts'], { cwd: ROOT, stderr: 'pipe' })
  if ((await exited) !== 0) throw new Error(await new Response(stderr).text())
}

export interface Launch {
  cwd: string
  args?: string[]
  env?: Record<string, string>
}

const PIPES = { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const

/** What a process has printed when it ends. */
export async function outcomeOf(child: Bun.ReadableSubprocess) {
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err, json: () => JSON.parse(out) }
}

/** Runs a command to its end, with nothing in the environment but what is given. */
export const command = ({ cwd, args = [], env = {} }: Launch) =>
  outcomeOf(Bun.spawn([BINARY, ...args], { cwd, env, ...PIPES }))

export type Server = Awaited<ReturnType<typeof startServer>>

/** Starts `serve` on a free port and waits until it says where it listens. */
export async function startServer({ cwd, args = [], env = {} }: Launch) {
  const argv = [BINARY, 'serve', '--server-port', '0', ...args]
  const child = Bun.spawn(argv, { cwd, env, ...PIPES })
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  const isRunning = () => child.exitCode === null && child.signalCode === null
  async function end(signal: NodeJS.Signals): Promise<number> {
    child.kill(signal)
    return await child.exited
  }
  const printed = () => out.text + err.text
  await until(() => urlIn(out.text) !== undefined || !isRunning(), printed)
  const url = urlIn(out.text)
  if (url === undefined) throw new Error(`did not start: ${printed()}`)
  return {
    ...{ url, pid: child.pid, isRunning, out: () => out.text, err: () => err.text },
    terminate: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: () => end('SIGKILL').then(() => {}),
  }
}

/** Collects the text of a stream. */
export function collect(stream: ReadableStream<Uint8Array>): { text: string } {
  const collected = { text: '' }
  const decoder = new TextDecoder()
  void (async () => {
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true })
  })()
  return collected
}

/** Waits for a condition of the real world, checked after 1 ms, 2 ms and so on up to 10 ms. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  describe: () => string = () => '',
  withinMs = 120_000,
) {
  const end = performance.now() + withinMs
  for (let checks = 1; !(await holds()); checks++) {
    if (performance.now() > end)
      throw new Error(`did not come true in ${withinMs} ms: ${describe()}`)
    await Bun.sleep(Math.min(checks, 10))
  }
}
