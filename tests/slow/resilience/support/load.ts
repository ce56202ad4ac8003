import type { Answered } from './client.ts'

/** A request as it was answered, by the clock of `performance.now()`. */
export interface Call {
  answer: Answered
  askedAt: number
  answeredAt: number
}

export type Load = ReturnType<typeof startLoad>

/** So many callers at a time, each with the next number, until they are told to stop. */
export function startLoad(callers: number, act: (n: number) => Promise<Answered>) {
  const calls: Call[] = []
  const broken: unknown[] = []
  let isOver = false
  let next = 0

  async function call(n: number) {
    const askedAt = performance.now()
    try {
      const answer = await act(n)
      calls.push({ answer, askedAt, answeredAt: performance.now() })
    } catch (error) {
      broken.push(error)
    }
  }

  async function keepCalling() {
    while (!isOver) await call(next++)
  }

  const done = Promise.all(Array.from({ length: callers }, keepCalling))
  return {
    calls,
    /** What was thrown where nobody answered. */
    broken,
    /** Ids of what was acknowledged until now. */
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
