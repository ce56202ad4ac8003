import { systemClock } from '../platform/clock.ts'
import type { Io } from './command.ts'

export interface Progress {
  /** Shows how much is done, and of what total if it is known. */
  step: (done: number, total?: number) => void
  /** Clears the line. */
  end: () => void
}

/** The shortest time between two redraws, so that a fast loop does not spend its time on them. */
const REDRAW_MS = 100
const BAR_CELLS = 24
const CLEAR = '\r\u001b[K'

/** Shows progress only if standard error is a terminal. `unit` is what is counted: `lines`. */
export function createProgress(
  { err, isWatched }: Pick<Io, 'err' | 'isWatched'>,
  title: string,
  unit: string,
): Progress {
  if (!isWatched) return { step: () => {}, end: () => {} }
  let drawnAt = Number.NEGATIVE_INFINITY

  function step(done: number, total?: number) {
    const now = systemClock.monotonic()
    if (now - drawnAt < REDRAW_MS) return
    drawnAt = now
    err(`${CLEAR}${title} ${total ? bar(done / total) : ''}${done.toLocaleString('en')} ${unit}`)
  }

  return { step, end: () => err(CLEAR) }
}

function bar(share: number): string {
  const full = Math.round(Math.min(share, 1) * BAR_CELLS)
  const percent = `${Math.floor(Math.min(share, 1) * 100)}`.padStart(3)
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${percent} % · `
}
