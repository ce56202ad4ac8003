import { join } from 'node:path'

export const fromRoot = (...names: string[]) => join(import.meta.dir, '..', '..', ...names)

export type Server = Awaited<ReturnType<typeof startServer>>

/**
 * A process of ours that serves HTTP and writes one JSON line with its `url`. It is ended, by
 * its own pid, when the stack is disposed.
 */
export async function startServer(
  stack: AsyncDisposableStack,
  command: string[],
  env: Record<string, string> = {},
) {
  if (stack.disposed) throw new Error('nothing is started once the run is over')
  const child = Bun.spawn(command, {
    cwd: fromRoot(),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  stack.defer(async () => {
    child.kill('SIGTERM')
    await child.exited
  })
  const url = await urlIn(child.stdout)
  if (!url) throw new Error(`${command.join(' ')}: ${await new Response(child.stderr).text()}`)
  return { url, pid: child.pid }
}

/** A floor of `bench/floor`, with its arguments. */
export const startFloor = (stack: AsyncDisposableStack, name: string, ...args: string[]) =>
  startFloorIn({}, stack, name, ...args)

/** The same, with these environment variables. */
export const startFloorIn = (
  env: Record<string, string>,
  stack: AsyncDisposableStack,
  name: string,
  ...args: string[]
) => startServer(stack, [process.execPath, fromRoot('bench', 'floor', `${name}.ts`), ...args], env)

/** Goes on reading after the line is found, so that the child never waits for us. */
function urlIn(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  return new Promise((resolve) => {
    void readLines(output, (line) => {
      const url = /"url":"([^"]+)"/.exec(line)?.[1]
      if (url) resolve(url)
    }).then(() => resolve(undefined))
  })
}

async function readLines(output: ReadableStream<Uint8Array>, each: (line: string) => void) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of output) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(each)
  }
}
