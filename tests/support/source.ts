import { join } from 'node:path'
import { BINARY, type Launch, outcomeOf } from './binary.ts'

export { outcomeOf }

export const ROOT = join(import.meta.dir, '..', '..')
const MAIN = join(ROOT, 'src', 'main.ts')

/**
 * The words that start Gatehouse: the executable where it was compiled for the tests, else the
 * sources, which need the settings of the checkout in any folder.
 */
export const PROGRAM = process.env.TEST_COMPILED
  ? [BINARY]
  : [process.execPath, `--tsconfig-override=${join(ROOT, 'tsconfig.json')}`, MAIN]

const PIPES = { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const

/** Runs a command as a process of its own, which leaves no database open. */
export const runProgram = ({ cwd, args = [], env = {} }: Launch) =>
  outcomeOf(Bun.spawn([...PROGRAM, ...args], { cwd, env, ...PIPES }))
