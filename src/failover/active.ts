import { mkdirSync } from 'node:fs'
import { messageOf } from '../db/errors.ts'
import { databaseFile, openDatabase } from '../db/open.ts'
import { markOf, schemaIn } from './data-directory.ts'
import { startReplicator } from './replicator.ts'
import { type Data, takeOver } from './takeover.ts'
import { holdLease, NEWEST_SCHEMA } from './tenure.ts'
import type { Ending, Turn, TurnParts } from './turn.ts'
import { startUpkeep } from './upkeep.ts'

/** Serves as the active server, until another one is to take over or has done so. */
export async function serveAsActive(parts: TurnParts, turn: Turn): Promise<Ending> {
  const { folder, fence, log, state, dataDir } = parts
  const { taken, before, from } = turn
  const { generation, cause } = taken.lease
  const tenure = holdLease({ store: folder.leases, fence, log, taken })
  log.info('this server becomes active', { generation, cause, after: before?.lease.server.name })
  let isOver = false
  const over = Promise.race([
    tenure.lost.then((): Ending => 'lost'),
    tenure.handover.then((): Ending => {
      log.info('asked to step down', { by: tenure.lease().handover?.by })
      return 'released'
    }),
    parts.stopAsked.then((): Ending => 'stopped'),
  ]).finally(() => {
    isOver = true
  })
  const data = await dataOfTurn()
  if (typeof data === 'string') {
    if (data !== 'lost') await tenure.release()
    return data
  }
  const replicator = startReplicator({
    ...{ litestream: parts.litestream, path: data.path, database: databaseFile(dataDir), log },
  })
  const early = await announceSchema()
  if (early) return early === 'lost' ? replicator.kill().then(() => early) : giveUp(early, data)
  const serving = parts.startServing(generation)
  const upkeep = startUpkeep(parts, { tenure, replicator, serving, data })
  const failed = serving.isUp.then((isUp) => (isUp ? over : ('failed' as const)))
  const ending = await Promise.race([over, failed])
  return ending === 'lost' ? endAtOnce() : endInOrder(ending, data)

  /** Or how the turn ends without any. */
  async function dataOfTurn(): Promise<Data | Ending> {
    try {
      const data = from === 'own' ? ownData() : await takeOver(parts, turn, () => !isOver)
      if (data) return data
      if (isOver) return await over
      log.error('the copy cannot be completed: it is made again, and another server can take over')
      return 'released'
    } catch (error) {
      log.error('this server cannot take over', { reason: messageOf(error) })
      return 'failed'
    }
  }

  function ownData(): Data {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    openDatabase({ dataDir, synchronous: 'full', externalCheckpoint: true }).close()
    state.change({ generation, isReleased: false })
    return { path: taken.lease.path, bases: taken.lease.bases }
  }

  /**
   * Says that the database will be migrated, because a server with an older version must not take
   * over after that. Returns how the turn ends if it does before.
   */
  async function announceSchema(): Promise<Ending | undefined> {
    if (tenure.lease().schema === NEWEST_SCHEMA) return undefined
    const announced = tenure.update({ schema: NEWEST_SCHEMA }).then(() => undefined)
    return Promise.race([announced, over])
  }

  /**
   * All that was acknowledged is on the new path, also if the lease does not name that yet. The
   * database may not have been migrated.
   */
  async function release(data: Data) {
    if (tenure.lease().path !== data.path) tenure.note(data)
    tenure.note({ schema: schemaIn(dataDir) ?? tenure.lease().schema })
    if (await tenure.release())
      state.change({ generation, isReleased: true, releasedMark: markOf(dataDir) })
  }

  async function endAtOnce(): Promise<Ending> {
    upkeep.stop()
    await Promise.all([serving.destroy(), replicator.kill()])
    return 'lost'
  }

  async function endInOrder(ending: Ending, data: Data): Promise<Ending> {
    // Standbys look more often from now on.
    void tenure.update({ state: 'ending' })
    const isClean = await Promise.race([serving.stop(), tenure.lost.then(() => undefined)])
    if (isClean === undefined) return endAtOnce()
    upkeep.stop()
    return giveUp(isClean ? ending : 'failed', data)
  }

  /** A lease that is neither renewed nor given up expires. */
  async function giveUp(ending: Ending, data: Data): Promise<Ending> {
    if (await replicator.stop()) await release(data)
    else await tenure.abandon()
    return ending
  }
}
