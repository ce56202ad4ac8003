import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestFile } from './coverage.ts'
import { type Mutant, mutated } from './mutants.ts'

export interface Outcome extends Mutant {
  /** `unreached`: no test runs the line. `hung`: the tests never end, as in an endless loop. */
  outcome: 'found' | 'hung' | 'survived' | 'unreached'
  /** Test files that were run, the last one included. */
  ran: number
  /** Test files that run the line. */
  reaching: number
}

/** CPU seconds of tests per fault. A fault that outlives them counts as a survivor. */
const BUDGET_SECONDS = 60
/** The first tests are few, because most faults are found by the nearest. */
const FIRST_SECONDS = 6
const HANG_MS = 300_000

/** Runs each fault against the tests that run its line, nearest first. `done` gets every outcome. */
export async function runMutants(parts: {
  root: string
  mutants: Mutant[]
  coverage: TestFile[]
  workers: number
  done: (outcome: Outcome) => void
}): Promise<void> {
  const { root, mutants, coverage, workers, done } = parts
  let next = 0
  async function work() {
    const checkout = copyOf(root)
    for (let mutant = mutants[next++]; mutant; mutant = mutants[next++])
      done(await outcomeOf(checkout, mutant, testsReaching(coverage, mutant)))
    rmSync(checkout, { recursive: true })
  }
  await Promise.all(Array.from({ length: workers }, work))
}

async function outcomeOf(checkout: string, mutant: Mutant, tests: TestFile[]): Promise<Outcome> {
  const result = { ...mutant, reaching: tests.length, ran: 0 }
  if (tests.length === 0) return { ...result, outcome: 'unreached' }
  const file = join(checkout, mutant.path)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, mutated(text, mutant))
  try {
    for (const batch of batchesOf(tests)) {
      result.ran += batch.length
      const outcome = await run(checkout, batch)
      if (outcome !== 'survived') return { ...result, outcome }
    }
    return { ...result, outcome: 'survived' }
  } finally {
    writeFileSync(file, text)
  }
}

async function run(checkout: string, tests: TestFile[]): Promise<Outcome['outcome']> {
  const paths = tests.map(({ path }) => `./${path}`)
  const options = ['--bail=1', '--no-isolate', '--timeout=60000']
  const child = Bun.spawn(['bun', 'test', ...options, ...paths], {
    cwd: checkout,
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: HANG_MS,
    killSignal: 'SIGKILL',
  })
  if ((await child.exited) === 0) return 'survived'
  return child.signalCode === 'SIGKILL' ? 'hung' : 'found'
}

function batchesOf(tests: TestFile[]): TestFile[][] {
  const batches: TestFile[][] = []
  let [spent, room] = [0, 0]
  for (const test of tests) {
    if (spent >= BUDGET_SECONDS) break
    if (room <= 0) {
      batches.push([])
      room = FIRST_SECONDS * 3 ** (batches.length - 1)
    }
    batches.at(-1)?.push(test)
    spent += test.seconds
    room -= test.seconds
  }
  return batches
}

/** Tests that hold a rule for all code of a kind. */
const GENERAL = /^tests\/(contract\/|db\/tenant-first)/

/**
 * The test files that run the line of a fault: first those in the folder that mirrors the source,
 * then those for all code, then the fastest. A statement of several lines counts by its first.
 */
function testsReaching(coverage: TestFile[], { path, line }: Mutant): TestFile[] {
  const nearness = (test: TestFile) => {
    if (GENERAL.test(test.path)) return 1.5
    const [source, tests] = [path.split('/').slice(1), test.path.split('/').slice(1)]
    return tests.findIndex((part, at) => part !== source[at])
  }
  const ever = coverage.flatMap(({ lines }) => lines[path] ?? [])
  const start = ever.reduce((last, one) => (one <= line && one > last ? one : last), 0)
  return coverage
    .filter(({ lines }) => lines[path]?.includes(start))
    .sort((one, other) => nearness(other) - nearness(one) || one.seconds - other.seconds)
}

/** A copy of everything that tests read, with the installed packages of the original. */
function copyOf(root: string): string {
  const checkout = mkdtempSync(join(tmpdir(), 'mutation-'))
  const { stdout } = Bun.spawnSync(
    ['git', 'ls-files', '--cached', '--others', '--exclude-standard'],
    { cwd: root },
  )
  for (const path of stdout.toString().trim().split('\n')) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    cpSync(join(root, path), join(checkout, path))
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  return checkout
}
