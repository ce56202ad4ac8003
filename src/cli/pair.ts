import { hostname } from 'node:os'
import type { Config } from '../config/index.ts'
import { openDoor } from '../failover/door.ts'
import { requireLitestream } from '../failover/litestream.ts'
import { lockDataDirectory } from '../failover/lock.ts'
import { createNode } from '../failover/node.ts'
import type { Serving } from '../failover/turn.ts'
import { localUrl } from '../http/urls.ts'
import { systemClock } from '../platform/clock.ts'
import { conflict } from '../platform/errors.ts'
import { fenceIn } from '../platform/shared-memory.ts'
import { VERSION } from '../platform/version.ts'
import { createSupervisor } from '../supervisor/index.ts'
import { bytesOf, createSharedMemory } from '../supervisor/memory.ts'
import { freePort } from '../supervisor/port.ts'
import { type Configured, EXIT, type ExitCode } from './command.ts'
import { logFor } from './log.ts'
import { keysOf } from './replication/keys.ts'
import { listening } from './sentences.ts'
import { createReloading, planOf } from './supervise.ts'

/** The name of this server for people. */
export const serverName = ({ replication }: Pick<Config, 'replication'>): string =>
  replication.server ?? hostname()

/** Serves as one of several servers that share a folder in object storage, until a signal. */
export async function serveInPair(invocation: Configured): Promise<ExitCode> {
  const { config, io, options } = invocation
  if (process.platform !== 'linux')
    throw conflict('servers can take over from each other only on Linux')
  if (config.replication.to === undefined)
    throw conflict('--standby needs [replication] role = "auto" and to, the folder of the servers')
  requireLitestream(config.replication.litestream)
  const name = serverName(config)
  const log = logFor(config, io, { server: name })
  const port = listening(() => freePort(config.server), config.server)
  using _lock = lockDataDirectory(config.dataDir)
  const memoryFd = createSharedMemory(config.dataDir)
  const fence = fenceIn({ bytes: bytesOf(memoryFd) })
  const reloading = createReloading(invocation, log)
  const stopAsked = Promise.withResolvers<void>()
  let killProcesses = () => {}
  let signals = 0
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (signals++ > 0) return kill()
      log.info('stopping', { signal })
      stopAsked.resolve()
    })
  const node = createNode({
    ...{ config, name, fence, log, stopAsked: stopAsked.promise },
    env: io.env,
    waits: options.standby === true,
    keys: keysOf(invocation),
    openDoor: (door) =>
      listening(() => openDoor({ host: config.server.host, port }, door), config.server),
    startServing,
  })
  // After an error, it would go on without a server.
  const isClean = await node.run().finally(node.killLitestream)
  log.info('stopped')
  return isClean ? EXIT.ok : EXIT.failure

  function kill() {
    killProcesses()
    node.killLitestream()
    process.exit(EXIT.failure)
  }

  function startServing(generation: number, socket: string): Serving {
    const plan = planOf(config, port)
    const env = { ...io.env, GATEHOUSE_REPLICATION_SOCKET: socket }
    const args = process.argv.slice(2).filter((arg) => arg !== '--standby')
    const launch = { args, env, cwd: io.cwd, memoryFd, generation }
    const supervisor = createSupervisor({ log, clock: systemClock, launch, plan })
    killProcesses = supervisor.kill
    const isUp = supervisor.start()
    void isUp.then((isServing) => {
      if (!isServing) return
      const url = localUrl({ ...config.server, port })
      log.info('listening', { url, dataDir: config.dataDir, version: VERSION, generation })
      reloading.use(supervisor, plan)
    })
    return {
      isUp,
      stop: () => supervisor.stop({ isAwaited: true }),
      destroy: () => supervisor.destroy(),
      tell: (state) => supervisor.tellOfPair(state),
    }
  }
}
