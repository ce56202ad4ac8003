import type { FileLoss } from '../db/file-identity.ts'
import type { Db } from '../db/open.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** The interval of checks, so that a lost database is noticed even without traffic. */
export const CHECK_MS = 2000

/** The advice in the log for each reason. */
const ADVICE: Record<FileLoss['reason'], string> = {
  missing: 'put the original files back, or stop the server and restore a backup',
  replaced: 'put the original files back, or restart the server to use the new ones',
  unreachable: 'check the mount and permissions of the data directory',
}

/**
 * Notices when the files of the open database are moved, deleted or replaced, and when they are
 * back. Logs one line for each, however many requests are refused in between.
 */
export function createStorageWatch({ db, clock, log }: { db: Db; clock: Clock; log: Log }) {
  const listeners: (() => void)[] = []
  const onReturns: ((loss: FileLoss) => void)[] = []
  let lost: FileLoss | undefined
  let cancel = () => {}

  function check() {
    const loss = db.files.loss()
    if (loss && !lost) report(loss)
    if (!loss && lost) reportReturn(lost)
    lost = loss
  }

  function report({ path, reason }: FileLoss) {
    const advice = ADVICE[reason]
    log.error('the database is lost: requests answer 503', { file: path, is: reason, advice })
    for (const listener of listeners) listener()
  }

  function reportReturn(loss: FileLoss) {
    log.info('the database is available again: requests are served')
    for (const listener of onReturns) listener(loss)
  }

  function start() {
    check()
    cancel = clock.after(CHECK_MS, start)
  }

  return {
    start,
    stop: () => cancel(),
    /** Calls `listener` when the database has been lost. */
    onLoss: (listener: () => void) => void listeners.push(listener),
    /** Calls `listener` with what was wrong when the database is available again. */
    onReturn: (listener: (loss: FileLoss) => void) => void onReturns.push(listener),
  }
}
