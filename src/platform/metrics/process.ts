import { readdirSync } from 'node:fs'
import { MINUTE_MS } from '../durations.ts'
import { COMMIT, VERSION } from '../version.ts'
import type { Metrics } from './index.ts'

const LAG_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const
/** A longer block of the event loop is always noticed, a shorter one sometimes. */
const SAMPLE_MS = 200
/** How long sampling continues after a scrape; without scrapes it costs nothing. */
const WATCHED_MS = 5 * MINUTE_MS

/** Metrics of this process: its version, and what the operating system and the runtime know. */
export function createProcessMetrics(metrics: Metrics) {
  metrics.gauge('build_info', 'Always 1; the labels have the running version.', () => [
    { labels: { version: VERSION, commit: COMMIT }, value: 1 },
  ])
  metrics.gauge(
    'process_resident_memory_bytes',
    'Memory used by the server.',
    () => [{ value: process.memoryUsage.rss() }],
    'sum',
  )
  metrics.total('process_cpu_seconds_total', 'CPU time used by the server.', () => {
    const { user, system } = process.cpuUsage()
    return [{ value: (user + system) / 1_000_000 }]
  })
  const startedAt = performance.timeOrigin / 1000
  metrics.gauge(
    'process_start_time_seconds',
    'Start of the server, in Unix time.',
    () => [{ value: startedAt }],
    'min',
  )
  // Other systems don't provide this number.
  if (process.platform === 'linux')
    metrics.gauge(
      'process_open_fds',
      'Open files and connections of the server.',
      () => [{ value: openFiles() }],
      'sum',
    )
  const lag = metrics.histogram(
    'event_loop_lag_seconds',
    'Delay of timers, which delays all other work too.',
    LAG_SECONDS,
  )
  return { watched: createSampler(lag.with({}).observe) }
}

/** The number of open file descriptors, without the one that reads the directory. */
const openFiles = () => readdirSync('/proc/self/fd').length - 1

/** Samples the lag of the event loop; returns a function to call at each scrape. */
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
