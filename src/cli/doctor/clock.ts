import { existsSync } from 'node:fs'
import { isoTime } from '../../platform/clock.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const check = 'clock'
const MOST_SKEW_MS = 60_000

/** A clock that was once ahead makes due work wait until it gets there again. */
export const judgeClock = (now: number, lastWriteAt: number): Finding =>
  lastWriteAt > now + MOST_SKEW_MS
    ? problem(
        check,
        `this machine is at ${isoTime(now)}, behind the last write to the database, ` +
          `${isoTime(lastWriteAt)}: set its clock; if it is right, due work waits until that time`,
      )
    : ok(check, isoTime(now))

const SYNCHRONIZED = '/run/systemd/timesync/synchronized'
const LONGEST_QUESTION_MS = 2000

/** Whether something keeps the clock right. Where nobody can tell, nothing is wrong. */
export async function synchronisation(
  env: Readonly<Record<string, string | undefined>>,
): Promise<Finding[]> {
  if (existsSync(SYNCHRONIZED)) return [ok('time sync', 'by systemd-timesyncd')]
  return [judgeSynchronisation(await answerOfTimedatectl(env.PATH))]
}

export function judgeSynchronisation(answer: string | undefined): Finding {
  if (answer === 'yes') return ok('time sync', 'synchronised')
  return answer === 'no'
    ? warning('time sync', 'the clock is not synchronised: timedatectl set-ntp true')
    : ok('time sync', 'cannot tell')
}

async function answerOfTimedatectl(path: string | undefined): Promise<string | undefined> {
  const program = Bun.which('timedatectl', { PATH: path ?? '' })
  if (!program) return undefined
  const child = Bun.spawn([program, 'show', '-p', 'NTPSynchronized', '--value'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: LONGEST_QUESTION_MS,
    killSignal: 'SIGKILL',
  })
  return (await new Response(child.stdout).text()).trim()
}
