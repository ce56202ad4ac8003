import { Readable, Writable } from 'node:stream'
import type { Io } from '../../src/cli/command.ts'
import { run } from '../../src/cli/run.ts'

interface Outside
  extends Partial<Pick<Io, 'env' | 'isWatched' | 'isInTerminal' | 'isOutTerminal'>> {
  /** What stands on standard input, once somebody asks for it. */
  input?: string | (() => string)
}

/** The outside of the program in a folder; what it prints is lost. */
export function testIo(cwd: string, { input = '', ...outside }: Outside = {}): Io {
  const typed = typeof input === 'string' ? () => input : input
  return {
    out: () => {},
    err: () => {},
    in: async () => typed(),
    outStream: new Writable({ write: (_chunk, _encoding, done) => done() }),
    inStream: () => Readable.from([Buffer.from(typed())]),
    isOutTerminal: false,
    isInTerminal: false,
    isWatched: false,
    env: {},
    cwd,
    program: 'gatehouse',
    ...outside,
  }
}

/** The command line in a folder: runs a command to its end, with what it prints. */
export function cli(cwd: string, outside: Outside = {}) {
  return async (...argv: string[]) => {
    const printed = { out: '', err: '' }
    const to = (stream: keyof typeof printed) => (text: string) => {
      printed[stream] += text
    }
    const io = { ...testIo(cwd, outside), out: to('out'), err: to('err') }
    const code = await run(argv, io)
    return { code, ...printed, json: () => JSON.parse(printed.out) }
  }
}
