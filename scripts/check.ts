/**
 * Everything that has to hold: `bun run test`. With `--fast`, everything but `tests/slow` and what
 * these tests need: `bun run test:fast`. Ends with the line `N passed, N failed`, where each test and
 * each other step counts as one.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { fast } = parseArgs({ options: { fast: { type: 'boolean', default: false } } }).values
const root = join(import.meta.dir, '..')
const scratch = mkdtempSync(join(isUsable('/dev/shm') ? '/dev/shm' : tmpdir(), 'gatehouse-tests-'))
// Some tests run commands as another user.
chmodSync(scratch, 0o755)

/** Whether a file system in memory is large enough for thousands of databases, and runs programs. */
function isUsable(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const mayRun = mounts.some((line) => line.includes(` ${path} `) && !line.includes('noexec'))
    return mayRun && bavail * bsize > 4 * 2 ** 30
  } catch {
    return false
  }
}

const ROUNDS = 4

interface Tally {
  passed: number
  failed: number
}

/** A test runs most code a few times, so compiling it for speed costs more than it saves. */
const LITTLE_COMPILING = {
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_thresholdForJITAfterWarmUp: '2000',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '10000',
}

async function succeeds(title: string, command: string[], settings = {}): Promise<boolean> {
  console.log(`\n== ${title}: ${command.join(' ')}`)
  const startedAt = performance.now()
  const { exited } = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, TMPDIR: scratch, TEST_COMPILED: '1', ...settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const isGood = (await exited) === 0
  console.log(`== ${title}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  return isGood
}

const step = async (title: string, ...command: string[]): Promise<Tally> =>
  (await succeeds(title, command)) ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }

/** Without a database of an earlier run, several checkers would share little and repeat much. */
const types = () => step('types', 'tsc', '-p', '.', '--checkers', '1')

/**
 * The timeout is for what hangs: no test is held against the clock. The runner's own report says how
 * many tests there were; a crash counts as a failure.
 */
async function tests(title: string, ...options: string[]): Promise<Tally> {
  const report = join(scratch, 'report.xml')
  rmSync(report, { force: true })
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`]
  const command = ['bun', 'test', '--timeout=30000', ...reporter, ...options]
  const green = await succeeds(title, command, LITTLE_COMPILING)
  const text = await Bun.file(report)
    .text()
    .catch(() => '')
  for (const [, file] of text.matchAll(/name="\(worker crashed\)"[^>]* file="([^"]*)"/g))
    console.log(`(fail) ${file}: the process that ran it has crashed`)
  const head = /<testsuites[^>]*>/.exec(text)?.[0] ?? ''
  const count = (name: string) => Number(new RegExp(`${name}="(\\d+)"`).exec(head)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  const passed = count('tests') - failed - count('skipped')
  if (passed === 0 || (!green && failed === 0)) return { passed, failed: failed + 1 }
  return { passed, failed }
}

/**
 * Without isolation, the files of a worker share the modules of the application: half the work. In
 * rounds, because a worker slows down with what its files leave behind.
 */
const fastTests = (round: number) =>
  tests(
    `tests, round ${round} of ${ROUNDS}`,
    `--parallel=${availableParallelism()}`,
    '--no-isolate',
    `--shard=${round}/${ROUNDS}`,
    '--path-ignore-patterns=**/slow/**',
  )

/** Two more than cores, because processes and browsers are waited for. */
const slowTests = () =>
  tests('slow tests', `--parallel=${availableParallelism() + 2}`, './tests/slow')

const tallies = await Promise.all([types(), step('lint and format', 'biome', 'check', '.')])
for (let round = 1; round <= ROUNDS; round++) tallies.push(await fastTests(round))
if (!fast) {
  const builds = [
    step('compile', 'bun', 'scripts/build.ts'),
    step('browser', 'bun', 'tests/support/unpack-browser.ts'),
  ]
  tallies.push(...(await Promise.all(builds)), await slowTests())
}
rmSync(scratch, { recursive: true, force: true })
const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
process.exit(sum('failed') === 0 ? 0 : 1)
