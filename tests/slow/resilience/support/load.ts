import { numbers } from './api.ts'
import type { Answered } from './client.ts'

/** A request with its answer, by the clock of `performance.now()`. */
export interface Call {
  answer: Answered
  askedAt: number
  answeredAt: number
}

/** Calls `act` with the next number, `callers` at a time, until it is stopped. */
export function startLoad(callers: number, act: (n: number) => Promise<Answered>) {
  const calls: Call[] = []
  const broken: unknown[] = []
  let isOver = false
  let next = 0

  async function keepCalling() {
    while (!isOver)
      try {
        const askedAt = performance.now()
        const answer = await act(next++)
        calls.push({ answer, askedAt, answeredAt: performance.now() })
      } catch (error) {
        broken.push(error)
      }
  }

  const done = Promise.all(numbers(callers).map(keepCalling))
  return {
    calls,
    /** What was thrown without an answer. */
    broken,
    /** The ids that were acknowledged so far. */
    ids: (): string[] => calls.filter(isDone).map(({ answer }) => answer.body.id),
    refused: () => calls.filter((one) => !isDone(one)),
    async stop() {
      isOver = true
      await done
    },
  }
}

export const isDone = ({ answer: { status } }: Call): boolean => status >= 200 && status < 300

export const slowestMs = (calls: readonly Call[]): number =>
  calls.reduce((slowest, { askedAt, answeredAt }) => Math.max(slowest, answeredAt - askedAt), 0)
