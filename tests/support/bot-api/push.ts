import { setTimeout as pause } from 'node:timers/promises'
import type { Bell } from './bell.ts'
import type { Queue } from './queue.ts'
import { type Update, unixNow } from './wire.ts'

const PAUSES_MS = [20, 50, 100, 200, 400, 800, 1_600, 1_600]
const PATIENCE_MS = 10_000
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'

export interface Webhook {
  /** As it was set. */
  url: string
  secret: string | undefined
  /** Where its updates go; undefined for those of others, which get none. */
  goesTo: string | undefined
  lastError?: { date: number; message: string }
}

export type Push = ReturnType<typeof newPush>

/** Sends the updates of a bot to its webhook, each again until it was taken. */
export function newPush(queue: Queue, bell: Bell, closing: AbortSignal) {
  const underWay = new Set<Update>()
  let webhook: Webhook | undefined
  let atOnce = 1

  function look() {
    while (webhook?.goesTo && !closing.aborted && underWay.size < atOnce) {
      const update = queue.nextBeside(underWay)
      if (!update) return
      underWay.add(update)
      void deliver(update, webhook, webhook.goesTo).then(() => {
        underWay.delete(update)
        bell.ring()
        look()
      })
    }
  }

  /** Gives up in the end; what was not taken before another webhook was set stays for that one. */
  async function deliver(update: Update, to: Webhook, address: string) {
    for (const pauseMs of PAUSES_MS) {
      const error = await post(update, to, address)
      if (error === undefined) return queue.settle(update)
      to.lastError = { date: unixNow(), message: error }
      bell.ring()
      await pause(pauseMs, undefined, { signal: closing }).catch(() => {})
      if (webhook !== to || closing.aborted) return
    }
    queue.settle(update)
  }

  async function post(update: Update, { secret }: Webhook, address: string) {
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(secret !== undefined && { [SECRET_HEADER]: secret }),
        },
        body: JSON.stringify(update),
        redirect: 'manual',
        signal: AbortSignal.any([closing, AbortSignal.timeout(PATIENCE_MS)]),
      })
      await response.body?.cancel()
      if (response.ok) return undefined
      return `Wrong response from the webhook: ${response.status} ${response.statusText}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  return {
    webhook: () => webhook,

    set: (next: Webhook | undefined) => {
      webhook = next
      look()
    },

    /** How many updates are under way at the same time. */
    atOnce: (count: number) => {
      atOnce = count
      look()
    },

    /** There may be something new. */
    look,
  }
}
