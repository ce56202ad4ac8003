import { basename, delimiter, dirname } from 'node:path'
import { EXIT } from './cli/command.ts'
import { run } from './cli/run.ts'

/** In a compiled executable the sources live in a virtual folder. */
const isCompiled = import.meta.path.startsWith('/$bunfs/')

/** What to type: the bare name where the shell finds it, else the whole path. */
function programName(): string {
  const { execPath, env } = process
  if (!isCompiled) return `${cameByNpx(env.PATH) ? 'npx -y bun@1.4.5' : 'bun'} src/main.ts`
  const isOnPath = env.PATH?.split(delimiter).includes(dirname(execPath))
  return isOnPath ? basename(execPath) : execPath
}

/** Then Bun is in npm's cache alone, and the next shell will not find it. */
const cameByNpx = (path = '') => path.includes('/_npx/')

const LAST_OUTPUT_MS = 2000

/** A reader that has gone or a full disk behind a log must not bring down what serves. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const code = await run(process.argv.slice(2), {
  out: (text) => new Promise((resolve) => process.stdout.write(text, () => resolve())),
  err: (text) => void process.stderr.write(text),
  in: () => {
    if (process.stdin.isTTY) process.stderr.write('Reading from the terminal; Ctrl-D ends it.\n')
    return Bun.stdin.text()
  },
  isWatched: process.stderr.isTTY === true,
  env: process.env,
  cwd: process.cwd(),
  program: programName(),
}).catch((error: unknown) => {
  console.error(error)
  return EXIT.failure
})
process.exitCode = code
// Whatever still hangs, such as output that nobody takes, has had its time.
setTimeout(() => process.exit(code), LAST_OUTPUT_MS).unref()
