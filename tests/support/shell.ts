import { expect } from 'bun:test'

export type Shell = ReturnType<typeof openShell>

/** Ends what a command prints: nothing that is shown on a page. */
const END = '\u001e'

/** A terminal that remembers what earlier commands have set. Ends with the scope. */
export function openShell({ cwd, env }: { cwd: string; env: Record<string, string> }) {
  const child = Bun.spawn(['bash'], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let unread = ''
  let last = Promise.resolve('')
  void run('curl() { command curl -sS "$@"; }')

  /** What the command prints, errors included. A command waits for the one before it. */
  function run(command: string): Promise<string> {
    last = last.then(() => type(command))
    return last
  }

  async function type(command: string): Promise<string> {
    child.stdin.write(`{ ${command}\n} 2>&1\nprintf '\\036'\n`)
    await child.stdin.flush()
    while (!unread.includes(END)) {
      const { value, done } = await reader.read()
      expect([command, done]).toEqual([command, false])
      unread += decoder.decode(value, { stream: true })
    }
    const [printed = '', ...rest] = unread.split(END)
    unread = rest.join(END)
    return printed
  }

  return {
    run,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await child.exited
    },
  }
}
