import type { Config } from '../config/index.ts'
import { createLinks } from '../console/operators/links.ts'
import { createOperatorStore } from '../console/operators/store/index.ts'
import { type Listener, serve as listen } from '../http/serve.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import { conflict } from '../platform/errors.ts'
import { nameInstallation } from '../platform/installation.ts'
import { createLog, type Log } from '../platform/log.ts'
import type { Platform } from '../platform/platform.ts'
import { VERSION } from '../platform/version.ts'
import { platformOn } from './application.ts'
import { type Command, type Configured, EXIT, type ExitCode, type Io } from './command.ts'
import { firstSteps } from './first-steps.ts'
import { migrateConfigured, openConfigured } from './open.ts'
import { sentenceOnListening } from './sentences.ts'

/** How long calls in progress at SIGTERM may take to finish. */
const GRACE_MS = 25_000
/** How long the process then waits for calls that it cut off. */
const LAST_WORDS_MS = 3000
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
  },
  run: serveUntilStopped,
}

async function serveUntilStopped({ config, loaded, io, options }: Configured): Promise<ExitCode> {
  const isPaused = options.paused === true
  // Loaded here: the help and the completion of the shell read the options of each command.
  const { createApp } = await import('../app.ts')
  const log = logFor(config, io)
  const db = openConfigured(config)
  const applied = migrateConfigured(config, db)
  if (applied.length > 0) log.info('migrated', { steps: applied.length, to: applied.at(-1) })
  const { dataDir } = config
  await nameInstallation({ db, clock: systemClock })
  const platform = await platformOn({ config, db, log })
  const setUpToken = await setUpTokenIn(platform)
  const origins = loaded.ok ? { origins: loaded.origin } : {}
  const gatehouse = createApp(platform, config, origins)
  const listener = listening(() => listen(gatehouse.app, config.server, log), config)
  try {
    await gatehouse.start({ isPaused })
  } catch (error) {
    await listener.stop()
    db.close()
    throw error
  }
  // The executable starts with a compiler that waits longer (scripts/build.ts).
  Bun.unsafe.setJITPolicy(1)
  const stopSignal = nextSignal()
  log.info('listening', { url: listener.url, dataDir, version: VERSION })
  if (isPaused)
    log.warn('paused: no jobs, deliveries, emails or bots until a start without --paused')
  const hasTenant = platform.tenants.list().length > 0
  const steps = firstSteps({ io, config, port: listener.port, setUpToken, hasTenant })
  if (steps) io.err(steps)

  const signal = await stopSignal
  log.info('stopping', { signal })
  exitOnSecondSignal()
  gatehouse.drain()
  await sleep(systemClock, config.server.drainMs)
  const giveUp = systemClock.after(GRACE_MS + LAST_WORDS_MS, () => abandon(log))
  const lost = await shutDown()
  giveUp()
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

function listening(begin: () => Listener, { server }: Config): Listener {
  try {
    return begin()
  } catch (error) {
    const sentence = sentenceOnListening(error, server)
    throw sentence === undefined ? error : conflict(sentence)
  }
}

/** The token of the setup link for the first operator; undefined once there is an admin. */
async function setUpTokenIn({ db, clock, audit }: Platform): Promise<string | undefined> {
  const store = createOperatorStore(db)
  return store.hasAdmin() ? undefined : createLinks({ db, clock, audit, store }).issueSetUp()
}

function logFor({ log }: Config, io: Io): Log {
  const format = log.format === 'auto' ? (io.isOutTerminal ? 'text' : 'json') : log.format
  // A log that can't be written, as on a full disk, must not stop the server.
  const write = (line: string) => void Promise.resolve(io.out(`${line}\n`)).catch(() => {})
  return createLog({ level: log.level, format, now: systemClock.now, write })
}

/** Exits. The leases of unfinished work run out, and the next process takes it over. */
function abandon(log: Log) {
  log.error('stopped without waiting for work in progress')
  process.exit(EXIT.failure)
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

const nextSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, resolve)
  })

/** Makes a second signal end the process immediately. */
function exitOnSecondSignal() {
  for (const signal of SIGNALS) process.once(signal, () => process.exit(EXIT.failure))
}
