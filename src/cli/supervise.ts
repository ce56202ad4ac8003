import { type Config, formatErrors } from '../config/index.ts'
import { localUrl } from '../http/urls.ts'
import { systemClock } from '../platform/clock.ts'
import { conflict } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { processCount } from '../platform/process.ts'
import { VERSION } from '../platform/version.ts'
import { createSupervisor, type Plan } from '../supervisor/index.ts'
import { createSharedMemory } from '../supervisor/memory.ts'
import { freePort } from '../supervisor/port.ts'
import { type Configured, EXIT, type ExitCode } from './command.ts'
import { flagsAmong, loadChecked } from './load.ts'
import { logFor } from './log.ts'
import { listening, sentenceOf } from './sentences.ts'
import { GRACE_MS, LAST_WORDS_MS } from './stopping.ts'

/** How much longer than its own deadline a process may take before it is killed. */
const MARGIN_MS = 2000

type Supervisor = ReturnType<typeof createSupervisor>

/** Serves by several processes until a signal. SIGHUP replaces them one after the other. */
export async function supervise(invocation: Configured): Promise<ExitCode> {
  const { config, io } = invocation
  if (process.platform !== 'linux') throw conflict(LINUX_ONLY)
  const log = logFor(config, io)
  const plan = planOf(
    config,
    listening(() => freePort(config.server), config.server),
  )
  const memoryFd = createSharedMemory(config.dataDir)
  const { env, cwd } = io
  const launch = { args: process.argv.slice(2), env, cwd, memoryFd }
  const supervisor = createSupervisor({ log, clock: systemClock, launch, plan })
  const stopped = untilSignal(supervisor, log)
  const reloading = createReloading(invocation, log)
  const isUp = await Promise.race([supervisor.start(), stopped])
  if (isUp === false && !supervisor.isStopping()) {
    await supervisor.stop()
    return EXIT.failure
  }
  if (isUp === true) {
    const url = localUrl({ ...config.server, port: plan.port })
    log.info('listening', { url, dataDir: config.dataDir, version: VERSION, processes: plan.count })
    reloading.use(supervisor, plan)
  }
  return (await stopped).isClean ? EXIT.ok : EXIT.failure
}

const LINUX_ONLY =
  'several processes can share a port only on Linux. Set [server] processes = 1 on this system'

/** How the processes of a server run on a port. */
export const planOf = (config: Config, port: number): Plan => ({
  count: processCount(config.server.processes),
  port,
  stopMs: config.server.drainMs + GRACE_MS + LAST_WORDS_MS + MARGIN_MS,
})

/** Ends all processes at a signal, and immediately at a second one. */
function untilSignal(supervisor: Supervisor, log: Log): Promise<{ isClean: boolean }> {
  const { promise, resolve } = Promise.withResolvers<{ isClean: boolean }>()
  let isSecond = false
  const stop = async (signal: NodeJS.Signals) => {
    if (isSecond) return supervisor.kill()
    isSecond = true
    log.info('stopping', { signal })
    const isClean = await supervisor.stop()
    log.info('stopped')
    resolve({ isClean })
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
  return promise
}

export type Reloading = ReturnType<typeof createReloading>

/** Reloads at each SIGHUP, once there are processes. A signal during a reload is carried out after it. */
export function createReloading({ config, options, io }: Configured, log: Log) {
  const { env, cwd } = io
  let current: { supervisor: Supervisor; server: Config['server']; plan: Plan } | undefined
  let reloading = Promise.resolve()

  async function reload() {
    if (!current || current.supervisor.isStopping())
      return log.warn('not reloaded: this server is not serving')
    const { supervisor, server: before, plan } = current
    const loaded = loadChecked({ flags: flagsAmong(options), env, cwd })
    if (!loaded.ok)
      return log.error('not reloaded: the configuration is invalid', {
        errors: formatErrors(loaded.errors).trimEnd(),
      })
    const { server } = loaded.config
    const isSamePlace = server.host === before.host && server.port === before.port
    const next = planOf(loaded.config, isSamePlace ? plan.port : freePort(server))
    log.info('reloading', { processes: next.count })
    const isReloaded = await supervisor.reload(next)
    if (supervisor.isStopping()) return
    if (!isReloaded)
      return log.error('not reloaded: a new process did not start; the old ones go on')
    current = { supervisor, server, plan: next }
    log.info('reloaded', { processes: next.count })
  }

  process.on('SIGHUP', () => {
    reloading = reloading
      .then(reload)
      .catch((error) => log.error('not reloaded', { error: sentenceOf(error) }))
  })

  return {
    /** From now on, reloads the processes of this supervisor. */
    use(supervisor: Supervisor, plan: Plan) {
      current = { supervisor, server: config.server, plan }
    },
  }
}
