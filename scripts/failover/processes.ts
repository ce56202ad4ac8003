import { appendFileSync, readdirSync, readFileSync } from 'node:fs'

export interface Running {
  pid: number
  exited: Promise<number>
  /** A signal for the process and all that it has started. */
  signal: (signal: NodeJS.Signals) => void
  /** Kills them all as a power cut does: none sees another one die. */
  kill: () => Promise<void>
}

/** Starts a process whose output goes to a file, and line by line to `onLine`. */
export function run(
  command: string[],
  given: {
    cwd: string
    env: Record<string, string | undefined>
    log: string
    onLine?: (line: string) => void
  },
): Running {
  const { cwd, env, log, onLine } = given
  const child = Bun.spawn(command, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) void follow(stream, log, onLine)
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    for (const pid of [child.pid, ...descendantsOf(child.pid)]) send(pid, name)
  }
  return {
    pid: child.pid,
    exited: child.exited,
    signal,
    async kill() {
      signal('SIGSTOP')
      signal('SIGKILL')
      await child.exited
    },
  }
}

/** Runs a command to its end and returns what it prints. */
export async function outputOf(
  command: string[],
  given: { cwd: string; env: Record<string, string | undefined> },
): Promise<string> {
  const child = Bun.spawn(command, { ...given, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')}: ${err || out}`)
  return out
}

async function follow(
  stream: ReadableStream<Uint8Array>,
  log: string,
  onLine: (line: string) => void = () => {},
) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const text = decoder.decode(chunk, { stream: true })
    appendFileSync(log, text)
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(onLine)
  }
}

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

function descendantsOf(root: number): number[] {
  const children = Map.groupBy(allProcesses(), ({ parent }) => parent)
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child.pid, ...below(child.pid)])
  return below(root)
}

function allProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // The name of a program, in parentheses, can have any character.
        const [, , parent] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
        return [{ pid: Number(name), parent: Number(parent) }]
      } catch {
        return []
      }
    })
}
