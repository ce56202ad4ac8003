import { MINUTE_MS } from '../../../platform/durations.ts'
import type { Random } from '../../../platform/random.ts'
import { MessengerError } from '../messenger.ts'

const MIN_MS = 1000
const MAX_MS = MINUTE_MS

/** Doubles up to a minute, plus up to a fifth at random; longer if the messenger asks for it. */
export function backoffMs(failures: number, error: unknown, random: Random): number {
  const usual = Math.min(MIN_MS * 2 ** (failures - 1), MAX_MS) * (1 + random() / 5)
  const wished = error instanceof MessengerError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(usual, wished)
}
