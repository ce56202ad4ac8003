import { createApp } from '../app.ts'
import type { Config } from '../config/index.ts'
import { createLinks } from '../console/operators/links.ts'
import { createOperatorStore } from '../console/operators/store/index.ts'
import { type Listener, serve as listen } from '../http/serve.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import { conflict } from '../platform/errors.ts'
import { nameInstallation } from '../platform/installation.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createOutbound } from '../platform/outbound/index.ts'
import { createPlatform, type Platform } from '../platform/platform.ts'
import { thisProcess } from '../platform/process.ts'
import { createSealing } from '../platform/sealing/index.ts'
import { openKeyRing } from '../platform/sealing/open-key-ring.ts'
import { VERSION } from '../platform/version.ts'
import { type Command, type Configured, EXIT, type ExitCode, type Io } from './command.ts'
import { firstSteps } from './first-steps.ts'
import { migrateConfigured, openConfigured } from './open.ts'
import { sentenceOnListening } from './sentences.ts'

/** What is under way at SIGTERM has this long to end by itself. */
const GRACE_MS = 25_000
/** And this long more once it has been cut short, before the process gives up on it. */
const LAST_WORDS_MS = 3000
/** Counts of requests get this long: somebody else may be writing, or the disk be full. */
const USAGE_GRACE_MS = 8000

export const serve: Command = {
  name: 'serve',
  summary: 'Serve the API and run due work; the default.',
  options: {
    paused: {
      type: 'boolean',
      help: 'Fire, deliver and send nothing: to look at a restored backup.',
    },
  },
  run: serveUntilStopped,
}

async function serveUntilStopped({ config, loaded, io, options }: Configured): Promise<ExitCode> {
  const isPaused = options.paused === true
  const log = logFor(config, io)
  const db = openConfigured(config)
  const applied = migrateConfigured(config, db)
  if (applied.length > 0) log.info('migrated', { steps: applied.length, to: applied.at(-1) })
  const { dataDir } = config
  const keyRing = await openKeyRing({ db, clock: systemClock, dataDir })
  await nameInstallation({ db, clock: systemClock })
  const platform = createPlatform({
    db,
    clock: systemClock,
    log,
    outbound: createOutbound({
      clock: systemClock,
      allow: [...config.outbound.allow],
      timeoutMs: config.outbound.timeoutMs,
      maxResponseBytes: config.outbound.maxResponseBytes,
    }),
    sealing: createSealing(keyRing),
    keyPrefix: config.brand.prefix,
    metering: config.metering,
    process: thisProcess(VERSION),
  })
  const setUpToken = await setUpTokenIn(platform)
  const origins = loaded.ok ? { origins: loaded.origin } : {}
  const gatehouse = createApp(platform, config, { precompile: true, ...origins })
  const listener = listening(() => listen(gatehouse.app, config.server, log), config)
  try {
    await gatehouse.start({ isPaused })
  } catch (error) {
    await listener.stop()
    db.close()
    throw error
  }
  const stopSignal = nextSignal()
  log.info('listening', { url: listener.url, dataDir, version: VERSION })
  if (isPaused)
    log.warn('paused: jobs, deliveries, mails and bots wait for a start without --paused')
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

  /** New connections are answered until the last lease is given back. Tells what was not stored. */
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

/** For the link by which somebody becomes the first operator; undefined once somebody has. */
async function setUpTokenIn({ db, clock, audit }: Platform): Promise<string | undefined> {
  const store = createOperatorStore(db)
  return store.hasAdmin() ? undefined : createLinks({ db, clock, audit, store }).issueSetUp()
}

function logFor({ log }: Config, io: Io): Log {
  const format = log.format === 'auto' ? (io.isOutTerminal ? 'text' : 'json') : log.format
  // A disk that is full behind the log must not bring down what serves.
  const write = (line: string) => void Promise.resolve(io.out(`${line}\n`)).catch(() => {})
  return createLog({ level: log.level, format, now: systemClock.now, write })
}

/** The leases of what is left run out, and whoever runs next takes it over. */
function abandon(log: Log) {
  log.error('gave up waiting for work under way')
  process.exit(EXIT.failure)
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

const nextSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, resolve)
  })

/** Somebody who asks twice does not want to wait. */
function exitOnSecondSignal() {
  for (const signal of SIGNALS) process.once(signal, () => process.exit(EXIT.failure))
}
