import { readdirSync } from 'node:fs'
import type { Metrics } from './index.ts'

const LAG_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const
/** A block of the event loop that is longer than this is always noticed, a shorter one at times. */
const SAMPLE_MS = 200
/** Duration of sampling after a scrape: without scrapes it costs nothing. */
const WATCHED_MS = 5 * 60_000

/** What the operating system and the runtime say of this process. */
export function createProcessMetrics(metrics: Metrics) {
  metrics.gauge('process_resident_memory_bytes', 'Memory used by this process.', () => [
    { value: process.memoryUsage.rss() },
  ])
  metrics.total('process_cpu_seconds_total', 'CPU time used by this process.', () => {
    const { user, system } = process.cpuUsage()
    return [{ value: (user + system) / 1_000_000 }]
  })
  const startedAt = performance.timeOrigin / 1000
  metrics.gauge('process_start_time_seconds', 'Start of this process, in Unix time.', () => [
    { value: startedAt },
  ])
  // Other systems do not tell.
  if (process.platform === 'linux')
    metrics.gauge('process_open_fds', 'Open files and connections of this process.', () => [
      { value: openFiles() },
    ])
  const lag = metrics.histogram(
    'event_loop_lag_seconds',
    'Delay of timers, and so of everything that waits.',
    LAG_SECONDS,
  )
  return { watched: createSampler(lag.with({}).observe) }
}

/** Open file descriptors, without the one that reads the directory. */
const openFiles = () => readdirSync('/proc/self/fd').length - 1

/** Returns a function to call at each scrape. */
function createSampler(observe: (seconds: number) => void): () => void {
  let samplesLeft = 0

  function sample() {
    const dueAt = performance.now() + SAMPLE_MS
    setTimeout(() => {
      observe(Math.max(performance.now() - dueAt, 0) / 1000)
      samplesLeft--
      if (samplesLeft > 0) sample()
    }, SAMPLE_MS).unref()
  }

  return () => {
    const isRunning = samplesLeft > 0
    samplesLeft = WATCHED_MS / SAMPLE_MS
    if (!isRunning) sample()
  }
}
