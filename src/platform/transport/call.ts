import type { Clock } from '../clock.ts'
import { CallFailure, type Phase } from './failure.ts'

/** The milliseconds spent in each phase; 0 if it was not reached. */
export type Timings = Record<Phase, number>

const DOING: Record<Phase, string> = {
  dns: 'during the DNS lookup',
  connect: 'while connecting',
  tls: 'during the TLS handshake',
  wait: 'while waiting for the response',
  read: 'while reading the response',
}

/** A call in progress, with its timings, deadline and cancellation. */
export interface Call {
  phase(): Phase
  enter(phase: Phase): void
  timings(): Timings
  /** Runs `stop` at the deadline or abort, immediately if that has already happened. */
  onCut(stop: (failure: CallFailure) => void): void
  /** Sets a deadline `ms` from now, in addition to that of the whole call. */
  limitBody(ms: number): void
  /** Cancels the deadlines and the abort listener. Must be called for every call. */
  end(): void
}

/** Starts the deadline of a call; timing starts with its first phase. */
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
  const timers: (() => void)[] = []
  let ended = false

  function enter(phase: Phase) {
    const now = clock.monotonic()
    if (since !== undefined) timings[current] = hundredths(timings[current] + now - since)
    since = now
    current = phase
  }

  function cut(reason: 'timeout' | 'aborted', message: string, within = '') {
    failure ??= new CallFailure(reason, `${message} (${DOING[current]})`, { within })
    stop(failure)
  }

  const timeOut = (within: string) =>
    cut('timeout', `no complete response within ${within}`, within)

  const onAbort = () => cut('aborted', 'the request was cancelled')
  timers.push(clock.after(timeoutMs, () => timeOut(seconds(timeoutMs))))
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()

  return {
    phase: () => current,
    enter,
    onCut: (fn) => {
      stop = fn
      if (failure) fn(failure)
    },
    limitBody: (ms) => {
      if (ended) return
      timers.push(clock.after(ms, () => timeOut(`${seconds(ms)} of the response headers`)))
    },
    timings: () => {
      if (since !== undefined) enter(current)
      return timings
    },
    end: () => {
      ended = true
      for (const cancel of timers) cancel()
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

/** Rejects if the call is aborted or times out before `work` is done. */
export function untilCut<T>(call: Call, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    call.onCut(reject)
    work.then(resolve, reject)
  })
}

/** Rounded up, so that only phases that were not reached are 0. */
const hundredths = (ms: number) => Math.ceil(ms * 100) / 100

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
