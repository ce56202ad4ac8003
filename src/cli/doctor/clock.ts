import { existsSync } from 'node:fs'
import { isoTime } from '../../platform/clock.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const check = 'clock'
const MAX_SKEW_MS = MINUTE_MS

/** Whether the clock is behind the last write: if it was ahead then, due work waits until that time. */
export const judgeClock = (now: number, lastWriteAt: number): Finding =>
  lastWriteAt > now + MAX_SKEW_MS
    ? problem(
        check,
        `this machine's time, ${isoTime(now)}, is before the last write to the database, ` +
          `${isoTime(lastWriteAt)}: correct the clock. If it is correct, due work waits until that time`,
      )
    : ok(check, isoTime(now))

const SYNCHRONIZED = '/run/systemd/timesync/synchronized'
const MAX_QUESTION_MS = 2000

/** Whether the clock is synchronized; ok where that is unknown. */
export async function synchronisation(
  env: Readonly<Record<string, string | undefined>>,
): Promise<Finding[]> {
  if (existsSync(SYNCHRONIZED)) return [ok('time sync', 'by systemd-timesyncd')]
  return [judgeSynchronisation(await answerOfTimedatectl(env.PATH))]
}

export function judgeSynchronisation(answer: string | undefined): Finding {
  if (answer === 'yes') return ok('time sync', 'synchronized')
  return answer === 'no'
    ? warning('time sync', 'the clock is not synchronized: run timedatectl set-ntp true')
    : ok('time sync', 'unknown')
}

async function answerOfTimedatectl(path: string | undefined): Promise<string | undefined> {
  const program = Bun.which('timedatectl', { PATH: path ?? '' })
  if (!program) return undefined
  const child = Bun.spawn([program, 'show', '-p', 'NTPSynchronized', '--value'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: MAX_QUESTION_MS,
    killSignal: 'SIGKILL',
  })
  return (await new Response(child.stdout).text()).trim()
}
