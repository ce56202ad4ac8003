import { basename, delimiter, dirname } from 'node:path'
import { isatty } from 'node:tty'
import { EXIT } from './cli/command.ts'
import { run } from './cli/run.ts'
import { sentenceOf } from './cli/sentences.ts'
import { StorageError } from './db/errors.ts'
import { isCompiled } from './platform/version.ts'

function programName(): string {
  const { execPath, env } = process
  if (!isCompiled) return `${cameByNpx(env.PATH) ? 'npx -y bun@1.4.5' : 'bun'} src/main.ts`
  const isOnPath = env.PATH?.split(delimiter).includes(dirname(execPath))
  return isOnPath ? basename(execPath) : execPath
}

/** Whether npx started Bun, which is then not on the `PATH` of other shells. */
const cameByNpx = (path = '') => path.includes('/_npx/')

const LAST_OUTPUT_MS = 2000

/** A closed pipe or a full disk behind the log must not stop the server. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

/** A reader that closes the pipe early, such as `head`, is not an error. */
const print = (text: string) =>
  new Promise<void>((resolve, reject) =>
    process.stdout.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (!error || error.code === 'EPIPE') resolve()
      else reject(new StorageError(`standard output: ${sentenceOf(error)}`, { cause: error }))
    }),
  )

/** Checked by descriptor, because `process.stdin` opens the stream. */
const isInTerminal = isatty(0)

const code = await run(process.argv.slice(2), {
  out: print,
  err: (text) => void process.stderr.write(text),
  in: () => {
    if (isInTerminal) process.stderr.write('Reading from the terminal. Press Ctrl-D to end.\n')
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
// Don't wait longer for work that still hangs, such as output that is never read.
setTimeout(() => process.exit(code), LAST_OUTPUT_MS).unref()
