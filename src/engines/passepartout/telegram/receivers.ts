import type { Db } from '../../../db/open.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Instances } from '../../../platform/instances.ts'
import type { Log } from '../../../platform/log.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import type { Receiver } from './receiver.ts'

/** Maximum delay until changes by other processes are noticed, in milliseconds. */
const CHECK_INTERVAL_MS = 1000

interface Running {
  revision: number
  receiver: Receiver
}

/** One receiver per bot, as Telegram requires. Leases last while `instances` has their owners. */
export function createReceivers(parts: {
  db: Db
  clock: Clock
  log: Log
  instances: Instances
  store: Store
  receiverFor: (bot: BotRow) => Receiver
}) {
  const { db, clock, log, instances, store, receiverFor } = parts
  const running = new Map<string, Running>()
  let version = ''
  let isStopped = false
  let isBusy = false
  let checkAgain = false
  let failing = false
  let cancel = () => {}

  function start() {
    instances.onDeath(check)
    check()
    checkLater()
  }

  function checkLater() {
    cancel = clock.after(CHECK_INTERVAL_MS, () => {
      if (db.version() !== version) check()
      checkLater()
    })
  }

  /** Starts missing receivers and stops unneeded ones. */
  function check() {
    checkAgain = true
    if (!isBusy) void keepChecking()
  }

  async function keepChecking() {
    isBusy = true
    while (checkAgain && !isStopped) {
      checkAgain = false
      try {
        version = db.version()
        await fit(store.bots.receiving())
        failing = false
      } catch (error) {
        onFailure(error)
      }
    }
    isBusy = false
  }

  /** Retried on the next check, and logged once, because the log may be on the same disk. */
  function onFailure(error: unknown) {
    version = ''
    if (!failing) log.error('bot supervision failed', { error: String(error) })
    failing = true
  }

  async function fit(wanted: BotRow[]) {
    const isWanted = ([id, { revision }]: [string, Running]) =>
      wanted.some((bot) => bot.id === id && bot.revision === revision && isOurs(bot))
    await Promise.all([...running].filter((entry) => !isWanted(entry)).map(end))
    for (const bot of wanted) if (!running.has(bot.id)) await begin(bot)
  }

  const isOurs = ({ leaseOwner }: BotRow): boolean => leaseOwner === instances.self

  async function begin(bot: BotRow) {
    const has =
      isOurs(bot) ||
      (await db.commitFor(bot.tenantId, () =>
        store.bots.lease(bot.id, instances.self, instances.alive()),
      ))
    if (!has || isStopped) return
    running.set(bot.id, { revision: bot.revision, receiver: receiverFor(bot) })
  }

  async function end([id, { receiver }]: [string, Running]) {
    running.delete(id)
    await receiver.stop()
  }

  /** Releases all bots, so that another process takes over immediately. */
  async function stop() {
    isStopped = true
    cancel()
    await Promise.all([...running].map(release))
  }

  /** A receiver that is slow to stop does not delay the release of others. */
  async function release(entry: [string, Running]) {
    await end(entry)
    await db.commit(() => store.bots.release(entry[0], instances.self)).catch(() => {})
  }

  const count = () => [...running.values()].filter(({ receiver }) => !receiver.isOver()).length

  return { start, check, stop, count }
}
