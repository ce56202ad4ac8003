import type { Clock } from '../../../platform/clock.ts'
import type { Receiver } from './receiver.ts'

/** Repeats `round` until stopped or `end`, after the returned milliseconds. Stopping aborts it. */
export function createRounds(
  clock: Clock,
  round: (signal: AbortSignal) => Promise<number | 'end'>,
): Receiver {
  const stopped = new AbortController()
  const { signal } = stopped

  let isOver = false

  async function go() {
    for (let next = await round(signal); next !== 'end'; next = await round(signal)) {
      if (next > 0) await pause(next)
      if (signal.aborted) break
    }
    isOver = true
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = () => {
        cancel()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const cancel = clock.after(ms, end)
      signal.addEventListener('abort', end)
    })

  const done = go()

  function stop() {
    stopped.abort()
    return done
  }

  return { stop, isOver: () => isOver }
}
