/**
 * Everything that has to hold, one step after the other: `bun run test`. Ends with the line
 * `N passed, N failed`, where each test and each other step counts one.
 */
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const report = join(tmpdir(), `gatehouse-tests-${process.pid}.xml`)

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
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return (await exited) === 0
}

const step = async (title: string, command: string[]): Promise<Tally> =>
  (await succeeds(title, command)) ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }

/**
 * Three files at a time, each in an environment of its own: much of what tests do is to wait, and more
 * at once would make all of them slow. The timeout is for what hangs: no test is held against the
 * clock. The runner's own report says how many tests there were; a
 * crash counts as a failure.
 */
async function tests(): Promise<Tally> {
  const outfile = `--reporter-outfile=${report}`
  const command = ['bun', 'test', '--parallel=3', '--timeout=30000', '--reporter=junit', outfile]
  const green = await succeeds('tests', command, { TEST_COMPILED: '1' })
  const text = await Bun.file(report)
    .text()
    .catch(() => '')
  rmSync(report, { force: true })
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
const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
process.exit(sum('failed') === 0 ? 0 : 1)
