import { createLinks } from '../console/operators/links.ts'
import { createOperatorStore } from '../console/operators/store/index.ts'
import { serve as listen } from '../http/serve.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import { nameInstallation } from '../platform/installation.ts'
import type { Log } from '../platform/log.ts'
import type { Platform } from '../platform/platform.ts'
import { processCount } from '../platform/process.ts'
import { VERSION } from '../platform/version.ts'
import { joinSupervisor, roleIn, type StopReason, type Worker } from '../supervisor/worker.ts'
import { platformOn } from './application.ts'
import { type Command, type Configured, EXIT, type ExitCode } from './command.ts'
import { firstSteps } from './first-steps.ts'
import { logFor } from './log.ts'
import { migrateConfigured, openConfigured } from './open.ts'
import { listening } from './sentences.ts'
import { GRACE_MS, LAST_WORDS_MS } from './stopping.ts'
import { supervise } from './supervise.ts'

/** How long storing request counts may take: another process may be writing, or the disk be full. */
const USAGE_GRACE_MS = 8000

export const serve: Command = {
  name: 'serve',
  summary: 'Start the server. This is the default command.',
  options: {
    paused: {
      type: 'boolean',
      help: 'Serve requests, but run no jobs, deliveries, emails or bots. Use it to check a restored backup.',
    },
    standby: {
      type: 'boolean',
      help: 'Wait for an active server and take over from it, instead of becoming the first one.',
    },
  },
  run: async (invocation) => {
    const role = roleIn(invocation.io.env)
    if (role) return serveUntilStopped(invocation, joinSupervisor(role))
    if (invocation.config.replication.role === 'auto' || invocation.options.standby)
      // Loaded here, because most servers are alone.
      return (await import('./pair.ts')).serveInPair(invocation)
    return processCount(invocation.config.server.processes) > 1
      ? supervise(invocation)
      : serveUntilStopped(invocation, undefined)
  },
}

/** Serves until a signal. `worker` is set if this process shares the port with others. */
async function serveUntilStopped(
  { config, loaded, io, options }: Configured,
  worker: Worker | undefined,
): Promise<ExitCode> {
  const isPaused = options.paused === true
  // Loaded here: the help and the completion of the shell read the options of each command.
  const { createApp } = await import('../app.ts')
  const log = logFor(config, io, worker && { process: worker.number })
  const db = openConfigured(config)
  const applied = migrateConfigured(config, db)
  if (applied.length > 0) log.info('migrated', { steps: applied.length, to: applied.at(-1) })
  const { dataDir } = config
  await nameInstallation({ db, clock: systemClock })
  const platform = await platformOn({ config, db, log, siblings: worker?.siblings })
  const isFirst = worker?.isFirst ?? true
  const setUpToken = isFirst ? await setUpTokenIn(platform) : undefined
  const origins = loaded.ok ? { origins: loaded.origin } : {}
  const gatehouse = createApp(platform, config, origins)
  const place = worker ? { ...config.server, port: worker.port, isShared: true } : config.server
  gatehouse.replication.start()
  const listener = listening(() => listen(gatehouse.app, place, log), config.server)
  try {
    await gatehouse.start({ isPaused })
  } catch (error) {
    await listener.stop()
    db.close()
    throw error
  }
  // The executable starts with a compiler that waits longer (scripts/build.ts).
  Bun.unsafe.setJITPolicy(1)
  const stopAsked = worker ? worker.stopAsked : nextSignal()
  if (worker) log.info('process started', { pid: process.pid })
  else log.info('listening', { url: listener.url, dataDir, version: VERSION })
  worker?.ready()
  if (isPaused)
    log.warn('paused: no jobs, deliveries, emails or bots until a start without --paused')
  if (isFirst) {
    const hasTenant = platform.tenants.list().length > 0
    const steps = firstSteps({ io, config, port: listener.port, setUpToken, hasTenant })
    if (steps) io.err(steps)
  }

  const { signal, withAll } = await stopAsked
  log.info('stopping', { signal })
  if (!worker) exitOnSecondSignal()
  if (withAll) {
    gatehouse.drain()
    await sleep(systemClock, config.server.drainMs)
  }
  const giveUp = systemClock.after(GRACE_MS + LAST_WORDS_MS, () => abandon(log))
  const lost = await shutDown()
  giveUp()
  worker?.leave()
  log.info('stopped')
  return lost > 0 ? EXIT.failure : EXIT.ok

  /** Answers new connections until the last lease is released. Returns how many requests were not counted. */
  async function shutDown(): Promise<number> {
    await gatehouse.stop(GRACE_MS)
    await listener.stop()
    const lost = await platform.metering.stop(USAGE_GRACE_MS)
    db.close()
    return lost
  }
}

/** The token of the setup link for the first operator; undefined once there is an admin. */
async function setUpTokenIn({ db, clock, audit }: Platform): Promise<string | undefined> {
  const store = createOperatorStore(db)
  return store.hasAdmin() ? undefined : createLinks({ db, clock, audit, store }).issueSetUp()
}

/** Exits. The leases of unfinished work run out, and the next process takes it over. */
function abandon(log: Log) {
  log.error('stopped without waiting for work in progress')
  process.exit(EXIT.failure)
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

const nextSignal = (): Promise<StopReason> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve({ signal, withAll: true }))
  })

/** Makes a second signal end the process immediately. */
function exitOnSecondSignal() {
  for (const signal of SIGNALS) process.once(signal, () => process.exit(EXIT.failure))
}
