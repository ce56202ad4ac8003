/**
 * Everything that has to hold, one step after the other: `bun run test`. Ends with the line
 * `N passed, N failed`, where each test and each other step counts one.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const scratch = mkdtempSync(join(isUsable('/dev/shm') ? '/dev/shm' : tmpdir(), 'gatehouse-tests-'))
// Some tests run commands as somebody else.
chmodSync(scratch, 0o755)
const report = join(scratch, 'report.xml')

/**
 * Memory, where there is enough of it: thousands of databases are made, synced and thrown away. Some
 * tests run what they have put into their folder.
 */
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

interface Tally {
  passed: number
  failed: number
}

async function succeeds(
  title: string,
  command: string[],
  env: Record<string, string> = {},
): Promise<boolean> {
  console.log(`\n== ${title}: ${command.join(' ')}`)
  const { exited } = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, TMPDIR: scratch, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return (await exited) === 0
}

const step = async (title: string, command: string[]): Promise<Tally> =>
  (await succeeds(title, command)) ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }

/**
 * Three files at a time, each in an environment of its own: much of what tests do is to wait, and more
 * at once would make all of them slow. The timeout is for what hangs: no test is held against the
 * clock. The runner's own report says how many tests there were; a crash counts as a failure.
 */
async function tests(): Promise<Tally> {
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`]
  const command = ['bun', 'test', '--parallel=3', '--timeout=30000', ...reporter]
  const green = await succeeds('tests', command, { TEST_COMPILED: '1' })
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

const tallies = [
  await step('types', ['tsc', '--noEmit', '-p', '.']),
  await step('lint and format', ['biome', 'check', '.']),
  await step('compile', ['bun', 'scripts/build.ts']),
  await step('browser', ['bun', 'tests/support/unpack-browser.ts']),
  await tests(),
]
rmSync(scratch, { recursive: true, force: true })
const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
process.exit(sum('failed') === 0 ? 0 : 1)
