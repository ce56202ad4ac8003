import type { Clock } from '../clock.ts'
import { CallFailure } from './failure.ts'

/** What a call is busy with, in order: a call that fails is told by how far it came. */
export type Phase = 'dns' | 'connect' | 'tls' | 'wait' | 'read'

/** Milliseconds spent in each phase, 0 where it was not reached. */
export type Timings = Record<Phase, number>

const DOING: Record<Phase, string> = {
  dns: 'looking up the name',
  connect: 'connecting',
  tls: 'in the TLS handshake',
  wait: 'waiting for the answer to begin',
  read: 'reading the answer',
}

/** One call under way: its stopwatch, its one deadline, and what may cut it short. */
export interface Call {
  phase(): Phase
  enter(phase: Phase): void
  timings(): Timings
  /** Runs `stop` when the deadline passes or the caller aborts, at once if that was before. */
  onCut(stop: (failure: CallFailure) => void): void
  /** Stops the deadline and lets go of the caller's signal. Must run on every path. */
  end(): void
}

/** Starts the deadline; the stopwatch starts with the first phase. */
export function startCall(parts: {
  clock: Clock
  timeoutMs: number
  signal?: AbortSignal | undefined
}): Call {
  const { clock, timeoutMs, signal } = parts
  const timings: Timings = { dns: 0, connect: 0, tls: 0, wait: 0, read: 0 }
  let current: Phase = 'dns'
  let since: number | undefined
  let failure: CallFailure | undefined
  let stop = (_: CallFailure) => {}

  function enter(phase: Phase) {
    const now = clock.monotonic()
    if (since !== undefined) timings[current] = hundredths(timings[current] + now - since)
    since = now
    current = phase
  }

  function cut(reason: 'timeout' | 'aborted', message: string) {
    failure ??= new CallFailure(reason, `${message} (${DOING[current]})`)
    stop(failure)
  }

  const onAbort = () => cut('aborted', 'the call was cut short')
  const cancelDeadline = clock.after(timeoutMs, () =>
    cut('timeout', `no complete answer within ${seconds(timeoutMs)}`),
  )
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()

  return {
    phase: () => current,
    enter,
    onCut: (fn) => {
      stop = fn
      if (failure) fn(failure)
    },
    timings: () => {
      if (since !== undefined) enter(current)
      return timings
    },
    end: () => {
      cancelDeadline()
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

/** Rejects when the call is cut short before `work` is done. */
export function untilCut<T>(call: Call, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    call.onCut(reject)
    work.then(resolve, reject)
  })
}

const hundredths = (ms: number) => Math.round(ms * 100) / 100

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
