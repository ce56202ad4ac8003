import { join } from 'node:path'
import type { Config } from '../config/index.ts'
import { messageOf } from '../db/errors.ts'
import { databaseFile } from '../db/open.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import type { Fence } from '../platform/fence.ts'
import type { Log } from '../platform/log.ts'
import { openSharedFolder } from '../platform/replication/pair.ts'
import { serveAsActive } from './active.ts'
import { openServerState, pairFolder } from './data-directory.ts'
import type { DoorParts } from './door.ts'
import { createLitestream } from './litestream.ts'
import { createStandbyMetrics } from './metrics.ts'
import { createStandby } from './standby.ts'
import type { Ending, Keys, Serving, Turn } from './turn.ts'
import { createWarmCopy } from './warm-copy.ts'

/** The longest time between two looks at the lease, and the time while it changes hands. */
const LOOK_MS = 1000
const URGENT_LOOK_MS = 50
/** Looks per time to live, at least. */
const LOOKS = 10

/** What answers on the port of a standby. */
export interface Door {
  close: () => Promise<void> | void
}

/**
 * One of several servers that share a folder in object storage. It is the active one, or follows that
 * and takes over.
 */
export function createNode(parts: {
  config: Config
  /** The name of this server. */
  name: string
  env: Readonly<Record<string, string | undefined>>
  fence: Fence
  keys: Keys
  log: Log
  waits: boolean
  openDoor: (door: DoorParts) => Door
  startServing: (generation: number, socket: string) => Serving
  stopAsked: Promise<void>
}) {
  const { config, name, env, fence, keys, log, waits, openDoor, startServing, stopAsked } = parts
  const { dataDir, replication, s3 } = config
  const folder = openSharedFolder(config)
  const state = openServerState(dataDir)
  const litestream = createLitestream({
    program: replication.litestream,
    folder: pairFolder(dataDir),
    database: databaseFile(dataDir),
    ...{ storage: s3, to: folder.to, env, log },
  })
  const copy = createWarmCopy({ litestream, folder: join(pairFolder(dataDir), 'copy'), log })
  const standby = createStandby({
    me: { id: state.get().id, name },
    ...{
      ttlMs: replication.ttlMs,
      acknowledge: acknowledgeOf(replication),
      dataDir,
      folder,
      keys,
      state,
      copy,
      log,
      waits,
    },
  })
  const metrics = config.metrics.enabled ? createStandbyMetrics(standby) : undefined
  let isStopping = false
  let problem: string | undefined
  void stopAsked.then(() => {
    isStopping = true
  })

  /** Runs until it has to end. Returns whether all went well. */
  async function run(): Promise<boolean> {
    litestream.killAll()
    while (!isStopping) {
      const ending = await takeTurn()
      if (ending === 'failed') return false
      fence.close()
    }
    await copy.end()
    return true
  }

  /** Stands by until it becomes active, and then until that ends. */
  async function takeTurn(): Promise<Ending> {
    const door = openDoor({ active: () => standby.lease()?.server.name, metrics })
    standby.begin()
    try {
      const turn = await waitForTurn()
      if (!turn) return 'stopped'
      const startOnPort = (generation: number) => {
        void door.close()
        return startServing(generation, litestream.socket)
      }
      const ending = await serveAsActive(
        {
          dataDir,
          folder,
          keys,
          state,
          copy,
          litestream,
          fence,
          log,
          stopAsked,
          startServing: startOnPort,
        },
        turn,
      )
      if (ending === 'released') standby.yield(turn.taken.lease.nonce)
      log.info('this server is no longer active', { reason: ending })
      return ending
    } finally {
      await door.close()
    }
  }

  async function waitForTurn(): Promise<Turn | undefined> {
    log.info('standing by', { to: folder.to })
    while (!isStopping) {
      const turn = await look()
      if (turn) return turn
      const looks = Math.min(LOOK_MS, replication.ttlMs / LOOKS)
      await Promise.race([
        sleep(systemClock, standby.isUrgent() ? URGENT_LOOK_MS : looks),
        stopAsked,
      ])
    }
    return undefined
  }

  async function look(): Promise<Turn | undefined> {
    try {
      const turn = await standby.look()
      if (problem !== undefined) log.info('the lease can be read again')
      problem = undefined
      return turn
    } catch (error) {
      const reason = messageOf(error)
      if (reason !== problem) log.warn('this standby cannot do its work', { reason })
      problem = reason
      return undefined
    }
  }

  return { run, standby, killLitestream: litestream.killAll }
}

/** What is acknowledged without the replica, as `on_timeout` can allow, can be lost as with `local`. */
const acknowledgeOf = ({ acknowledge, onTimeout }: Config['replication']) =>
  onTimeout === 'acknowledge' ? 'local' : acknowledge
