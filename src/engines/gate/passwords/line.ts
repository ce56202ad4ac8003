import { unavailable } from '../../../platform/errors.ts'

/**
 * Runs up to `atOnce` pieces of work at a time, first come, first served. Up to `places` wait;
 * who finds those taken is refused with `unavailable`, before anything was done. Those who say
 * for whom they come find half of the places taken already when these wait for the same one.
 */
export function createLine({ atOnce, places }: { atOnce: number; places: number }) {
  const waiting: { whose: string | undefined; begin: () => void }[] = []
  const share = Math.ceil(places / 2)
  let atWork = 0

  async function run<T>(work: () => Promise<T>, whose?: string): Promise<T> {
    await enter(whose)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  function enter(whose: string | undefined): Promise<void> {
    if (atWork < atOnce) {
      atWork++
      return Promise.resolve()
    }
    if (waiting.length >= places || waitingFor(whose) >= share) {
      throw unavailable('too many passwords are being checked at once, try again in a few seconds')
    }
    return new Promise((begin) => waiting.push({ whose, begin }))
  }

  const waitingFor = (whose: string | undefined): number =>
    whose === undefined ? 0 : waiting.filter((one) => one.whose === whose).length

  /** The slot goes to the first in line directly: nobody who comes just now can slip in. */
  function leave() {
    const next = waiting.shift()
    if (next) next.begin()
    else atWork--
  }

  return { run }
}
