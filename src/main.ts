import { basename, delimiter, dirname } from 'node:path'
import { isatty } from 'node:tty'
import { EXIT } from './cli/command.ts'
import { run } from './cli/run.ts'
import { sentenceOf } from './cli/sentences.ts'
import { StorageError } from './db/errors.ts'
import { isCompiled } from './platform/version.ts'

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

/** A reader that has gone, as `head` does, has had what it wanted. */
const print = (text: string) =>
  new Promise<void>((resolve, reject) =>
    process.stdout.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (!error || error.code === 'EPIPE') resolve()
      else reject(new StorageError(`standard output: ${sentenceOf(error)}`, { cause: error }))
    }),
  )

/** By its number: the stream is made for those alone who read it. */
const isInTerminal = isatty(0)

const code = await run(process.argv.slice(2), {
  out: print,
  err: (text) => void process.stderr.write(text),
  in: () => {
    if (isInTerminal) process.stderr.write('Reading from the terminal; Ctrl-D ends it.\n')
    return Bun.stdin.text()
  },
  outStream: process.stdout,
  inStream: () => process.stdin,
  isOutTerminal: process.stdout.isTTY === true,
  isInTerminal,
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
